// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HostWaits.h"

#include "AtomicFacts.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/AMDGPUAddrSpace.h"

using namespace llvm;
using namespace wavesan;

namespace {

using Blocks = SmallPtrSet<const BasicBlock *, 8>;

bool isShared(unsigned AddressSpace) {
  return AddressSpace == AMDGPUAS::FLAT_ADDRESS || AddressSpace == AMDGPUAS::GLOBAL_ADDRESS;
}

bool isSameInEachRound(const Value *V, const Blocks &Circle) {
  const auto *I = dyn_cast<Instruction>(V);
  return !I || !Circle.contains(I->getParent());
}

bool looksForTheHost(const Instruction &I, const Blocks &Circle, const AtomicReader &Atomics) {
  if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isVolatile())
    return isShared(Load->getPointerAddressSpace());
  auto Facts = Atomics.atomic(I);
  if (!Facts) { // reported where accesses are chosen
    consumeError(Facts.takeError());
    return false;
  }
  if (!*Facts || (*Facts)->Where.Scope != abi::Scope::System || !isShared((*Facts)->AddressSpace))
    return false;
  if (auto *Rmw = dyn_cast<AtomicRMWInst>(&I))
    return Rmw->getOperation() == AtomicRMWInst::Xchg && !Rmw->use_empty() &&
           isSameInEachRound(Rmw->getValOperand(), Circle);
  if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
    return isSameInEachRound(Exchange->getCompareOperand(), Circle);
  return isa<LoadInst>(I);
}

} // namespace

bool wavesan::mayWaitForHost(const Function &Twin) {
  const AtomicReader Atomics(Twin.getContext());
  for (auto It = scc_begin(&Twin); !It.isAtEnd(); ++It) {
    if (!It.hasCycle())
      continue;
    const Blocks Circle(It->begin(), It->end());
    for (const BasicBlock *Block : Circle)
      for (const Instruction &I : *Block)
        if (looksForTheHost(I, Circle, Atomics))
          return true;
  }
  return false;
}
