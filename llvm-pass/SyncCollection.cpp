// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "SyncCollection.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MemoryModelRelaxationAnnotations.h"

using namespace llvm;
using namespace wavesan;

namespace {

class Chooser {
public:
  Chooser(Function &F, bool IsTwin, const GpuTarget &Target) : F(F), IsTwin(IsTwin), Target(Target) {
    F.getContext().getSyncScopeNames(ScopeNames);
  }

  Expected<SyncChoice> run() {
    for (Instruction &I : instructions(F))
      if (Error E = visit(I))
        return std::move(E);
    return std::move(Choice);
  }

private:
  Error visit(Instruction &I) {
    if (auto *Fence = dyn_cast<FenceInst>(&I))
      return addFence(I, SyncPoint::FenceAfter, orderingBits(Fence->getOrdering()), Fence->getSyncScopeID(),
                      std::nullopt);
    if (auto *Rmw = dyn_cast<AtomicRMWInst>(&I))
      return addAtomic(I, Rmw->getOrdering(), Rmw->getSyncScopeID(), Rmw->getPointerAddressSpace());
    if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
      return addAtomic(I, Exchange->getMergedOrdering(), Exchange->getSyncScopeID(),
                       Exchange->getPointerAddressSpace());
    if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isAtomic())
      return addAtomic(I, Load->getOrdering(), Load->getSyncScopeID(), Load->getPointerAddressSpace());
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->isAtomic())
      return addAtomic(I, Store->getOrdering(), Store->getSyncScopeID(), Store->getPointerAddressSpace());
    if (isa<ReturnInst>(I) && IsTwin)
      Choice.Points.push_back({&I, SyncPoint::KernelEnd});
    if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
      return visitIntrinsic(*Intrinsic);
    return Error::success();
  }

  static uint32_t orderingBits(AtomicOrdering Ordering) {
    uint32_t Bits = 0;
    if (isAcquireOrStronger(Ordering))
      Bits |= abi::kFenceAcquire;
    if (isReleaseOrStronger(Ordering))
      Bits |= abi::kFenceRelease;
    if (Ordering == AtomicOrdering::SequentiallyConsistent)
      Bits |= abi::kFenceSeqCst;
    return Bits;
  }

  Error addAtomic(Instruction &I, AtomicOrdering Ordering, SyncScope::ID Scope, unsigned AddressSpace) {
    if (AddressSpace == 5)
      return Error::success();
    uint32_t Bits = orderingBits(Ordering), Strong = Bits & abi::kFenceSeqCst;
    // A sequentially consistent load has no release half, a store no acquire half.
    if (isa<LoadInst>(I))
      Bits &= ~abi::kFenceRelease;
    if (isa<StoreInst>(I))
      Bits &= ~abi::kFenceAcquire;
    if (Bits & abi::kFenceRelease)
      if (Error E = addFence(I, SyncPoint::FenceBefore, abi::kFenceRelease | Strong, Scope, AddressSpace))
        return E;
    if (Bits & abi::kFenceAcquire)
      return addFence(I, SyncPoint::FenceAfter, abi::kFenceAcquire | Strong, Scope, AddressSpace);
    return Error::success();
  }

  /// `AtomicAddressSpace`: of an atomic's pointer; a "one-as" scope orders only that one.
  Error addFence(Instruction &I, SyncPoint::Kind Kind, uint32_t Bits, SyncScope::ID ScopeId,
                 std::optional<unsigned> AtomicAddressSpace) {
    StringRef Name = ScopeId < ScopeNames.size() ? ScopeNames[ScopeId] : "?";
    StringRef Base = Name;
    bool OneAddressSpace = Base == "one-as" || Base.consume_back("-one-as");
    std::optional<abi::Scope> Scope = StringSwitch<std::optional<abi::Scope>>(Base)
                                          .Case("singlethread", abi::Scope::SingleThread)
                                          .Case("wavefront", abi::Scope::Wavefront)
                                          .Case("workgroup", abi::Scope::Workgroup)
                                          .Case("cluster", abi::Scope::Cluster)
                                          .Case("agent", abi::Scope::Agent)
                                          .Cases({"", "one-as"}, abi::Scope::System)
                                          .Default(std::nullopt);
    if (!Scope)
      return createStringError("unknown synchronisation scope '" + Name + "'");
    uint32_t Spaces = abi::kFenceLds | abi::kFenceGlobal;
    if (OneAddressSpace && AtomicAddressSpace && *AtomicAddressSpace == 3)
      Spaces = abi::kFenceLds;
    else if (OneAddressSpace && AtomicAddressSpace && *AtomicAddressSpace != 0)
      Spaces = abi::kFenceGlobal;
    Spaces &= annotatedSpaces(I);
    Choice.Points.push_back({&I, Kind, abi::fenceInfo(Bits | Spaces, *Scope)});
    return Error::success();
  }

  /// Address spaces by the memory model relaxation annotations; all without one.
  static uint32_t annotatedSpaces(const Instruction &I) {
    MMRAMetadata Tags(I);
    uint32_t Spaces = 0;
    bool Limited = false;
    for (const auto &[Prefix, Suffix] : Tags)
      if (Prefix == "amdgpu-synchronize-as" || Prefix == "amdgpu-as") {
        Limited = true;
        if (Suffix == "local")
          Spaces |= abi::kFenceLds;
        else if (Suffix == "global")
          Spaces |= abi::kFenceGlobal;
      }
    return Limited ? Spaces : abi::kFenceLds | abi::kFenceGlobal;
  }

  Error visitIntrinsic(IntrinsicInst &I) {
    switch (I.getIntrinsicID()) {
    case Intrinsic::amdgcn_s_barrier:
    case Intrinsic::amdgcn_s_cluster_barrier: // its workgroups arrive as wholes
      Choice.Points.push_back({&I, SyncPoint::BarrierFull});
      break;
    case Intrinsic::amdgcn_s_barrier_signal:
    case Intrinsic::amdgcn_s_barrier_signal_isfirst:
      if (!isWholeWorkgroup(I))
        return namedBarrier();
      Choice.Points.push_back({&I, SyncPoint::BarrierArrive});
      break;
    case Intrinsic::amdgcn_s_barrier_wait:
      if (!isWholeWorkgroup(I))
        return namedBarrier();
      Choice.Points.push_back({&I, SyncPoint::BarrierLeave});
      break;
    case Intrinsic::amdgcn_s_barrier_signal_var:
    case Intrinsic::amdgcn_s_barrier_init:
    case Intrinsic::amdgcn_s_barrier_join:
    case Intrinsic::amdgcn_s_barrier_leave:
    case Intrinsic::amdgcn_s_wakeup_barrier:
      return namedBarrier();
    case Intrinsic::amdgcn_endpgm:
      Choice.Points.push_back({&I, SyncPoint::KernelEnd});
      break;
    case Intrinsic::amdgcn_s_waitcnt:
      addPackedWait(I);
      break;
    case Intrinsic::amdgcn_s_wait_dscnt:
      addWait(I, count(I) == 0 ? abi::kWaitLds : 0);
      break;
    case Intrinsic::amdgcn_s_wait_loadcnt:
      addWait(I, count(I) == 0 ? abi::kWaitVmem : 0);
      break;
    default:
      break;
    }
    return Error::success();
  }

  static uint64_t count(const IntrinsicInst &I) { return cast<ConstantInt>(I.getArgOperand(0))->getZExtValue(); }

  /// -1: the workgroup's barrier; -3: the cluster's, in which every workgroup takes part as a whole.
  static bool isWholeWorkgroup(const IntrinsicInst &I) {
    int64_t Id = cast<ConstantInt>(I.getArgOperand(0))->getSExtValue();
    return Id == -1 || Id == -3;
  }

  static Error namedBarrier() { return createStringError("named barriers are not supported yet"); }

  void addPackedWait(IntrinsicInst &I) {
    if (!Target.HasPackedWait) {
      Choice.Skips.add("s_waitcnt on a target without it");
      return;
    }
    uint32_t Completed = 0;
    if (Target.Lgkmcnt.decode(count(I)) == 0)
      Completed |= abi::kWaitLds;
    if (Target.Vmcnt.decode(count(I)) == 0)
      Completed |= abi::kWaitVmem;
    addWait(I, Completed);
  }

  void addWait(IntrinsicInst &I, uint32_t Completed) {
    if (Completed)
      Choice.Points.push_back({&I, SyncPoint::Wait, Completed});
    else
      Choice.Skips.add("wait for a count above zero (taken as no wait)");
  }

  Function &F;
  bool IsTwin;
  const GpuTarget &Target;
  SmallVector<StringRef, 16> ScopeNames;
  SyncChoice Choice;
};

} // namespace

Expected<SyncChoice> wavesan::chooseSync(Function &F, bool IsTwin, const GpuTarget &Target) {
  return Chooser(F, IsTwin, Target).run();
}
