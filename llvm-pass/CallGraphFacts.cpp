// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "CallGraphFacts.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace wavesan;

Function *wavesan::directCallee(const CallBase &Call) {
  return dyn_cast<Function>(Call.getCalledOperand()->stripPointerCastsAndAliases());
}

bool wavesan::isRuntimeService(const Function &F) {
  return F.getName().starts_with("__ockl_hostcall_") || F.getName().starts_with("__ockl_dm_");
}

bool wavesan::isHeapAllocation(const Function &F) { return F.getName() == "__ockl_dm_alloc"; }
bool wavesan::isHeapRelease(const Function &F) { return F.getName() == "__ockl_dm_dealloc"; }

using Edges = DenseMap<Function *, SmallSetVector<Function *, 8>>;

static SmallSetVector<Function *, 8> calleesOf(Function &F) {
  SmallSetVector<Function *, 8> Callees;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (Function *Callee = directCallee(*Call); Callee && !Callee->isIntrinsic())
        Callees.insert(Callee);
  return Callees;
}

SetVector<Function *> wavesan::reachableFrom(ArrayRef<Function *> Roots) {
  SetVector<Function *> Reached(Roots.begin(), Roots.end());
  for (size_t I = 0; I < Reached.size(); ++I)
    for (Function *Callee : calleesOf(*Reached[I]))
      Reached.insert(Callee);
  return Reached;
}

static bool reachesItself(Function *F, const Edges &Calls) {
  SmallSetVector<Function *, 16> Reached;
  auto Add = [&](Function *From) {
    if (auto It = Calls.find(From); It != Calls.end())
      Reached.insert(It->second.begin(), It->second.end());
  };
  Add(F);
  for (size_t I = 0; I < Reached.size(); ++I) {
    if (Reached[I] == F)
      return true;
    Add(Reached[I]);
  }
  return false;
}

Expected<CallGraphFacts> wavesan::collectCallGraphFacts(Module &M) {
  CallGraphFacts Facts;
  for (Function &F : M)
    if (F.getCallingConv() == CallingConv::AMDGPU_KERNEL && !F.isDeclaration())
      Facts.Kernels.push_back(&F);

  Edges Calls;
  for (Function *Kernel : Facts.Kernels) {
    SmallVector<Function *, 16> Work{Kernel};
    DenseSet<Function *> Seen{Kernel};
    while (!Work.empty()) {
      Function *F = Work.pop_back_val();
      auto [It, New] = Calls.try_emplace(F);
      if (New)
        It->second = calleesOf(*F);
      // Copied: inserting into Calls below would move the set.
      for (Function *Callee : SmallVector<Function *, 8>(It->second.begin(), It->second.end())) {
        if (Callee->isDeclaration() && !isRuntimeService(*Callee))
          return createStringError("kernel '" + demangle(Kernel->getName()) + "' calls '" +
                                   demangle(Callee->getName()) +
                                   "', which this module does not define: relocatable device code (-fgpu-rdc) is not "
                                   "supported");
        if (Seen.insert(Callee).second && !isRuntimeService(*Callee))
          Work.push_back(Callee);
      }
    }
  }
  for (const auto &[F, Callees] : Calls)
    if (reachesItself(F, Calls))
      Facts.Recursive.insert(F);
  return Facts;
}
