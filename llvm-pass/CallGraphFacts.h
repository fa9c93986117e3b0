// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collect: the kernels of a device module and what the pass must know about the functions they call.
#ifndef WAVESAN_PASS_CALLGRAPHFACTS_H
#define WAVESAN_PASS_CALLGRAPHFACTS_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace llvm {
class CallBase;
class Function;
class Module;
} // namespace llvm

namespace wavesan {

struct CallGraphFacts {
  llvm::SmallVector<llvm::Function *, 8> Kernels; ///< definitions, in module order
  llvm::DenseSet<llvm::Function *> Recursive;     ///< functions reachable from kernels that reach themselves
};

/// The function that a call names, through aliases and casts; null for indirect calls and inline asm.
llvm::Function *directCallee(const llvm::CallBase &Call);

/// Functions of the device libraries that talk to the host (hostcall, device malloc). Twins call them as the original
/// does: they touch no LDS, and the CPU agent recognises them by name.
bool isRuntimeService(const llvm::Function &F);
/// Device malloc and free: the block is the result, or the only argument.
bool isHeapAllocation(const llvm::Function &F);
bool isHeapRelease(const llvm::Function &F);

/// All functions reachable from `Roots` by direct calls, the roots included.
llvm::SetVector<llvm::Function *> reachableFrom(llvm::ArrayRef<llvm::Function *> Roots);

/// Fails with one line when a kernel calls a function that the module does not define (-fgpu-rdc).
llvm::Expected<CallGraphFacts> collectCallGraphFacts(llvm::Module &M);

} // namespace wavesan

#endif // WAVESAN_PASS_CALLGRAPHFACTS_H
