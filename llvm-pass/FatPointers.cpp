// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "FatPointers.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

bool isFatPointer(const Type *T) {
  auto *P = dyn_cast<PointerType>(T->getScalarType());
  return P && (P->getAddressSpace() == 7 || P->getAddressSpace() == 9);
}

bool hasFatPointers(Module &M) {
  for (Function &F : M) {
    if (any_of(F.args(), [](const Argument &A) { return isFatPointer(A.getType()); }))
      return true;
    for (Instruction &I : instructions(F))
      if (isFatPointer(I.getType()) || any_of(I.operands(), [](const Use &U) { return isFatPointer(U->getType()); }))
        return true;
  }
  return false;
}

class FatPointerLowering : public PassInfoMixin<FatPointerLowering> {
public:
  explicit FatPointerLowering(ModulePassManager Lower) : Lower(std::move(Lower)) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &Analyses) {
    return hasFatPointers(M) ? Lower.run(M, Analyses) : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

private:
  ModulePassManager Lower;
};

} // namespace

void wavesan::addFatPointerLowering(PassBuilder &Builder, ModulePassManager &Passes) {
  ModulePassManager Lower;
  if (Error E = Builder.parsePassPipeline(Lower, "amdgpu-lower-buffer-fat-pointers"))
    consumeError(std::move(E));
  else
    Passes.addPass(FatPointerLowering(std::move(Lower)));
}
