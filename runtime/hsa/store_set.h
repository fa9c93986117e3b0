// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that a dispatch can write, from what the pass has found out about its kernel.
#ifndef WAVESAN_HSA_STORE_SET_H
#define WAVESAN_HSA_STORE_SET_H

#include "memory_map.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// What a kernel's stores can reach.
struct KernelStore {
  std::optional<uint32_t> pointer; ///< where in the kernel arguments a pointer lies into whose memory it writes
  std::string variable;            ///< or the name of a variable, demangled
};

/// Those of `live` that a kernel with these stores and arguments can write. Nothing: that is not known, because a
/// pointer points nowhere or a variable lies nowhere that is known. `arguments`: the kernel argument block of `bytes`
/// bytes.
///
/// A pointer may stand at the end of its object, or in front of it, and be used backwards or with indices from 1: what
/// lies within kStoreMargin of it counts too.
inline constexpr uint64_t kStoreMargin = 4096;
std::optional<std::vector<MemoryMap::LiveRange>> writableRanges(const std::vector<MemoryMap::LiveRange> &live,
                                                                const std::vector<KernelStore> &stores,
                                                                const uint8_t *arguments, uint64_t bytes);

/// The pointers of these stores that are near none of `live`, null pointers apart.
std::vector<uint64_t> strayPointers(const std::vector<MemoryMap::LiveRange> &live,
                                    const std::vector<KernelStore> &stores, const uint8_t *arguments, uint64_t bytes);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_STORE_SET_H
