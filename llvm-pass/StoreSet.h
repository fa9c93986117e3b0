// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which memory outside of its workgroup a kernel can write: what its pointer arguments point into, and variables. Kernel
// replay saves that where it is known, and all memory where it is not (docs/replay.md).
#ifndef WAVESAN_PASS_STORESET_H
#define WAVESAN_PASS_STORESET_H

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace llvm {
class Function;
class IntrinsicInst;
} // namespace llvm

namespace wavesan {

struct StoreSet {
  bool Known = true; ///< false: it may write memory that is not below
  /// A pointer in the kernel's arguments: the argument's number, and the pointer's byte offset in it.
  std::set<std::pair<uint32_t, uint32_t>> Arguments;
  std::set<std::string> Variables; ///< linkage names
};

/// Of a twin, before its hooks. A pointer is taken to be used within the object that it points into, as the language
/// has it. Functions that it still calls, and that may write, make the set unknown; so does inline assembly.
StoreSet storeSetOf(const llvm::Function &Twin);

/// An intrinsic that says of itself that it may write, or nothing, and that writes nothing outside of the workgroup.
bool writesNothingShared(const llvm::IntrinsicInst &I);

} // namespace wavesan

#endif // WAVESAN_PASS_STORESET_H
