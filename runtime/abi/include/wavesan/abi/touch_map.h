// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which chunks of the memory of a snapshot the passes of a replay have written, noted by the device runtime
// (runtime/device/touch.h) where nobody else sees what a kernel writes. Freestanding.
//
// Ownership: the host allocates one block near the device for a snapshot and sets it before the first pass; twins of
// kernels with kKernelNotesWrites store ones into the bytes of chunks and change nothing else; the host reads the bytes
// behind each pass. Nothing is cleared in between: a byte that is 1 stays 1.
//
// Block:  TouchMap  regions[regionCount]  bytes
//
// Each region has one byte for each chunk of it, the first for the chunk at its begin: 0, not written; 1, perhaps
// written. Chunks are counted from the region's begin, so the last one may be shorter. The bytes of the regions follow
// one another in their order. Device addresses in 64 bits.
#ifndef WAVESAN_ABI_TOUCH_MAP_H
#define WAVESAN_ABI_TOUCH_MAP_H

#include <stdint.h>

namespace wavesan::abi {

inline constexpr uint32_t kTouchChunkLog2 = 12;
inline constexpr uint64_t kTouchChunk = uint64_t(1) << kTouchChunkLog2;

/// In the order of addresses; no two overlap, none is empty.
struct TouchRegion {
  uint64_t begin, bytes;
  uint64_t chunks; ///< address of its first byte
};
static_assert(sizeof(TouchRegion) == 24);

struct TouchMap {
  uint64_t regions; ///< TouchRegion*
  uint32_t regionCount;
  uint32_t reserved;
};
static_assert(sizeof(TouchMap) == 16);

constexpr uint64_t touchChunks(uint64_t bytes) { return (bytes + kTouchChunk - 1) >> kTouchChunkLog2; }

} // namespace wavesan::abi

#endif // WAVESAN_ABI_TOUCH_MAP_H
