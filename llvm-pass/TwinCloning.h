// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clones a kernel into its twin, with everything it calls inside.
//
// The original is never changed: callees are inlined from their original bodies into the twin, whatever their inlining
// attributes say; functions that call themselves get instrumented clones (`f.wavesan`) with the wave's state and the
// LDS variables they reach (LdsVariables.h) as extra last arguments.
#ifndef WAVESAN_PASS_TWINCLONING_H
#define WAVESAN_PASS_TWINCLONING_H

#include "CallGraphFacts.h"

#include "llvm/ADT/MapVector.h"

namespace llvm {
class Argument;
class GlobalVariable;
class Value;
} // namespace llvm

namespace wavesan {

/// What happens to the LDS variables of a module.
struct LdsPlan {
  /// Not cloned, because code that twins and originals share may reach them (functions called through pointers, runtime
  /// services): both must see the same memory.
  llvm::SetVector<llvm::GlobalVariable *> Shared;
  /// Passed to recursive clones as arguments, in this order.
  llvm::SetVector<llvm::GlobalVariable *> Passed;
};

/// A function that the pass created and instruments: a twin, or the clone of a recursive function.
struct TwinFunction {
  llvm::Function *Original = nullptr;
  llvm::Function *Clone = nullptr;
  llvm::Value *State = nullptr;   ///< ptr addrspace(5): the twin's alloca, or an argument of a recursive clone
  llvm::Value *Context = nullptr; ///< twins: the extra kernel argument; null in recursive clones
  /// Recursive clones: the LDS variable whose address each extra argument is.
  llvm::SmallVector<std::pair<llvm::Argument *, llvm::GlobalVariable *>, 2> LdsArguments;
  bool Inlined = false; ///< a call was inlined, so that addresses may have become known
};

struct TwinSet {
  llvm::SmallVector<TwinFunction, 8> Twins;                        ///< one per kernel, in the order of the kernels
  llvm::MapVector<llvm::Function *, TwinFunction> RecursiveClones; ///< by original
};

/// Clones all kernels of `Facts`. LDS variables are still the originals' afterwards. Fails with one line that names the
/// kernel.
llvm::Expected<TwinSet> cloneTwins(llvm::Module &M, const CallGraphFacts &Facts, const LdsPlan &Plan);

} // namespace wavesan

#endif // WAVESAN_PASS_TWINCLONING_H
