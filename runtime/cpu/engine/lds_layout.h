// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a kernel's LDS variables lie in its group segment.
#ifndef WAVESAN_CPU_ENGINE_LDS_LAYOUT_H
#define WAVESAN_CPU_ENGINE_LDS_LAYOUT_H

#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class Function;
class GlobalVariable;
} // namespace llvm

namespace wavesan::cpu::engine {

struct LdsLayout {
  llvm::DenseMap<const llvm::GlobalVariable *, uint32_t> offsets;
  uint32_t staticBytes = 0;
  /// Named barriers by their numbers, from 1 on: "full", "empty[1]". They are variables of LDS in name only.
  std::vector<std::string> namedBarriers;
};

/// Lays out the LDS variables that are reachable from `kernel`: static ones as the backend lays out those of a kernel
/// without calls (AMDGPULowerModuleLDS: alignments raised, LLVM's layout of structures), so that they fit into what the
/// kernel descriptor reserves; dynamic ones (extern arrays) all begin at `fixedBytes`, the size that is reserved. Where
/// they do not fit, with the alignments that the module states; `staticBytes` is larger than `fixedBytes` if not even so.
/// With calls the order may differ from the code object's; nothing in a program may depend on it.
LdsLayout layOutLds(const llvm::Function &kernel, uint32_t fixedBytes);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_LDS_LAYOUT_H
