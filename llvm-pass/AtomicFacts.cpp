// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "AtomicFacts.h"

#include "LlvmVersions.h"

#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace wavesan;

Expected<ScopeFacts> AtomicReader::scope(SyncScope::ID Id) const {
  StringRef Name = Id < Names.size() ? Names[Id] : "?";
  StringRef Base = Name;
  bool OneAddressSpace = Base == "one-as" || Base.consume_back("-one-as");
  std::optional<abi::Scope> Scope = StringCases<std::optional<abi::Scope>>(Base)
                                        .Case("singlethread", abi::Scope::SingleThread)
                                        .Case("wavefront", abi::Scope::Wavefront)
                                        .Case("workgroup", abi::Scope::Workgroup)
                                        .Case("cluster", abi::Scope::Cluster)
                                        .Case("agent", abi::Scope::Agent)
                                        .Cases({"", "one-as"}, abi::Scope::System)
                                        .Default(std::nullopt);
  if (!Scope)
    return createStringError("unknown synchronisation scope '" + Name + "'");
  return ScopeFacts{*Scope, OneAddressSpace};
}

Expected<std::optional<AtomicFacts>> AtomicReader::atomic(const Instruction &I) const {
  AtomicOrdering Ordering;
  SyncScope::ID Id;
  unsigned AddressSpace;
  bool FailureRelaxed = false;
  auto Read = [&](const auto &Atomic, AtomicOrdering Order) {
    Ordering = Order;
    Id = Atomic.getSyncScopeID();
    AddressSpace = Atomic.getPointerAddressSpace();
  };
  if (auto *Rmw = dyn_cast<AtomicRMWInst>(&I))
    Read(*Rmw, Rmw->getOrdering());
  else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
    Read(*Exchange, Exchange->getMergedOrdering()); // the stronger of success and failure
    FailureRelaxed = !isAcquireOrStronger(Exchange->getFailureOrdering());
  } else if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isAtomic())
    Read(*Load, Load->getOrdering());
  else if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->isAtomic())
    Read(*Store, Store->getOrdering());
  else
    return std::nullopt;
  Expected<ScopeFacts> Where = scope(Id);
  if (!Where)
    return Where.takeError();
  // A sequentially consistent load has no release half, a store no acquire half.
  return AtomicFacts{*Where,
                     isAcquireOrStronger(Ordering) && !isa<StoreInst>(I),
                     isReleaseOrStronger(Ordering) && !isa<LoadInst>(I),
                     Ordering == AtomicOrdering::SequentiallyConsistent,
                     AddressSpace,
                     isa<AtomicCmpXchgInst>(I),
                     FailureRelaxed};
}
