// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intrinsics that this LLVM no longer has, in code that names them itself.
//
// HIP 5 declares llvm.amdgcn.atomic.inc and .dec by assembly name in its headers. LLVM upgrades such names when it reads
// a file; clang's own output is not read, so that the program would end as an undefined symbol at link time.
#ifndef WAVESAN_PASS_OLDINTRINSICS_H
#define WAVESAN_PASS_OLDINTRINSICS_H

#include "llvm/IR/PassManager.h"

namespace wavesan {

/// Replaces calls of removed intrinsics by what LLVM's own upgrade makes of them, in originals and twins alike. Runs at
/// the beginning of the pipeline.
class UpgradeOldIntrinsicsPass : public llvm::PassInfoMixin<UpgradeOldIntrinsicsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace wavesan

#endif // WAVESAN_PASS_OLDINTRINSICS_H
