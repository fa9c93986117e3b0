// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "SyncCollection.h"

#include "AtomicFacts.h"
#include "CallGraphFacts.h"
#include "InlineAsmFacts.h"
#include "LlvmVersions.h"

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
  Chooser(Function &F, bool IsTwin, const GpuTarget &Target)
      : F(F), IsTwin(IsTwin), Target(Target), Atomics(F.getContext()) {}

  Expected<SyncChoice> run() {
    for (Instruction &I : instructions(F))
      if (Error E = visit(I))
        return std::move(E);
    return std::move(Choice);
  }

private:
  Error visit(Instruction &I) {
    if (auto *Fence = dyn_cast<FenceInst>(&I)) {
      Expected<ScopeFacts> Where = Atomics.scope(Fence->getSyncScopeID());
      if (!Where)
        return Where.takeError();
      addFence(I, SyncPoint::FenceAfter, orderingBits(Fence->getOrdering()), *Where, std::nullopt);
      return Error::success();
    }
    Expected<std::optional<AtomicFacts>> Atomic = Atomics.atomic(I);
    if (!Atomic)
      return Atomic.takeError();
    if (*Atomic)
      addAtomic(I, **Atomic);
    if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->isInlineAsm())
      return visitInlineAsm(*Call);
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (const Function *Callee = directCallee(*Call))
        addHeapCall(*Call, *Callee);
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

  void addAtomic(Instruction &I, const AtomicFacts &Atomic) {
    if (Atomic.AddressSpace == 5)
      return;
    uint32_t Strong = abi::kFenceImplied | (Atomic.SeqCst ? abi::kFenceSeqCst : 0);
    if (Atomic.Release)
      addFence(I, SyncPoint::FenceBefore, abi::kFenceRelease | Strong, Atomic.Where, Atomic.AddressSpace);
    if (Atomic.Acquire)
      addFence(I, SyncPoint::FenceAfter, abi::kFenceAcquire | Strong, Atomic.Where, Atomic.AddressSpace);
  }

  /// `AtomicAddressSpace`: of an atomic's pointer; a "one-as" scope orders only that one.
  void addFence(Instruction &I, SyncPoint::Kind Kind, uint32_t Bits, ScopeFacts Where,
                std::optional<unsigned> AtomicAddressSpace) {
    uint32_t Spaces = abi::kFenceLds | abi::kFenceGlobal;
    if (Where.OneAddressSpace && AtomicAddressSpace && *AtomicAddressSpace == 3)
      Spaces = abi::kFenceLds;
    else if (Where.OneAddressSpace && AtomicAddressSpace && *AtomicAddressSpace != 0)
      Spaces = abi::kFenceGlobal;
    Spaces &= annotatedSpaces(I);
    Choice.Points.push_back({&I, Kind, abi::fenceInfo(Bits | Spaces, Where.Scope)});
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

  /// C++ [new.delete]: the release of a block happens before the allocation that returns the same memory. By block, so
  /// that nothing else is ordered by it. How the library synchronises is its own affair.
  void addHeapCall(CallBase &Call, const Function &Callee) {
    const uint32_t Spaces = abi::kFenceLds | abi::kFenceGlobal | abi::kFenceImplied;
    if (isHeapRelease(Callee) && Call.arg_size() == 1) {
      Choice.Points.push_back(
          {&Call, SyncPoint::FenceBefore, abi::fenceInfo(abi::kFenceRelease | Spaces, abi::Scope::Agent)});
      Choice.Points.push_back({&Call, SyncPoint::HeapRelease});
    } else if (isHeapAllocation(Callee) && !Call.getType()->isVoidTy()) { // the one that is emitted last comes first
      Choice.Points.push_back(
          {&Call, SyncPoint::FenceAfter, abi::fenceInfo(abi::kFenceAcquire | Spaces, abi::Scope::Agent)});
      Choice.Points.push_back({&Call, SyncPoint::HeapAcquire});
    }
  }

  Error visitIntrinsic(IntrinsicInst &I) {
    switch (I.getIntrinsicID()) {
    case Intrinsic::amdgcn_s_barrier:
      Choice.Points.push_back({&I, SyncPoint::BarrierFull});
      break;
    case Intrinsic::amdgcn_s_barrier_signal:
    case Intrinsic::amdgcn_s_barrier_signal_isfirst:
      if (barrierNumber(I) >= 0)
        return numberedBarrier();
      if (!isWholeWorkgroup(I))
        return otherBarrier(I);
      Choice.Points.push_back({&I, SyncPoint::BarrierArrive});
      break;
    case Intrinsic::amdgcn_s_barrier_wait:
      if (isWholeWorkgroup(I))
        Choice.Points.push_back({&I, SyncPoint::BarrierLeave});
      else if (barrierNumber(I) < 0)
        return otherBarrier(I);
      else // whatever its number says, it waits for the barrier that the wave has joined
        return addNamed(I, abi::NamedBarrierOperation::Wait, false);
      break;
    case Intrinsic::amdgcn_ds_gws_barrier:
      Choice.Points.push_back({&I, SyncPoint::GridBarrier});
      break;
    case Intrinsic::amdgcn_s_barrier_signal_var:
      return addNamed(I, abi::NamedBarrierOperation::Signal, true);
    case Intrinsic::amdgcn_s_barrier_init:
      return addNamed(I, abi::NamedBarrierOperation::Init, true);
    case Intrinsic::amdgcn_s_barrier_join:
      return addNamed(I, abi::NamedBarrierOperation::Join, true);
    case Intrinsic::amdgcn_s_barrier_leave:
      return addNamed(I, abi::NamedBarrierOperation::Leave, false);
    case Intrinsic::amdgcn_endpgm:
      Choice.Points.push_back({&I, SyncPoint::KernelEnd});
      break;
    case Intrinsic::amdgcn_s_waitcnt:
      addPackedWait(I);
      break;
    case Intrinsic::amdgcn_s_wait_dscnt:
      addWaitOf(I, [&](WaitFacts &Wait) { Wait.lds(count(I)); });
      break;
    case Intrinsic::amdgcn_s_wait_loadcnt:
      addWaitOf(I, [&](WaitFacts &Wait) { Wait.vmem(count(I), Target); });
      break;
    default:
      if (isClusterBarrier(I)) // its workgroups arrive as wholes
        Choice.Points.push_back({&I, SyncPoint::BarrierFull});
      else if (amdgcnName(I) == "s.wait.asynccnt")
        addWaitOf(I, [&](WaitFacts &Wait) { Wait.async(count(I)); });
      else if (amdgcnName(I) == "s.wakeup.barrier")
        return unfollowed(kWakesBarrier);
      break;
    }
    return Error::success();
  }

  static uint64_t count(const IntrinsicInst &I) { return cast<ConstantInt>(I.getArgOperand(0))->getZExtValue(); }

  static int64_t barrierNumber(const IntrinsicInst &I) {
    return cast<ConstantInt>(I.getArgOperand(0))->getSExtValue();
  }
  /// -1: the workgroup's barrier; -3: the cluster's, in which every workgroup takes part as a whole.
  static bool isWholeWorkgroup(const IntrinsicInst &I) { return barrierNumber(I) == -1 || barrierNumber(I) == -3; }

  Error addNamed(IntrinsicInst &I, abi::NamedBarrierOperation Operation, bool ByVariable) {
    // LLVM 19 has them by the contents of a register.
    if (ByVariable && !I.getArgOperand(0)->getType()->isPointerTy())
      return numberedBarrier();
    Choice.Points.push_back({&I, SyncPoint::NamedBarrier, uint32_t(Operation)});
    Choice.NamedBarriers = true;
    return Error::success();
  }

  Error unfollowed(const char *Why) {
    Choice.Unfollowed = Why;
    return Error::success();
  }
  /// Which variable has which number is decided when code is generated, for a twin perhaps otherwise.
  Error numberedBarrier() { return unfollowed(kNumberedBarrier); }
  /// Of the trap handler.
  static Error otherBarrier(const IntrinsicInst &I) {
    return createStringError("barrier " + Twine(barrierNumber(I)) + " is not supported");
  }

  static constexpr const char *kNumberedBarrier =
      "its named barriers are called by number or in inline assembly (by variable they are followed: "
      "__builtin_amdgcn_s_barrier_signal_var)";
  static constexpr const char *kWakesBarrier =
      "it executes s_wakeup_barrier, of which is not documented what it does to waits for a barrier";
  static constexpr const char *kReversedBarrier =
      "inline assembly of it waits for a barrier and then signals it (in two texts they are followed)";

  void addPackedWait(IntrinsicInst &I) {
    if (!Target.HasPackedWait) {
      Choice.Skips.add("s_waitcnt on a target without it");
      return;
    }
    addWait(I, decodePackedWait(count(I), Target));
  }

  template <class F> void addWaitOf(IntrinsicInst &I, F &&Fill) {
    WaitFacts Wait;
    Fill(Wait);
    addWait(I, Wait);
  }
  void addWait(IntrinsicInst &I, const WaitFacts &Wait) {
    if (Wait.Info)
      Choice.Points.push_back({&I, SyncPoint::Wait, Wait.Info});
    Choice.PartialLdsWaits += Wait.PartialLds;
    Choice.PartialVmemWaits += Wait.PartialVmem;
  }

  Error visitInlineAsm(CallBase &Call) {
    AsmFacts Facts = readInlineAsm(Call, Target);
    if (Facts.NamedBarrier)
      return numberedBarrier();
    if (Facts.WakesBarrier)
      return unfollowed(kWakesBarrier);
    if (Facts.SplitReversed)
      return unfollowed(kReversedBarrier);
    Choice.PartialLdsWaits += Facts.PartialLdsWaits;
    Choice.PartialVmemWaits += Facts.PartialVmemWaits;
    auto Add = [&](const AsmSync &Sync, bool Before) {
      switch (Sync.What) {
      case AsmSync::Wait:
        Choice.Points.push_back({&Call, Before ? SyncPoint::WaitBefore : SyncPoint::Wait, Sync.Info, Sync.Sequence});
        break;
      case AsmSync::BarrierArrive:
        Choice.Points.push_back({&Call, SyncPoint::BarrierArrive, 0, Sync.Sequence});
        break;
      case AsmSync::BarrierLeave:
        Choice.Points.push_back({&Call, SyncPoint::BarrierLeave, 0, Sync.Sequence});
        break;
      }
    };
    ArrayRef<AsmSync> Before = Facts.Before, After = Facts.After;
    // Next to the asm on both sides: a barrier with one site.
    bool Full = !Before.empty() && Before.back().What == AsmSync::BarrierArrive && !After.empty() &&
                After.front().What == AsmSync::BarrierLeave;
    for (const AsmSync &Sync : Before.drop_back(Full))
      Add(Sync, true);
    if (Full)
      Choice.Points.push_back({&Call, SyncPoint::BarrierFull, 0, Before.back().Sequence});
    for (const AsmSync &Sync : After.drop_front(Full))
      Add(Sync, false);
    return Error::success();
  }

  Function &F;
  bool IsTwin;
  const GpuTarget &Target;
  AtomicReader Atomics;
  SyncChoice Choice;
};

} // namespace

Expected<SyncChoice> wavesan::chooseSync(Function &F, bool IsTwin, const GpuTarget &Target) {
  return Chooser(F, IsTwin, Target).run();
}
