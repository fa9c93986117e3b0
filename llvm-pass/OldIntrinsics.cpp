// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "OldIntrinsics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/AutoUpgrade.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace wavesan;

PreservedAnalyses UpgradeOldIntrinsicsPass::run(Module &M, ModuleAnalysisManager &) {
  if (!Triple(M.getTargetTriple()).isAMDGCN())
    return PreservedAnalyses::all();
  bool Changed = false;
  for (Function &F : make_early_inc_range(M))
    if (F.isDeclaration() && F.getName().starts_with("llvm.") && F.getIntrinsicID() == Intrinsic::not_intrinsic) {
      UpgradeCallsToIntrinsic(&F);
      Changed = true;
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
