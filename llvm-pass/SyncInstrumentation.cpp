// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "SyncInstrumentation.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace wavesan;
using abi::Hook;

void wavesan::instrumentSync(const SyncPoint &Point, Value *State, HookEmitter &Hooks, SiteRecorder &Sites) {
  Instruction *I = Point.I;
  auto Emit = [&](Hook H, bool After, ArrayRef<Value *> More) {
    IRBuilder<> B(After ? I->getNextNode() : I);
    B.SetCurrentDebugLocation(I->getDebugLoc());
    SmallVector<Value *, 3> Arguments{State};
    Arguments.append(More.begin(), More.end());
    Hooks.call(B, H, Arguments);
  };
  auto Word = [&](uint32_t V) { return ConstantInt::get(Type::getInt32Ty(I->getContext()), V); };
  auto BarrierSite = [&](const char *Opcode) { return Word(Sites.addSite(abi::SiteKind::Barrier, 0, *I, "", Opcode)); };
  switch (Point.What) {
  case SyncPoint::BarrierArrive:
    return Emit(Hook::BarrierArrive, false, {BarrierSite("barrier signal")});
  case SyncPoint::BarrierLeave:
    return Emit(Hook::BarrierLeave, true, {BarrierSite("barrier wait")});
  case SyncPoint::BarrierFull: {
    Value *Site = BarrierSite("barrier");
    Emit(Hook::BarrierArrive, false, {Site});
    return Emit(Hook::BarrierLeave, true, {Site});
  }
  case SyncPoint::GridBarrier: {
    Value *Site = Word(Sites.addSite(abi::SiteKind::Barrier, 0, *I, "", "grid barrier"));
    Emit(Hook::GridArrive, false, {Site});
    return Emit(Hook::GridLeave, true, {Site});
  }
  case SyncPoint::NamedBarrier: {
    using Operation = abi::NamedBarrierOperation;
    static constexpr const char *Names[] = {"named barrier init", "named barrier join", "named barrier signal",
                                            "named barrier leave", "named barrier wait"};
    const auto What = Operation(Point.Operand);
    const bool OfJoined = What == Operation::Wait || What == Operation::Leave;
    IRBuilder<> B(I);
    Value *Address = OfJoined ? Word(0) : B.CreatePtrToInt(cast<CallBase>(I)->getArgOperand(0), B.getInt32Ty());
    return Emit(Hook::NamedBarrier, What == Operation::Wait,
                {Address, Word(Point.Operand), BarrierSite(Names[Point.Operand])});
  }
  case SyncPoint::FenceBefore:
    return Emit(Hook::Fence, false, {Word(Point.Operand)});
  case SyncPoint::FenceAfter:
    return Emit(Hook::Fence, true, {Word(Point.Operand)});
  case SyncPoint::WaitBefore:
    return Emit(Hook::Wait, false, {Word(Point.Operand)});
  case SyncPoint::Wait:
    return Emit(Hook::Wait, true, {Word(Point.Operand)});
  case SyncPoint::HeapRelease:
  case SyncPoint::HeapAcquire: {
    // As an atomic on the block's first byte, which lies outside of no block.
    const bool Release = Point.What == SyncPoint::HeapRelease;
    const uint32_t Info = abi::atomicInfo(abi::kAccessAtomic | (Release ? abi::kAccessWrite : abi::kAccessRead), 1,
                                          abi::Scope::Agent, !Release, Release) |
                          abi::kAccessOfCopy;
    auto *Call = cast<CallBase>(I);
    IRBuilder<> B(Release ? I : I->getNextNode());
    B.SetCurrentDebugLocation(I->getDebugLoc());
    Value *Block = Release ? Call->getArgOperand(0) : Call;
    Block = Block->getType()->isPointerTy() ? B.CreateAddrSpaceCast(Block, B.getPtrTy(0))
                                            : B.CreateIntToPtr(Block, B.getPtrTy(0));
    const uint32_t Site = Sites.addSite(abi::SiteKind::Access, Info, *I, "", Release ? "free" : "malloc");
    Hooks.call(B, Hook::AtomicDone, {State, Block, Word(Info), Word(Site), B.getInt1(Release)});
    return;
  }
  case SyncPoint::KernelEnd:
    return Emit(Hook::KernelEnd, false, {});
  }
}

void wavesan::instrumentIssued(Instruction &I, uint32_t Info, Value *State, HookEmitter &Hooks) {
  IRBuilder<> B(&I); // takes the instruction's position too
  Hooks.call(B, Hook::VmemIssued, {State, B.getInt32(Info)});
}

void wavesan::instrumentBegin(Function &Twin, Value *State, Value *Context, HookEmitter &Hooks) {
  BasicBlock &Entry = Twin.getEntryBlock();
  BasicBlock::iterator Top = Entry.begin();
  for (Instruction &I : make_early_inc_range(Entry))
    if (auto *Alloca = dyn_cast<AllocaInst>(&I); Alloca && isa<Constant>(Alloca->getArraySize())) {
      if (&*Top == Alloca)
        ++Top;
      else
        Alloca->moveBefore(Entry, Top);
    }
  IRBuilder<> B(&Entry, Top);
  if (DISubprogram *Debug = Twin.getSubprogram())
    B.SetCurrentDebugLocation(DILocation::get(Twin.getContext(), 0, 0, Debug));
  Hooks.call(B, Hook::KernelBegin, {State, Context});
}
