// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: addresses and memory.
#include "decoder.h"
#include "independence.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Support/MathExtras.h"

namespace wavesan::cpu::engine {

using namespace llvm;

void Decoder::visitGetElementPtrInst(GetElementPtrInst &i) {
  const Operand base = operand(i.getPointerOperand());
  const ArrayRef<Leaf> leaves = leavesOf(i.getType());
  if (failed())
    return;
  const Width pointer = leaves[0].width;
  const size_t n = leaves.size();

  struct Term {
    Operand index;
    uint64_t scale;
  };
  SmallVector<Term, 4> terms;
  int64_t offset = 0;
  for (auto it = gep_type_begin(i), end = gep_type_end(i); it != end; ++it) {
    const Value *index = it.getOperand();
    const Constant *splat = dyn_cast<Constant>(index);
    if (splat && splat->getType()->isVectorTy())
      splat = splat->getSplatValue();
    const auto *number = dyn_cast_or_null<ConstantInt>(splat);
    if (StructType *s = it.getStructTypeOrNull()) {
      offset += int64_t(uint64_t(layout.getStructLayout(s)->getElementOffset(unsigned(number->getZExtValue()))));
      continue;
    }
    const uint64_t scale = it.getSequentialElementStride(layout);
    if (number) {
      offset += int64_t(uint64_t(number->getValue().sextOrTrunc(64).getSExtValue()) * scale);
      continue;
    }
    Operand x = operand(index);
    if (x.width == Width::B128)
      return fail("a 128-bit array index");
    if (x.width == Width::B8 || x.width == Width::B16) {
      const Operand wide{temporary(Width::B32, uint32_t(x.regs.size())), Width::B32};
      emitLanes(handler.signExtend(x.width, Width::B32), wide, x, {}, {},
                bytesOf(x.width) * 8 - bitsOf(index->getType()));
      x = wide;
    } else {
      x = signedOperand(index);
    }
    terms.push_back({x, scale});
  }

  if (terms.empty() && offset == 0 && base.regs.size() == n)
    return alias(&i, base.regs);
  const Operand d = result(&i);
  if (terms.empty())
    return emitLanes(handler.intUnary(IntUnary::AddImm, pointer), d, base, {}, {}, 0, uint64_t(offset));
  Operand sum = base;
  if (!isInt<32>(offset)) {
    const Operand t{temporary(pointer, uint32_t(n)), pointer};
    emitLanes(handler.intUnary(IntUnary::AddImm, pointer), t, sum, {}, {}, 0, uint64_t(offset));
    sum = t;
    offset = 0;
  }
  for (size_t k = 0; k < terms.size(); ++k) {
    const bool last = k + 1 == terms.size();
    const Operand t = last ? d : Operand{temporary(pointer, uint32_t(n)), pointer};
    emitLanes(handler.scaledAdd(pointer, terms[k].index.width), t, sum, terms[k].index, {},
              uint32_t(int32_t(offset)), terms[k].scale);
    offset = 0;
    sum = t;
  }
}

// A read of the kernarg segment at a constant offset is checked against the segment's size.
void Decoder::checkKernargRead(const Value *pointer, uint64_t bytes) {
  APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  const Value *base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
  const auto *call = dyn_cast<IntrinsicInst>(base);
  if (!call)
    return;
  int64_t start;
  if (call->getIntrinsicID() == Intrinsic::amdgcn_implicitarg_ptr)
    start = int64_t(alignTo(context.explicitBytes, 8));
  else if (call->getIntrinsicID() == Intrinsic::amdgcn_kernarg_segment_ptr)
    start = 0;
  else
    return;
  emit(kernargCheck()).imm = uint64_t(start + offset.getSExtValue()) + bytes;
}

// Loads or stores all leaves; neighbours of one width in one operation.
void Decoder::accessLeaves(bool isLoad, const Value *pointer, Type *type, Registers regs) {
  const auto space = spaceOf(pointer->getType()->getPointerAddressSpace());
  if (!space)
    return fail(Twine("memory access in address space ") + Twine(pointer->getType()->getPointerAddressSpace()));
  const ArrayRef<Leaf> leaves = leavesOf(type);
  const Register address = use1(pointer);
  if (failed() || regs.size() != leaves.size())
    return fail("a memory access of this type");
  for (size_t k = 0; k < leaves.size();) {
    const Leaf &leaf = leaves[k];
    if (leaf.packed)
      return fail("memory access to a vector of elements that are no whole bytes");
    const uint32_t bytes = (leaf.bits + 7) / 8;
    const bool whole = bytes == bytesOf(leaf.width);
    size_t end = k + 1;
    while (whole && end < leaves.size() && leaves[end].bits == leaf.bits &&
           leaves[end].offset == leaves[end - 1].offset + bytes && regs[end] == regs[end - 1] + stride(leaf.width))
      ++end;
    const Handler h = whole ? (isLoad ? handler.load(*space, leaf.width) : handler.store(*space, leaf.width))
                            : (isLoad ? oddLoad(*space, leaf.width) : oddStore(*space, leaf.width));
    if (!isLoad)
      noteWrite(*space, address, leaf.offset, uint64_t(end - k) * bytes);
    Op &op = emit(h);
    op.a = address;
    (isLoad ? op.d : op.b) = regs[k];
    op.n = uint32_t(end - k);
    op.sub = bytes;
    op.imm = leaf.offset;
    if (isLoad && leaf.bits != bytesOf(leaf.width) * 8)
      for (size_t j = k; j < end; ++j)
        maskOdd({regs.slice(j, 1), leaf.width}, leaf.type);
    k = end;
  }
}

void Decoder::visitLoadInst(LoadInst &i) {
  const Value *pointer = i.getPointerOperand();
  checkKernargRead(pointer, layout.getTypeStoreSize(i.getType()));
  if (!i.isAtomic())
    return accessLeaves(true, pointer, i.getType(), define(&i));
  const auto space = spaceOf(i.getPointerAddressSpace());
  const Register address = use1(pointer);
  const Registers d = define(&i);
  if (!space || d.size() != 1 || isOdd(i.getType()))
    return fail("an atomic load of this type");
  Op &op = emit(atomicLoad(*space, widthOf(&i)));
  op.a = address;
  op.d = d[0];
}

void Decoder::visitStoreInst(StoreInst &i) {
  const Value *pointer = i.getPointerOperand(), *value = i.getValueOperand();
  const Registers b = use(value);
  if (!i.isAtomic()) {
    checkStore(i, b);
    return accessLeaves(false, pointer, value->getType(), b);
  }
  const auto space = spaceOf(i.getPointerAddressSpace());
  const Register address = use1(pointer);
  if (!space || b.size() != 1 || isOdd(value->getType()))
    return fail("an atomic store of this type");
  noteWrite(*space, address, 0, bytesOf(widthOf(value)));
  Op &op = emit(atomicStore(*space, widthOf(value)));
  op.a = address;
  op.b = b[0];
}

static std::optional<RmwOp> rmwOf(AtomicRMWInst::BinOp op) {
  switch (op) {
  case AtomicRMWInst::Xchg: return RmwOp::Xchg;
  case AtomicRMWInst::Add: return RmwOp::Add;
  case AtomicRMWInst::Sub: return RmwOp::Sub;
  case AtomicRMWInst::And: return RmwOp::And;
  case AtomicRMWInst::Nand: return RmwOp::Nand;
  case AtomicRMWInst::Or: return RmwOp::Or;
  case AtomicRMWInst::Xor: return RmwOp::Xor;
  case AtomicRMWInst::Max: return RmwOp::Max;
  case AtomicRMWInst::Min: return RmwOp::Min;
  case AtomicRMWInst::UMax: return RmwOp::UMax;
  case AtomicRMWInst::UMin: return RmwOp::UMin;
  case AtomicRMWInst::FAdd: return RmwOp::FAdd;
  case AtomicRMWInst::FSub: return RmwOp::FSub;
  case AtomicRMWInst::FMax: return RmwOp::FMax;
  case AtomicRMWInst::FMin: return RmwOp::FMin;
  case AtomicRMWInst::FMaximum: return RmwOp::FMaximum;
  case AtomicRMWInst::FMinimum: return RmwOp::FMinimum;
  case AtomicRMWInst::UIncWrap: return RmwOp::UIncWrap;
  case AtomicRMWInst::UDecWrap: return RmwOp::UDecWrap;
  case AtomicRMWInst::USubCond: return RmwOp::USubCond;
  case AtomicRMWInst::USubSat: return RmwOp::USubSat;
  default: return std::nullopt;
  }
}

void Decoder::visitAtomicRMWInst(AtomicRMWInst &i) {
  const auto space = spaceOf(i.getPointerAddressSpace());
  const auto rmw = rmwOf(i.getOperation());
  const Register address = use1(i.getPointerOperand());
  const Operand b = operand(i.getValOperand());
  if (failed() || !space || !rmw)
    return fail(Twine("atomicrmw ") + AtomicRMWInst::getOperationName(i.getOperation()));
  Handler h = nullptr;
  Registers source = b.regs;
  if (AtomicRMWInst::isFPOperation(i.getOperation())) {
    const auto kind = floatKindOf(i.getType());
    h = kind ? atomicRmwFloat(*space, *rmw, *kind, uint32_t(b.regs.size())) : nullptr;
    if (b.regs.size() > 1) { // the handler takes both elements from consecutive registers
      source = temporary(b.width, uint32_t(b.regs.size()));
      emitLanes(handler.move(b.width), {source, b.width}, b);
    }
  } else if (b.regs.size() == 1 && !isOdd(i.getType())) {
    h = atomicRmw(*space, *rmw, b.width);
  }
  if (!h)
    return fail(Twine("atomicrmw ") + AtomicRMWInst::getOperationName(i.getOperation()) + " of this type");
  const Register d = i.use_empty() ? kNoRegister : define(&i)[0];
  noteWrite(*space, address, 0, layout.getTypeStoreSize(i.getType()));
  Op &op = emit(h);
  op.a = address;
  op.b = source[0];
  op.d = d;
}

void Decoder::visitAtomicCmpXchgInst(AtomicCmpXchgInst &i) {
  const auto space = spaceOf(i.getPointerAddressSpace());
  const Register address = use1(i.getPointerOperand());
  const Registers expected = use(i.getCompareOperand()), desired = use(i.getNewValOperand());
  const Registers d = define(&i);
  if (failed() || !space || expected.size() != 1 || d.size() != 2 || isOdd(i.getCompareOperand()->getType()))
    return fail("cmpxchg of this type");
  noteWrite(*space, address, 0, bytesOf(widthOf(i.getCompareOperand())));
  Op &op = emit(atomicCompareExchange(*space, widthOf(i.getCompareOperand())));
  op.a = address;
  op.b = expected[0];
  op.c = desired[0];
  op.d = d[0];
  op.extra = extra<Register>(d[1]);
}

void Decoder::visitFenceInst(FenceInst &i) { emit(fenceOp(!staysInWorkgroup(i))); }

void Decoder::visitAllocaInst(AllocaInst &i) {
  const auto size = i.getAllocationSize(layout);
  if (!size || size->isScalable())
    return fail("alloca of variable size");
  if (spaceOf(i.getAddressSpace()) != Space::Private)
    return fail("alloca outside the private address space");
  // One place for each alloca, also where control passes it more than once.
  const uint64_t start = alignTo(uint64_t(out->privateBytes), i.getAlign());
  const uint64_t end = start + size->getFixedValue();
  if (end > (uint64_t(1) << 30))
    return fail("alloca of more than 1 GiB");
  out->privateBytes = uint32_t(end);
  const Registers d = define(&i);
  Op &op = emit(allocaOp());
  op.d = d[0];
  op.imm = start;
}

} // namespace wavesan::cpu::engine
