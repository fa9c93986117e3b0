// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "LdsVariables.h"

#include "wavesan/abi/hooks.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using namespace wavesan;

static constexpr unsigned kLdsAddressSpace = 3;

/// LDS variables among the operands of `F`, through constant expressions.
static SetVector<GlobalVariable *> ldsVariablesOf(const Function &F) {
  SetVector<GlobalVariable *> Variables;
  SmallPtrSet<const Constant *, 16> Seen;
  SmallVector<const Constant *, 16> Work;
  for (const Instruction &I : instructions(F))
    for (const Use &U : I.operands())
      if (auto *C = dyn_cast<Constant>(U))
        Work.push_back(C);
  while (!Work.empty()) {
    const Constant *C = Work.pop_back_val();
    if (!Seen.insert(C).second)
      continue;
    if (auto *V = dyn_cast<GlobalVariable>(C)) {
      if (V->getAddressSpace() == kLdsAddressSpace)
        Variables.insert(const_cast<GlobalVariable *>(V));
      continue;
    }
    if (isa<GlobalValue>(C))
      continue;
    for (const Use &U : C->operands())
      if (auto *Operand = dyn_cast<Constant>(U))
        Work.push_back(Operand);
  }
  return Variables;
}

bool wavesan::usesDynamicLds(const Function &F) {
  const DataLayout &Layout = F.getDataLayout();
  return any_of(ldsVariablesOf(F),
                [&](const GlobalVariable *V) { return Layout.getTypeAllocSize(V->getValueType()).isZero(); });
}

LdsPlan wavesan::planLds(Module &M, const CallGraphFacts &Facts) {
  SetVector<Function *> Reached = reachableFrom(Facts.Kernels);
  SmallVector<Function *, 8> SharedRoots;
  bool IndirectCalls = false;
  for (Function *F : Reached) {
    if (isRuntimeService(*F))
      SharedRoots.push_back(F);
    for (Instruction &I : instructions(*F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        IndirectCalls |= !directCallee(*Call) && !Call->isInlineAsm();
  }
  if (IndirectCalls)
    for (Function &F : M)
      if (!F.isDeclaration() && F.hasAddressTaken())
        SharedRoots.push_back(&F);

  LdsPlan Plan;
  for (Function *F : reachableFrom(SharedRoots))
    for (GlobalVariable *Variable : ldsVariablesOf(*F))
      Plan.Shared.insert(Variable);
  // In module order: the set of recursive functions has none.
  for (Function &F : M)
    if (Facts.Recursive.contains(&F))
      for (Function *Callee : reachableFrom({&F}))
        for (GlobalVariable *V : ldsVariablesOf(*Callee))
          if (!Plan.Shared.contains(V))
            Plan.Passed.insert(V);
  return Plan;
}

/// Inside a recursive clone, its argument is the variable's address.
static void useArguments(const TwinFunction &Twin) {
  SmallVector<Constant *, 4> Variables;
  for (const auto &[Argument, V] : Twin.LdsArguments)
    Variables.push_back(V);
  convertUsersOfConstantsToInstructions(Variables, Twin.Clone);
  for (const auto &[Argument, V] : Twin.LdsArguments)
    V->replaceUsesWithIf(Argument, [&](Use &U) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      return I && I->getFunction() == Twin.Clone;
    });
}

void wavesan::cloneLdsVariables(Module &M, const TwinSet &Set, const LdsPlan &Plan) {
  SmallVector<Function *, 8> Functions;
  for (const TwinFunction &Twin : Set.Twins)
    Functions.push_back(Twin.Clone);
  for (const auto &[Original, Twin] : Set.RecursiveClones) {
    useArguments(Twin);
    Functions.push_back(Twin.Clone);
  }
  ValueToValueMapTy Map;
  for (Function *F : Functions)
    for (GlobalVariable *V : ldsVariablesOf(*F)) {
      if (Plan.Shared.contains(V) || Map.count(V))
        continue;
      auto *Clone = new GlobalVariable(
          M, V->getValueType(), V->isConstant(), V->isDeclaration() ? V->getLinkage() : GlobalValue::InternalLinkage,
          V->hasInitializer() ? V->getInitializer() : nullptr, V->getName() + abi::kTwinSuffix, nullptr,
          V->getThreadLocalMode(), V->getAddressSpace(), V->isExternallyInitialized());
      Clone->copyAttributesFrom(V);
      if (Clone->hasLocalLinkage())
        Clone->setVisibility(GlobalValue::DefaultVisibility);
      Map[V] = Clone;
    }
  if (Map.empty())
    return;
  for (Function *F : Functions)
    for (Instruction &I : instructions(*F)) {
      RemapInstruction(&I, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      RemapDbgRecordRange(&M, I.getDbgRecordRange(), Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    }
}
