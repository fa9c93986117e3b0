// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "AccessInstrumentation.h"

#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace wavesan;
using abi::Hook;

/// Wider accesses are ranges: the access hook covers what one instruction of a lane can access.
static constexpr uint64_t kWidestAccess = 16;

void wavesan::instrumentAccess(const Access &A, Value *State, HookEmitter &Hooks, SiteRecorder &Sites) {
  bool IsRange = A.Length || any_of(A.Runs, [](const ByteRun &R) { return R.Size > kWidestAccess; });
  uint32_t SiteSize = IsRange || A.Runs.size() != 1 ? 0 : uint32_t(A.Runs.front().Size);
  uint32_t Site = Sites.addSite(IsRange ? abi::SiteKind::Range : abi::SiteKind::Access,
                                abi::accessInfo(A.Bits, SiteSize), *A.I, A.Variable, A.Opcode);

  IRBuilder<> B(A.I); // takes the access's position too
  Type *I32 = B.getInt32Ty();
  Value *Pointer = A.Pointer, *Address = nullptr, *Variable = nullptr;
  if (!A.Generic) {
    if (Pointer->getType()->getPointerAddressSpace() != 3)
      Pointer = B.CreateAddrSpaceCast(Pointer, B.getPtrTy(3));
    Address = B.CreatePtrToInt(Pointer, I32);
    Variable = A.VariableAddress ? B.CreatePtrToInt(A.VariableAddress, I32) : B.getInt32(abi::kNoVariable);
  }
  auto EmitAccess = [&](uint64_t Offset, uint64_t Size) {
    Value *Info = B.getInt32(abi::accessInfo(A.Bits, uint32_t(Size)));
    if (A.Generic)
      Hooks.call(B, Hook::GenericAccess,
                 {State, Offset ? B.CreatePtrAdd(Pointer, B.getInt64(Offset)) : Pointer, Info, B.getInt32(Site)});
    else
      Hooks.call(B, Hook::LdsAccess,
                 {State, Offset ? B.CreateAdd(Address, B.getInt32(uint32_t(Offset))) : Address, Info, B.getInt32(Site),
                  Variable});
  };
  auto EmitRange = [&](uint64_t Offset, Value *Length) {
    Value *Info = B.getInt32(abi::accessInfo(A.Bits, 0));
    if (A.Generic)
      Hooks.call(
          B, Hook::GenericRange,
          {State, Offset ? B.CreatePtrAdd(Pointer, B.getInt64(Offset)) : Pointer, Length, Info, B.getInt32(Site)});
    else
      Hooks.call(B, Hook::LdsRange,
                 {State, Offset ? B.CreateAdd(Address, B.getInt32(uint32_t(Offset))) : Address, Length, Info,
                  B.getInt32(Site), Variable});
  };
  if (A.Length)
    EmitRange(0, B.CreateZExtOrTrunc(A.Length, B.getInt64Ty()));
  for (const ByteRun &Run : A.Runs)
    if (Run.Size <= kWidestAccess)
      EmitAccess(Run.Offset, Run.Size);
    else
      EmitRange(Run.Offset, B.getInt64(Run.Size));
}
