// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of the source, as line ranges.
//
// A report says where a barrier is missing, and that depends on whether both accesses lie in one loop. The twins are
// made after the optimiser, which has unrolled, peeled and merged loops by then: the source's loops are remembered
// before it.
#ifndef WAVESAN_PASS_SOURCELOOPS_H
#define WAVESAN_PASS_SOURCELOOPS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/PassManager.h"

#include <cstdint>

namespace llvm {
class DISubprogram;
} // namespace llvm

namespace wavesan {

/// Notes the loops of every function that has debug info in the module's metadata. Runs before the optimiser.
class RememberLoopsPass : public llvm::PassInfoMixin<RememberLoopsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &Analyses);
  static bool isRequired() { return true; } // -O0 and optnone included
};

/// Calls `Visit` for every remembered loop: the function it belongs to and its first and last line there, both in the
/// function's own file. If nothing was remembered (a pipeline without the pass above), the loops that are there now
/// serve.
void forEachSourceLoop(
    llvm::Module &M, llvm::ModuleAnalysisManager &Analyses,
    llvm::function_ref<void(const llvm::DISubprogram &, uint32_t FirstLine, uint32_t LastLine)> Visit);

} // namespace wavesan

#endif // WAVESAN_PASS_SOURCELOOPS_H
