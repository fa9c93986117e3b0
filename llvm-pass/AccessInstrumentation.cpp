// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "AccessInstrumentation.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace wavesan;
using abi::Hook;

/// Wider accesses are ranges: the access hook covers what one instruction of a lane can access.
static constexpr uint64_t kWidestAccess = 16;

namespace {

/// Emits the hooks of one access.
class Emitter {
public:
  Emitter(const Access &A, Value *State, HookEmitter &Hooks, SiteRecorder &Sites)
      : A(A), State(State), Hooks(Hooks), B(A.I) { // takes the access's position too
    if (A.After) {
      B.SetInsertPoint(A.I->getNextNode());
      B.SetCurrentDebugLocation(A.I->getDebugLoc());
    }
    bool IsRange = A.Length || any_of(A.Runs, [](const ByteRun &R) { return R.Size > kWidestAccess; });
    uint64_t SiteSize = IsRange || A.Runs.size() != 1 ? 0 : A.Runs.front().Size;
    Site = B.getInt32(Sites.addSite(IsRange ? abi::SiteKind::Range : abi::SiteKind::Access, A.info(SiteSize), *A.I,
                                    A.Variable, A.Opcode, A.Stored));
  }

  void emitBefore() {
    if (A.Where == Region::Lds) {
      Address = ldsOffset();
      Variable = A.VariableAddress ? B.CreatePtrToInt(A.VariableAddress, B.getInt32Ty()) : B.getInt32(abi::kNoVariable);
    } else {
      Address = flatPointer();
    }
    if (A.Length)
      range(0, B.CreateZExtOrTrunc(A.Length, B.getInt64Ty()));
    for (const ByteRun &Run : A.Runs)
      if (Run.Size <= kWidestAccess)
        access(Run);
      else
        range(Run.Offset, B.getInt64(Run.Size));
  }

  /// Lanes out of range access nothing: the hooks stand in blocks of their own.
  void emitBuffer(const GpuTarget &Target) {
    const uint64_t Size = A.Runs.front().Size;
    const BufferRange Range = emitBufferRange(B, *A.Buffer, Size, Target);
    Value *Whole = B.CreateICmpEQ(Range.InRange, B.getInt64(Size));
    Value *Part = Size > 4 && !A.Buffer->allOrNothing()
                      ? B.CreateAnd(B.CreateNot(Whole), B.CreateICmpNE(Range.InRange, B.getInt64(0)))
                      : nullptr;
    Address = B.CreateIntToPtr(Range.Address, B.getPtrTy(0));
    within(Whole, A.I, [&] { access({0, Size}); });
    if (Part)
      within(Part, A.I, [&] { range(0, Range.InRange); });
    if (!A.isAtomic())
      return;
    Instruction *Next = A.I->getNextNode();
    B.SetInsertPoint(Next);
    B.SetCurrentDebugLocation(A.I->getDebugLoc());
    Value *Wrote = B.getInt1((A.Bits & abi::kAccessWrite) != 0);
    if (A.Buffer->Compare)
      Wrote = B.CreateICmpEQ(A.I, A.Buffer->Compare);
    within(Whole, Next,
           [&] { Hooks.call(B, Hook::AtomicDone, {State, Address, B.getInt32(A.info(Size)), Site, Wrote}); });
  }

  void emitAfterAtomic() {
    assert(A.Runs.size() == 1 && "an atomic is one access");
    Instruction *I = A.I;
    B.SetInsertPoint(I->getNextNode());
    B.SetCurrentDebugLocation(I->getDebugLoc());
    Value *Wrote = B.getInt1((A.Bits & abi::kAccessWrite) != 0);
    if (isa<AtomicCmpXchgInst>(I))
      Wrote = B.CreateExtractValue(I, 1);
    Address = flatPointer();
    Hooks.call(B, Hook::AtomicDone,
               {State, at(A.Runs.front().Offset), B.getInt32(A.info(A.Runs.front().Size)), Site, Wrote});
  }

private:
  /// Emits for the lanes of which `Condition` holds, in front of `Before`.
  template <class EmitHooks> void within(Value *Condition, Instruction *Before, EmitHooks Emit) {
    Instruction *End = SplitBlockAndInsertIfThen(Condition, Before, /*Unreachable=*/false);
    B.SetInsertPoint(End);
    B.SetCurrentDebugLocation(A.I->getDebugLoc());
    Emit();
  }

  Value *ldsOffset() {
    Value *Pointer = A.Pointer;
    if (Pointer->getType()->isIntegerTy())
      return B.CreateZExtOrTrunc(Pointer, B.getInt32Ty());
    if (Pointer->getType()->getPointerAddressSpace() != 3)
      Pointer = B.CreateAddrSpaceCast(Pointer, B.getPtrTy(3));
    return B.CreatePtrToInt(Pointer, B.getInt32Ty());
  }

  Value *flatPointer() {
    Value *Pointer = A.Pointer;
    if (Pointer->getType()->isIntegerTy())
      Pointer = B.CreateIntToPtr(Pointer, B.getPtrTy(A.Where == Region::Lds ? 3 : 0));
    if (Pointer->getType()->getPointerAddressSpace() != 0)
      Pointer = B.CreateAddrSpaceCast(Pointer, B.getPtrTy(0));
    if (A.Offset)
      Pointer = B.CreatePtrAdd(Pointer, B.CreateZExt(A.Offset, B.getInt64Ty()));
    return Pointer;
  }

  Value *at(uint64_t Offset) {
    if (!Offset)
      return Address;
    if (Address->getType()->isIntegerTy())
      return B.CreateAdd(Address, B.getInt32(uint32_t(Offset)));
    return B.CreatePtrAdd(Address, B.getInt64(Offset));
  }

  void access(const ByteRun &Run) {
    const bool OfAnother = (A.Ordering & abi::kAccessOneInstruction) && &Run != &A.Runs.front();
    Value *Info = B.getInt32(A.info(Run.Size) | (OfAnother ? abi::kAccessOfCopy : 0u));
    if (A.Where == Region::Lds)
      Hooks.call(B, A.IsCopy ? Hook::LdsCopy : Hook::LdsAccess, {State, at(Run.Offset), Info, Site, Variable});
    else
      Hooks.call(B, A.Where == Region::Global ? Hook::GlobalAccess : Hook::GenericAccess,
                 {State, at(Run.Offset), Info, Site});
  }

  void range(uint64_t Offset, Value *Length) {
    Value *Info = B.getInt32(A.info(0));
    if (A.Where == Region::Lds)
      Hooks.call(B, Hook::LdsRange, {State, at(Offset), Length, Info, Site, Variable});
    else
      Hooks.call(B, A.Where == Region::Global ? Hook::GlobalRange : Hook::GenericRange,
                 {State, at(Offset), Length, Info, Site});
  }

  const Access &A;
  Value *State;
  HookEmitter &Hooks;
  IRBuilder<> B;
  Value *Site = nullptr;
  Value *Address = nullptr; ///< LDS: byte offset; else generic pointer
  Value *Variable = nullptr;
};

} // namespace

void wavesan::instrumentAccess(const Access &A, const GpuTarget &Target, Value *State, HookEmitter &Hooks,
                               SiteRecorder &Sites) {
  Emitter E(A, State, Hooks, Sites);
  if (A.Buffer)
    return E.emitBuffer(Target);
  E.emitBefore();
  if (A.isAtomic())
    E.emitAfterAtomic();
}
