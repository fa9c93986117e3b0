// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "BufferAccess.h"

#include "LlvmVersions.h"
#include "Target.h"

#include "wavesan/abi/hooks.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace wavesan;

bool BufferAccess::allOrNothing() const { return (Bits & abi::kAccessAtomic) != 0; }

std::optional<BufferAccess> wavesan::bufferAccess(const IntrinsicInst &I) {
  StringRef Name = amdgcnName(I);
  BufferAccess Access;
  const bool IsStruct = Name.consume_front("struct.");
  if (!IsStruct && !Name.consume_front("raw."))
    return std::nullopt;
  Name.consume_front("ptr.");
  constexpr uint32_t kReadModifyWrite = abi::kAccessRead | abi::kAccessWrite | abi::kAccessAtomic;
  if (Name.contains("format") || Name.contains("tbuffer"))
    return std::nullopt;
  unsigned At = 0; // the resource
  bool IsCopy = false;
  if (Name.starts_with("buffer.load.lds")) {
    Access.Bits = abi::kAccessRead;
    IsCopy = true;
  } else if (Name.contains("buffer.load.async")) {
    return std::nullopt;
  } else if (Name.starts_with("buffer.load")) {
    Access.Bits = abi::kAccessRead;
    Access.Data = I.getType();
  } else if (Name.starts_with("atomic.buffer.load")) {
    Access.Bits = abi::kAccessRead | abi::kAccessAtomic;
    Access.Data = I.getType();
  } else if (Name.starts_with("buffer.store")) {
    Access.Bits = abi::kAccessWrite;
    At = 1;
    Access.Data = I.getArgOperand(0)->getType();
  } else if (Name.starts_with("buffer.atomic.")) {
    Access.Bits = kReadModifyWrite;
    At = 1;
    if (Name.contains("cmpswap"))
      Access.Compare = I.getArgOperand(At++);
    Access.Data = I.getArgOperand(0)->getType();
  } else {
    return std::nullopt;
  }
  Access.Resource = I.getArgOperand(At++);
  if (IsCopy)
    At += 2; // LDS address, size
  if (IsStruct)
    Access.Index = I.getArgOperand(At++);
  Access.Offset = I.getArgOperand(At++);
  Access.ScalarOffset = I.getArgOperand(At++);
  if (auto *Offset = IsCopy ? dyn_cast<ConstantInt>(I.getArgOperand(At)) : nullptr)
    Access.Immediate = Offset->getZExtValue();
  return Access;
}

// Word 0 and the low half of word 1: base. Word 1, bits 16 to 29: stride. Word 2: number of records. Word 3, bits 28
// and 29 (since gfx10): which check.
BufferRange wavesan::emitBufferRange(IRBuilder<> &B, const BufferAccess &Access, uint64_t Bytes,
                                     const GpuTarget &Target) {
  Type *I64 = B.getInt64Ty();
  Value *Resource = Access.Resource;
  if (Resource->getType()->isPointerTy())
    Resource = B.CreatePtrToInt(Resource, B.getInt128Ty());
  Value *Words = B.CreateBitCast(Resource, FixedVectorType::get(B.getInt32Ty(), 4));
  const auto word = [&](uint64_t K) { return B.CreateZExt(B.CreateExtractElement(Words, K), I64); };
  const auto number = [&](uint64_t V) { return B.getInt64(V); };
  Value *High = word(1);
  Value *Base = B.CreateOr(word(0), B.CreateShl(B.CreateAnd(High, 0xffff), 32));
  Value *Stride = B.CreateAnd(B.CreateLShr(High, 16), 0x3fff);
  Value *Records = word(2);
  Value *Scalar = B.CreateZExt(Access.ScalarOffset, I64);
  Value *Offset = B.CreateAdd(B.CreateZExt(Access.Offset, I64), number(Access.Immediate));
  Value *Index = Access.Index ? B.CreateZExt(Access.Index, I64) : number(0);

  // In range: the bytes below Limit, if Inside.
  Value *Limit, *Inside;
  Value *IndexInside = B.CreateICmpULT(Index, Records);
  if (Target.Major == 9) {
    Value *Left = B.CreateBinaryIntrinsic(Intrinsic::usub_sat, Records, Scalar);
    if (Access.Index) {
      Value *IsArray = B.CreateICmpNE(Stride, number(0));
      Limit = B.CreateSelect(IsArray, number(~uint64_t(0)), Left);
      Inside = B.CreateSelect(IsArray, IndexInside, B.getTrue());
    } else {
      Limit = Left;
      Inside = B.getTrue();
    }
  } else {
    Value *Select = B.CreateAnd(B.CreateLShr(word(3), 28), 3);
    const auto is = [&](uint64_t V) { return B.CreateICmpEQ(Select, number(V)); };
    Limit = B.CreateSelect(is(0), Stride, B.CreateSelect(is(3), Records, number(~uint64_t(0))));
    Inside = B.CreateSelect(is(3), B.getTrue(), B.CreateSelect(is(2), B.CreateICmpNE(Records, number(0)), IndexInside));
  }
  // Up to gfx10 a component is in range if its first byte is, since gfx11 if all of it is.
  const uint64_t Component = Access.allOrNothing() ? Bytes : std::min<uint64_t>(Bytes, 4);
  Value *Room = B.CreateBinaryIntrinsic(Intrinsic::usub_sat, Limit, Offset);
  Value *Components = B.CreateUDiv(
      Target.Major >= 11 ? Room : B.CreateBinaryIntrinsic(Intrinsic::uadd_sat, Room, number(Component - 1)),
      number(Component));
  Components = B.CreateBinaryIntrinsic(Intrinsic::umin, Components, number(Bytes / Component));
  Value *Address = B.CreateAdd(B.CreateAdd(Base, Scalar), B.CreateAdd(Offset, B.CreateMul(Index, Stride)));
  return {Address, B.CreateSelect(Inside, B.CreateMul(Components, number(Component)), number(0))};
}
