// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass: collect, choose, instrument.
//
// Ground rules
// - The originals stay: their machine code equals a build without the plugin. Everything happens in clones.
// - "Built, but not instrumented" never happens silently: whatever keeps a kernel from being instrumented is an error
//   diagnostic, so that the compiler fails.
// - A site that is not checked is counted with its reason. Redundant checks are removed only where an earlier one says
//   everything that they could (CoveredAccesses.h).
#ifndef WAVESAN_PASS_WAVESANPASS_H
#define WAVESAN_PASS_WAVESANPASS_H

#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"

namespace wavesan {

class WaveSanPass : public llvm::PassInfoMixin<WaveSanPass> {
public:
  enum class Stop {
    AtEnd,
    BeforeRuntime, ///< the hooks stay calls of undefined functions; for tests
  };
  explicit WaveSanPass(Stop Where = Stop::AtEnd, bool LinkTimeOptimisation = false)
      : Where(Where), LinkTimeOptimisation(LinkTimeOptimisation) {}

  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &Analyses);
  static bool isRequired() { return true; }

private:
  llvm::Error instrument(llvm::Module &M, llvm::ModuleAnalysisManager &Analyses);

  Stop Where;
  bool LinkTimeOptimisation;
};

} // namespace wavesan

#endif // WAVESAN_PASS_WAVESANPASS_H
