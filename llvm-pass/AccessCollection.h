// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choose: which memory accesses of a twin are checked, and why the others are not.
//
// Nothing is skipped silently: every access that may touch memory that lanes share is either an Access or counted under
// a reason. Private memory (address space 5) is not shared and not counted.
#ifndef WAVESAN_PASS_ACCESSCOLLECTION_H
#define WAVESAN_PASS_ACCESSCOLLECTION_H

#include "SiteRecorder.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Alignment.h"

#include <string>
#include <vector>

namespace llvm {
class Argument;
class Function;
class GlobalVariable;
class Instruction;
class Value;
} // namespace llvm

namespace wavesan {

/// Bytes [Offset, Offset + Size) from the access's pointer.
struct ByteRun {
  uint64_t Offset, Size;
};

struct Access {
  llvm::Instruction *I = nullptr;
  llvm::Value *Pointer = nullptr;     ///< address space 3, or 0 when Generic or when it is known to point to LDS
  bool Generic = false;               ///< may or may not be LDS: decided at run time
  uint32_t Bits = 0;                  ///< abi::AccessBits
  llvm::SmallVector<ByteRun, 1> Runs; ///< constant extent; empty when Length is used. Padding is not accessed.
  llvm::Value *Length = nullptr;      ///< extent in bytes known at run time only
  llvm::Align Alignment;
  const llvm::GlobalVariable *Variable = nullptr; ///< LDS variable, where it is the only one possible
  llvm::Value *VariableAddress = nullptr;         ///< its address: the variable, or an argument that holds it
  std::string Opcode;

  /// log2 of the largest cell (at most 4 bytes) that never holds bytes of this access and other bytes.
  unsigned granuleLog2() const;
};

struct AccessChoice {
  std::vector<Access> Accesses; ///< in program order; a memcpy yields two with the same instruction
  SkipCounts Skips;
};

/// `LdsArguments`: arguments of `F` that are the addresses of LDS variables.
AccessChoice chooseAccesses(llvm::Function &F,
                            llvm::ArrayRef<std::pair<llvm::Argument *, llvm::GlobalVariable *>> LdsArguments);

} // namespace wavesan

#endif // WAVESAN_PASS_ACCESSCOLLECTION_H
