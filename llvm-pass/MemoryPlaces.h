// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which memory an address names, as far as the IR tells, and what its author calls it.
#ifndef WAVESAN_PASS_MEMORYPLACES_H
#define WAVESAN_PASS_MEMORYPLACES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <string>

namespace llvm {
class Argument;
class Function;
class GlobalVariable;
class Value;
} // namespace llvm

namespace wavesan {

/// Bytes [Offset, Offset + Size) from an address. Offsets may be negative, in two's complement.
struct ByteRun {
  uint64_t Offset, Size;
};

enum class Region {
  Lds,
  Global,
  Generic,  ///< decided at run time: LDS, global or private
  Constant, ///< never written while a kernel runs
  Private,  ///< of one lane
  Buffer,   ///< through buffer resources
  Other,
};

struct Place {
  Region Where;
  std::string Name = {};                  ///< source name of the variable or kernel argument; empty when unknown
  llvm::Value *VariableAddress = nullptr; ///< of the one LDS variable that it can be: the variable or an argument
};

/// `LdsArguments` of TwinFunction: arguments that are the addresses of LDS variables.
using LdsArgumentList = llvm::ArrayRef<std::pair<llvm::Argument *, llvm::GlobalVariable *>>;

/// Answers for one function; its arguments' names are collected once.
class MemoryPlaces {
public:
  MemoryPlaces(const llvm::Function &F, LdsArgumentList LdsArguments);

  Place of(const llvm::Value *Pointer) const;

  /// Of an address that may be an integer, which says nothing about its address space: then the pointer it was made
  /// from, or Generic without a name.
  Place ofAddress(const llvm::Value *Address) const;

private:
  const llvm::GlobalVariable *variableOf(const llvm::Value *Object) const;
  std::string nameOf(const llvm::Value *Object) const;

  LdsArgumentList LdsArguments;
  llvm::DenseMap<const llvm::Argument *, std::string> ArgumentNames;
};

} // namespace wavesan

#endif // WAVESAN_PASS_MEMORYPLACES_H
