// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Per-kernel metadata of a code object: the NT_AMDGPU_METADATA note (MessagePack), code object v3 and later.
#ifndef WAVESAN_HSA_KERNEL_METADATA_H
#define WAVESAN_HSA_KERNEL_METADATA_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::hsa {

struct KernelArg {
  uint32_t offset = 0, size = 0;
  std::string kind; ///< value_kind, e.g. "global_buffer", "by_value", "hidden_block_count_x"
  std::string name; ///< empty unless the compiler was asked for argument names

  bool hidden() const { return kind.compare(0, 7, "hidden_") == 0; }
};

/// What one kernel needs of its dispatch packet.
struct KernelMetadata {
  std::string name;   ///< linkage name
  std::string symbol; ///< of the kernel descriptor: name + ".kd"
  uint32_t kernargBytes = 0;
  uint32_t groupBytes = 0;   ///< static LDS
  uint32_t privateBytes = 0; ///< scratch of one work-item
  uint32_t waveSize = 64;
  std::vector<KernelArg> args; ///< every argument lies inside kernargBytes
};

/// By linkage name.
using MetadataMap = std::map<std::string, KernelMetadata, std::less<>>;

/// Parses the note's descriptor. Hostile input is refused: returns nothing and one line in `error`. Never throws.
std::optional<MetadataMap> parseMetadata(std::string_view messagePack, std::string &error);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_KERNEL_METADATA_H
