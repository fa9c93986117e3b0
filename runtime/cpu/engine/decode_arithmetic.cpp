// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: arithmetic, comparisons, casts, vectors and aggregates.
#include "decoder.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace wavesan::cpu::engine {

using namespace llvm;

void Decoder::visitBinaryOperator(BinaryOperator &i) {
  if (const auto kind = floatKindOf(i.getType())) {
    FloatBinary op;
    switch (i.getOpcode()) {
    case Instruction::FAdd: op = FloatBinary::Add; break;
    case Instruction::FSub: op = FloatBinary::Sub; break;
    case Instruction::FMul: op = FloatBinary::Mul; break;
    case Instruction::FDiv: op = FloatBinary::Div; break;
    case Instruction::FRem: op = FloatBinary::Rem; break;
    default: return visitInstruction(i);
    }
    const Operand a = operand(i.getOperand(0)), b = operand(i.getOperand(1));
    return emitLanes(handler.floatBinary(op, *kind), result(&i), a, b);
  }
  if (!i.getType()->isIntOrIntVectorTy())
    return visitInstruction(i);
  IntBinary op;
  bool isSigned = false, overflows = false;
  switch (i.getOpcode()) {
  case Instruction::Add: op = IntBinary::Add; overflows = true; break;
  case Instruction::Sub: op = IntBinary::Sub; overflows = true; break;
  case Instruction::Mul: op = IntBinary::Mul; overflows = true; break;
  case Instruction::UDiv: op = IntBinary::UDiv; break;
  case Instruction::URem: op = IntBinary::URem; break;
  case Instruction::SDiv: op = IntBinary::SDiv; isSigned = true; break;
  case Instruction::SRem: op = IntBinary::SRem; isSigned = true; break;
  case Instruction::Shl: op = IntBinary::Shl; overflows = true; break;
  case Instruction::LShr: op = IntBinary::LShr; break;
  case Instruction::AShr: op = IntBinary::AShr; isSigned = true; break;
  case Instruction::And: op = IntBinary::And; break;
  case Instruction::Or: op = IntBinary::Or; break;
  case Instruction::Xor: op = IntBinary::Xor; break;
  default: return visitInstruction(i);
  }
  const Operand a = isSigned ? signedOperand(i.getOperand(0)) : operand(i.getOperand(0));
  const bool signExtendRight = isSigned && op != IntBinary::AShr;
  const Operand b = signExtendRight ? signedOperand(i.getOperand(1)) : operand(i.getOperand(1));
  const Operand d = result(&i);
  emitLanes(handler.intBinary(op, d.width), d, a, b);
  if (isSigned || overflows)
    maskOdd(d, i.getType());
}

void Decoder::visitFNeg(UnaryOperator &i) {
  const auto kind = floatKindOf(i.getType());
  if (!kind)
    return visitInstruction(i);
  const Operand a = operand(i.getOperand(0));
  emitLanes(handler.floatUnary(FloatUnary::Neg, *kind), result(&i), a);
}

static IntCompare compareOf(CmpInst::Predicate p) {
  switch (p) {
  case CmpInst::ICMP_EQ: return IntCompare::Eq;
  case CmpInst::ICMP_NE: return IntCompare::Ne;
  case CmpInst::ICMP_UGT: return IntCompare::Ugt;
  case CmpInst::ICMP_UGE: return IntCompare::Uge;
  case CmpInst::ICMP_ULT: return IntCompare::Ult;
  case CmpInst::ICMP_ULE: return IntCompare::Ule;
  case CmpInst::ICMP_SGT: return IntCompare::Sgt;
  case CmpInst::ICMP_SGE: return IntCompare::Sge;
  case CmpInst::ICMP_SLT: return IntCompare::Slt;
  default: return IntCompare::Sle;
  }
}

void Decoder::visitICmpInst(ICmpInst &i) {
  const bool isSigned = i.isSigned();
  const Operand a = isSigned ? signedOperand(i.getOperand(0)) : operand(i.getOperand(0));
  const Operand b = isSigned ? signedOperand(i.getOperand(1)) : operand(i.getOperand(1));
  emitLanes(handler.intCompare(compareOf(i.getPredicate()), a.width), result(&i), a, b);
}

void Decoder::visitFCmpInst(FCmpInst &i) {
  const auto kind = floatKindOf(i.getOperand(0)->getType());
  if (!kind)
    return visitInstruction(i);
  // The low four bits of the predicate are the handler's equal, greater, less, unordered.
  const Operand a = operand(i.getOperand(0)), b = operand(i.getOperand(1));
  emitLanes(handler.floatCompare(*kind), result(&i), a, b, {}, uint32_t(i.getPredicate()) & 15);
}

void Decoder::visitSelectInst(SelectInst &i) {
  const Operand condition = operand(i.getCondition());
  const Registers a = use(i.getTrueValue()), b = use(i.getFalseValue()), d = define(&i);
  const ArrayRef<Leaf> leaves = leavesOf(i.getType());
  if (failed() || a.size() != leaves.size() || b.size() != leaves.size())
    return fail("a select of this type");
  if (condition.regs.size() > 1) {
    const Width w = widthOf(&i);
    return emitLanes(handler.selectVector(w), {d, w}, {a, w}, {b, w}, condition);
  }
  // The one condition register would break runs; they are built here.
  const auto contiguous = [&](Registers r, size_t k) { return r[k] == r[k - 1] + stride(leaves[k - 1].width); };
  for (size_t k = 0; k < leaves.size();) {
    size_t end = k + 1;
    while (end < leaves.size() && leaves[end].width == leaves[k].width && contiguous(a, end) && contiguous(b, end) &&
           contiguous(d, end))
      ++end;
    Op &op = emit(handler.select(leaves[k].width));
    op.d = d[k];
    op.a = a[k];
    op.b = b[k];
    op.c = condition.regs[0];
    op.n = uint32_t(end - k);
    k = end;
  }
}

void Decoder::visitCastInst(CastInst &i) {
  const Value *from = i.getOperand(0);
  Type *type = i.getType(), *fromType = from->getType();
  switch (i.getOpcode()) {
  case Instruction::BitCast: return bitCast(i, *from);
  case Instruction::AddrSpaceCast: return spaceCast(i, *from);
  case Instruction::FPTrunc:
  case Instruction::FPExt: {
    const auto a = floatKindOf(fromType), b = floatKindOf(type);
    if (!a || !b)
      return visitInstruction(i);
    const Operand s = operand(from);
    return emitLanes(handler.floatCast(*a, *b), result(&i), s);
  }
  case Instruction::FPToSI:
  case Instruction::FPToUI: {
    const auto kind = floatKindOf(fromType);
    if (!kind)
      return visitInstruction(i);
    const Operand s = operand(from), d = result(&i);
    return emitLanes(handler.floatToInt(*kind, i.getOpcode() == Instruction::FPToSI, d.width), d, s, {}, {},
                     bitsOf(type));
  }
  case Instruction::SIToFP:
  case Instruction::UIToFP: {
    const auto kind = floatKindOf(type);
    if (!kind)
      return visitInstruction(i);
    const bool isSigned = i.getOpcode() == Instruction::SIToFP;
    const Operand s = isSigned ? signedOperand(from) : operand(from);
    return emitLanes(handler.intToFloat(s.width, isSigned, *kind), result(&i), s);
  }
  case Instruction::SExt: {
    const Operand s = operand(from), d = result(&i);
    emitLanes(handler.signExtend(s.width, d.width), d, s, {}, {}, bytesOf(s.width) * 8 - bitsOf(fromType));
    return maskOdd(d, type);
  }
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::PtrToInt:
  case Instruction::PtrToAddr:
  case Instruction::IntToPtr: {
    const Operand s = operand(from);
    const bool narrows = bitsOf(type) < bitsOf(fromType);
    if (s.width == widthOf(&i) && !narrows)
      return alias(&i, s.regs);
    const Operand d = result(&i);
    emitLanes(handler.zeroExtendOrTruncate(s.width, d.width), d, s);
    if (narrows)
      maskOdd(d, type);
    return;
  }
  default: return visitInstruction(i);
  }
}

void Decoder::bitCast(const Value &to, const Value &from) {
  const Registers source = use(&from);
  const ArrayRef<Leaf> a = leavesOf(from.getType()), b = leavesOf(to.getType());
  if (failed())
    return;
  if (a.size() == b.size() && (a.empty() || a[0].bits == b[0].bits))
    return alias(&to, source);
  const Registers d = define(&to);
  const auto whole = [](const Leaf &leaf) { return leaf.bits == bytesOf(leaf.width) * 8; };
  const auto contiguous = [&](Registers r, Width w) {
    for (size_t k = 1; k < r.size(); ++k)
      if (r[k] != r[k - 1] + stride(w))
        return false;
    return true;
  };
  if (whole(a[0]) && whole(b[0])) {
    const bool splits = a.size() < b.size();
    const size_t ratio = splits ? b.size() / a.size() : a.size() / b.size();
    const Handler h = splits ? handler.split(a[0].width, b[0].width) : handler.join(a[0].width, b[0].width);
    if (h && ratio * std::min(a.size(), b.size()) == std::max(a.size(), b.size()) && contiguous(d, b[0].width)) {
      // One operation for each wide element whose narrow elements are contiguous; the whole at once if all are.
      if (contiguous(source, a[0].width)) {
        Op &op = emit(h);
        op.d = d[0];
        op.a = source[0];
        op.n = uint32_t(std::min(a.size(), b.size()));
        return;
      }
      if (splits) {
        for (size_t k = 0; k < a.size(); ++k) {
          Op &op = emit(h);
          op.d = d[k * ratio];
          op.a = source[k];
        }
        return;
      }
    }
  }
  SmallVector<RepackLeaf, 8> before, after;
  for (size_t k = 0; k < a.size(); ++k)
    before.push_back({source[k], a[k].width, a[k].bits});
  for (size_t k = 0; k < b.size(); ++k)
    after.push_back({d[k], b[k].width, b[k].bits});
  repack(before, after);
}

void Decoder::spaceCast(const Value &to, const Value &from) {
  const auto a = spaceOf(from.getType()->getScalarType()->getPointerAddressSpace());
  const auto b = spaceOf(to.getType()->getScalarType()->getPointerAddressSpace());
  if (!a || !b)
    return fail("a cast between these address spaces");
  const Operand s = operand(&from);
  if (*a == *b)
    return alias(&to, s.regs);
  if (*a != Space::Flat && *b != Space::Flat)
    return fail("a cast between LDS and private pointers");
  const Handler h = *b == Space::Flat ? castToFlat(*a) : castFromFlat(*b);
  emitLanes(h, result(&to), s);
}

void Decoder::visitFreezeInst(FreezeInst &i) { alias(&i, use(i.getOperand(0))); }

void Decoder::visitExtractElementInst(ExtractElementInst &i) {
  const Registers vector = use(i.getVectorOperand());
  if (auto *index = dyn_cast<ConstantInt>(i.getIndexOperand())) {
    if (vector.empty())
      return fail("an element of this vector");
    const uint64_t k = index->getValue().getLimitedValue();
    return alias(&i, vector.slice(k < vector.size() ? size_t(k) : 0, 1)); // beyond the end: poison
  }
  const Width w = widthOf(&i);
  const Registers whole = temporary(w, uint32_t(vector.size()));
  const Operand index = operand(i.getIndexOperand());
  emitLanes(handler.move(w), {whole, w}, {vector, w});
  const Registers d = define(&i);
  if (failed())
    return;
  Op &op = emit(dynamicExtract(w));
  op.d = d[0];
  op.a = whole[0];
  op.c = index.regs[0];
  op.n = uint32_t(vector.size());
  op.sub = uint32_t(index.width);
}

void Decoder::visitInsertElementInst(InsertElementInst &i) {
  const Registers vector = use(i.getOperand(0)), element = use(i.getOperand(1));
  if (failed() || element.size() != 1)
    return fail("an element of this vector");
  if (auto *index = dyn_cast<ConstantInt>(i.getOperand(2))) {
    SmallVector<Register, 8> regs(vector.begin(), vector.end());
    const uint64_t k = index->getValue().getLimitedValue();
    if (k < regs.size())
      regs[k] = element[0];
    return alias(&i, regs);
  }
  const Width w = widthOf(i.getOperand(1));
  const Registers whole = temporary(w, uint32_t(vector.size()));
  const Operand index = operand(i.getOperand(2));
  emitLanes(handler.move(w), {whole, w}, {vector, w});
  const Registers d = define(&i);
  if (failed())
    return;
  for (size_t k = 1; k < d.size(); ++k)
    if (d[k] != d[k - 1] + stride(w))
      return fail("insertelement in irreducible control flow");
  Op &op = emit(dynamicInsert(w));
  op.d = d[0];
  op.a = whole[0];
  op.b = element[0];
  op.c = index.regs[0];
  op.n = uint32_t(vector.size());
  op.sub = uint32_t(index.width);
}

void Decoder::visitShuffleVectorInst(ShuffleVectorInst &i) {
  const Registers a = use(i.getOperand(0)), b = use(i.getOperand(1));
  if (failed() || a.empty())
    return fail("a shuffle of this type");
  SmallVector<Register, 16> regs;
  for (const int k : i.getShuffleMask())
    regs.push_back(k < 0 ? a[0] : size_t(k) < a.size() ? a[size_t(k)] : b[size_t(k) - a.size()]);
  alias(&i, regs);
}

/// Index of the first leaf of the element that `indices` name.
static uint32_t leafIndex(Type *type, ArrayRef<unsigned> indices) {
  uint32_t first = 0;
  for (const unsigned index : indices) {
    if (auto *s = dyn_cast<StructType>(type)) {
      for (unsigned k = 0; k < index; ++k)
        first += leafCount(s->getElementType(k));
      type = s->getElementType(index);
    } else {
      type = cast<ArrayType>(type)->getElementType();
      first += index * leafCount(type);
    }
  }
  return first;
}

void Decoder::visitExtractValueInst(ExtractValueInst &i) {
  const Registers whole = use(i.getAggregateOperand());
  const uint32_t first = leafIndex(i.getAggregateOperand()->getType(), i.getIndices());
  const uint32_t n = leafCount(i.getType());
  if (failed() || first + n > whole.size())
    return fail("an element of this aggregate");
  alias(&i, whole.slice(first, n));
}

void Decoder::visitInsertValueInst(InsertValueInst &i) {
  const Registers whole = use(i.getAggregateOperand()), part = use(i.getInsertedValueOperand());
  const uint32_t first = leafIndex(i.getType(), i.getIndices());
  if (failed() || first + part.size() > whole.size())
    return fail("an element of this aggregate");
  SmallVector<Register, 8> regs(whole.begin(), whole.end());
  for (size_t k = 0; k < part.size(); ++k)
    regs[first + k] = part[k];
  alias(&i, regs);
}

} // namespace wavesan::cpu::engine
