// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: target-independent intrinsics.
#include "decoder.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Metadata.h"

namespace wavesan::cpu::engine {

using namespace llvm;

void Decoder::decodeIntrinsic(CallBase &i, unsigned id) {
  if (decodeGenericIntrinsic(i, id) || decodeFloatIntrinsic(i, id) || decodeAmdgcnIntrinsic(i, id) ||
      decodeCrossLaneIntrinsic(i, id) || decodeWait(i, id) || decodeCopy(i) || decodeBuffer(i) || decodeMatrix(i, id) ||
      decodeConversion(i, id)) {
    // The reason alone ("this combination of types") does not say which intrinsic it was.
    if (failed())
      failure = i.getCalledFunction()->getName().str() + " (" + failure + ")";
    return;
  }
  fail(i.getCalledFunction()->getName());
}

void Decoder::intBinaryCall(CallBase &i, IntBinary op, bool isSigned) {
  const Operand a = isSigned ? signedOperand(i.getArgOperand(0)) : operand(i.getArgOperand(0));
  const Operand b = isSigned ? signedOperand(i.getArgOperand(1)) : operand(i.getArgOperand(1));
  const Operand d = result(&i);
  emitLanes(handler.intBinary(op, d.width), d, a, b);
  if (isSigned)
    maskOdd(d, i.getType());
}

void Decoder::intUnaryCall(CallBase &i, IntUnary op, uint32_t sub) {
  const Operand a = op == IntUnary::Abs ? signedOperand(i.getArgOperand(0)) : operand(i.getArgOperand(0));
  const Operand d = result(&i);
  emitLanes(handler.intUnary(op, d.width), d, a, {}, {}, sub);
  maskOdd(d, i.getType());
}

void Decoder::floatUnaryCall(CallBase &i, FloatUnary op) {
  const auto kind = floatKindOf(i.getType());
  const Operand a = operand(i.getArgOperand(0));
  emitLanes(kind ? handler.floatUnary(op, *kind) : nullptr, result(&i), a);
}
void Decoder::floatBinaryCall(CallBase &i, FloatBinary op) {
  const auto kind = floatKindOf(i.getType());
  const Operand a = operand(i.getArgOperand(0)), b = operand(i.getArgOperand(1));
  emitLanes(kind ? handler.floatBinary(op, *kind) : nullptr, result(&i), a, b);
}
void Decoder::floatTernaryCall(CallBase &i, FloatTernary op) {
  const auto kind = floatKindOf(i.getType());
  const Operand a = operand(i.getArgOperand(0)), b = operand(i.getArgOperand(1)), c = operand(i.getArgOperand(2));
  emitLanes(kind ? handler.floatTernary(op, *kind) : nullptr, result(&i), a, b, c);
}

void Decoder::overflowCall(CallBase &i, Overflow op) {
  const Value *left = i.getArgOperand(0);
  if (isOdd(left->getType()))
    return fail("an integer of odd width");
  const Operand a = operand(left), b = operand(i.getArgOperand(1));
  const Registers d = define(&i);
  const size_t n = a.regs.size();
  if (failed() || d.size() != 2 * n)
    return fail("operands of different shapes");
  // c is a destination here: the flags.
  emitLanes(handler.overflow(op, a.width), {d.take_front(n), a.width}, a, b, {d.drop_front(n), Width::B8});
}

// Combines the elements one after the other, from the first.
void Decoder::reduceCall(CallBase &i, Handler combine, bool hasStart) {
  const Operand vector = operand(i.getArgOperand(hasStart ? 1 : 0));
  const Registers d = define(&i);
  if (failed() || vector.regs.empty())
    return fail("a vector of this type");
  Register sum = hasStart ? use1(i.getArgOperand(0)) : vector.regs[0];
  const Registers rest = hasStart ? vector.regs : vector.regs.drop_front();
  if (rest.empty())
    return emitLanes(handler.move(vector.width), {d, vector.width}, vector);
  for (size_t k = 0; k < rest.size(); ++k) {
    const Operand to = k + 1 == rest.size() ? Operand{d, vector.width} : Operand{temporary(vector.width, 1), vector.width};
    emitLanes(combine, to, {copyOf(sum), vector.width}, {rest.slice(k, 1), vector.width});
    maskOdd(to, i.getType());
    sum = to.regs[0];
  }
}

bool Decoder::decodeGenericIntrinsic(CallBase &i, unsigned id) {
  const auto argument = [&](unsigned k) { return i.getArgOperand(k); };
  Type *type = i.getType();
  const auto containerBits = [&] { return bytesOf(widthOf(argument(0))) * 8; };
  const auto oddBits = [&] { return containerBits() - bitsOf(argument(0)->getType()); };
  const auto evenOnly = [&](auto &&then) {
    if (isOdd(type))
      fail("an integer of odd width");
    else
      then();
    return true;
  };
  const auto reduceInt = [&](IntBinary op) {
    if (isOdd(type) && (op == IntBinary::SMin || op == IntBinary::SMax))
      fail("an integer of odd width");
    else
      reduceCall(i, handler.intBinary(op, widthOf(&i)), false);
    return true;
  };
  switch (id) {
  // Say nothing about what is computed.
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::invariant_end:
  case Intrinsic::assume:
  case Intrinsic::sideeffect:
  case Intrinsic::donothing:
  case Intrinsic::fake_use:
  case Intrinsic::prefetch:
  case Intrinsic::pseudoprobe:
  case Intrinsic::var_annotation:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::stackrestore: // allocas have fixed places
    return true;
  case Intrinsic::invariant_start:
  case Intrinsic::stacksave:
    alias(&i, constant(widthOf(&i), 0));
    return true;
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
  case Intrinsic::ssa_copy:
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::ptr_annotation:
  case Intrinsic::annotation:
  case Intrinsic::arithmetic_fence:
    alias(&i, use(argument(0)));
    return true;
  case Intrinsic::is_constant:
    alias(&i, constant(Width::B8, 0));
    return true;
  case Intrinsic::trap:
  case Intrinsic::ubsantrap:
    emit(trap());
    return true;
  case Intrinsic::debugtrap:
    return true;
  case Intrinsic::memcpy:
  case Intrinsic::memcpy_inline:
  case Intrinsic::memmove: {
    const auto to = spaceOf(argument(0)->getType()->getPointerAddressSpace());
    const auto from = spaceOf(argument(1)->getType()->getPointerAddressSpace());
    if (!to || !from)
      return fail("these address spaces"), true;
    const Register a = use1(argument(0)), b = use1(argument(1)), c = use1(argument(2));
    checkRange(i, *to, from, {a, b, c});
    noteRangeWrite(*to, a, c, widthOf(argument(2)));
    Op &op = emit(copyMemory(*to, *from, widthOf(argument(2))));
    op.a = a, op.b = b, op.c = c;
    return true;
  }
  case Intrinsic::memset:
  case Intrinsic::memset_inline: {
    const auto to = spaceOf(argument(0)->getType()->getPointerAddressSpace());
    if (!to)
      return fail("this address space"), true;
    const Register a = use1(argument(0)), b = use1(argument(1)), c = use1(argument(2));
    checkRange(i, *to, std::nullopt, {a, b, c});
    noteRangeWrite(*to, a, c, widthOf(argument(2)));
    Op &op = emit(setMemory(*to, widthOf(argument(2))));
    op.a = a, op.b = b, op.c = c;
    return true;
  }
  case Intrinsic::ctpop: return intUnaryCall(i, IntUnary::CtPop, 0), true;
  case Intrinsic::ctlz: return intUnaryCall(i, IntUnary::CtLz, oddBits()), true;
  case Intrinsic::cttz: return intUnaryCall(i, IntUnary::CtTz, bitsOf(type)), true;
  case Intrinsic::bswap: return intUnaryCall(i, IntUnary::BSwap, oddBits()), true;
  case Intrinsic::bitreverse: return intUnaryCall(i, IntUnary::BitReverse, oddBits()), true;
  case Intrinsic::abs: return intUnaryCall(i, IntUnary::Abs, 0), true;
  case Intrinsic::smin: return intBinaryCall(i, IntBinary::SMin, true), true;
  case Intrinsic::smax: return intBinaryCall(i, IntBinary::SMax, true), true;
  case Intrinsic::umin: return intBinaryCall(i, IntBinary::UMin, false), true;
  case Intrinsic::umax: return intBinaryCall(i, IntBinary::UMax, false), true;
  case Intrinsic::usub_sat: return intBinaryCall(i, IntBinary::USubSat, false), true;
  case Intrinsic::uadd_sat: return evenOnly([&] { intBinaryCall(i, IntBinary::UAddSat, false); });
  case Intrinsic::sadd_sat: return evenOnly([&] { intBinaryCall(i, IntBinary::SAddSat, false); });
  case Intrinsic::ssub_sat: return evenOnly([&] { intBinaryCall(i, IntBinary::SSubSat, false); });
  case Intrinsic::ushl_sat: return evenOnly([&] { intBinaryCall(i, IntBinary::UShlSat, false); });
  case Intrinsic::uadd_with_overflow: return overflowCall(i, Overflow::UAdd), true;
  case Intrinsic::sadd_with_overflow: return overflowCall(i, Overflow::SAdd), true;
  case Intrinsic::usub_with_overflow: return overflowCall(i, Overflow::USub), true;
  case Intrinsic::ssub_with_overflow: return overflowCall(i, Overflow::SSub), true;
  case Intrinsic::umul_with_overflow: return overflowCall(i, Overflow::UMul), true;
  case Intrinsic::smul_with_overflow: return overflowCall(i, Overflow::SMul), true;
  case Intrinsic::fshl:
  case Intrinsic::fshr:
    return evenOnly([&] {
      const Operand a = operand(argument(0)), b = operand(argument(1)), c = operand(argument(2));
      const IntTernary op = id == Intrinsic::fshl ? IntTernary::FShl : IntTernary::FShr;
      emitLanes(handler.intTernary(op, a.width), result(&i), a, b, c);
    });
  case Intrinsic::scmp:
  case Intrinsic::ucmp: {
    // (a > b) - (a < b)
    const bool isSigned = id == Intrinsic::scmp;
    const Operand a = isSigned ? signedOperand(argument(0)) : operand(argument(0));
    const Operand b = isSigned ? signedOperand(argument(1)) : operand(argument(1));
    const Operand d = result(&i);
    const uint32_t n = uint32_t(a.regs.size());
    const Operand greater{temporary(Width::B8, n), Width::B8}, less{temporary(Width::B8, n), Width::B8};
    emitLanes(handler.intCompare(isSigned ? IntCompare::Sgt : IntCompare::Ugt, a.width), greater, a, b);
    emitLanes(handler.intCompare(isSigned ? IntCompare::Slt : IntCompare::Ult, a.width), less, a, b);
    const Operand wideGreater{temporary(d.width, n), d.width}, wideLess{temporary(d.width, n), d.width};
    emitLanes(handler.zeroExtendOrTruncate(Width::B8, d.width), wideGreater, greater);
    emitLanes(handler.zeroExtendOrTruncate(Width::B8, d.width), wideLess, less);
    emitLanes(handler.intBinary(IntBinary::Sub, d.width), d, wideGreater, wideLess);
    maskOdd(d, type);
    return true;
  }
  case Intrinsic::ptrmask: {
    const Operand a = operand(argument(0)), b = operand(argument(1));
    emitLanes(a.width == b.width ? handler.intBinary(IntBinary::And, a.width) : nullptr, result(&i), a, b);
    return true;
  }
  case Intrinsic::vector_reduce_add: return reduceInt(IntBinary::Add);
  case Intrinsic::vector_reduce_mul: return reduceInt(IntBinary::Mul);
  case Intrinsic::vector_reduce_and: return reduceInt(IntBinary::And);
  case Intrinsic::vector_reduce_or: return reduceInt(IntBinary::Or);
  case Intrinsic::vector_reduce_xor: return reduceInt(IntBinary::Xor);
  case Intrinsic::vector_reduce_smin: return reduceInt(IntBinary::SMin);
  case Intrinsic::vector_reduce_smax: return reduceInt(IntBinary::SMax);
  case Intrinsic::vector_reduce_umin: return reduceInt(IntBinary::UMin);
  case Intrinsic::vector_reduce_umax: return reduceInt(IntBinary::UMax);
  case Intrinsic::vector_extract: {
    const Registers vector = use(argument(0));
    const uint64_t first = cast<ConstantInt>(argument(1))->getZExtValue();
    const uint32_t n = leafCount(type);
    if (failed() || first + n > vector.size())
      return fail("this range of elements"), true;
    alias(&i, vector.slice(size_t(first), n));
    return true;
  }
  case Intrinsic::vector_insert: {
    const Registers vector = use(argument(0)), part = use(argument(1));
    const uint64_t first = cast<ConstantInt>(argument(2))->getZExtValue();
    if (failed() || first + part.size() > vector.size())
      return fail("this range of elements"), true;
    SmallVector<Register, 8> regs(vector.begin(), vector.end());
    for (size_t k = 0; k < part.size(); ++k)
      regs[size_t(first) + k] = part[k];
    alias(&i, regs);
    return true;
  }
  case Intrinsic::vector_reverse: {
    const Registers vector = use(argument(0));
    const SmallVector<Register, 8> regs(vector.rbegin(), vector.rend());
    alias(&i, regs);
    return true;
  }
  case Intrinsic::vector_splice_left:
  case Intrinsic::vector_splice_right: {
    const Registers a = use(argument(0)), b = use(argument(1));
    const uint64_t offset = cast<ConstantInt>(argument(2))->getZExtValue();
    if (failed() || offset > a.size())
      return fail("this range of elements"), true;
    SmallVector<Register, 16> both(a.begin(), a.end());
    both.append(b.begin(), b.end());
    const size_t first = id == Intrinsic::vector_splice_left ? size_t(offset) : a.size() - size_t(offset);
    alias(&i, ArrayRef(both).slice(first, a.size()));
    return true;
  }
  case Intrinsic::vector_interleave2:
  case Intrinsic::vector_interleave3:
  case Intrinsic::vector_interleave4:
  case Intrinsic::vector_interleave5:
  case Intrinsic::vector_interleave6:
  case Intrinsic::vector_interleave7:
  case Intrinsic::vector_interleave8: {
    const size_t ways = i.arg_size();
    SmallVector<Register, 16> regs(leafCount(type));
    for (size_t k = 0; k < ways; ++k) {
      const Registers part = use(argument(unsigned(k)));
      for (size_t e = 0; e < part.size() && e * ways + k < regs.size(); ++e)
        regs[e * ways + k] = part[e];
    }
    if (!failed())
      alias(&i, regs);
    return true;
  }
  case Intrinsic::vector_deinterleave2:
  case Intrinsic::vector_deinterleave3:
  case Intrinsic::vector_deinterleave4:
  case Intrinsic::vector_deinterleave5:
  case Intrinsic::vector_deinterleave6:
  case Intrinsic::vector_deinterleave7:
  case Intrinsic::vector_deinterleave8: {
    const Registers vector = use(argument(0));
    const size_t ways = cast<StructType>(type)->getNumElements();
    SmallVector<Register, 16> regs;
    for (size_t k = 0; k < ways; ++k)
      for (size_t e = k; e < vector.size(); e += ways)
        regs.push_back(vector[e]);
    if (!failed())
      alias(&i, regs);
    return true;
  }
  case Intrinsic::experimental_cttz_elts: {
    // The number of the first element that is not zero. A vectorised loop that may be left early asks for it.
    const Operand v = operand(argument(0));
    const Width width = widthOf(&i);
    const uint32_t n = uint32_t(v.regs.size());
    if (failed())
      return true;
    const Register zero = constant(v.width, 0);
    Register count = constant(width, n);
    for (uint32_t e = n; e-- > 0;) {
      const Registers set = temporary(Width::B8, 1), next = temporary(width, 1);
      emitLanes(handler.intCompare(IntCompare::Ne, v.width), {set, Width::B8}, {v.regs.slice(e, 1), v.width},
                {zero, v.width});
      Op &op = emit(handler.select(width));
      op.d = next[0], op.a = constant(width, e), op.b = count, op.c = set[0], op.n = 1;
      count = next[0];
    }
    alias(&i, count);
    return true;
  }
  case Intrinsic::read_register:
  case Intrinsic::read_volatile_register: {
    const auto *node = cast<MDNode>(cast<MetadataAsValue>(argument(0))->getMetadata());
    const StringRef name = cast<MDString>(node->getOperand(0))->getString();
    const bool low = name == "exec_lo", high = name == "exec_hi";
    if (!low && !high && name != "exec")
      return fail(Twine("register ") + name), true;
    const Registers d = define(&i);
    if (failed())
      return true;
    Op &op = emit(execMask(widthOf(&i)));
    op.d = d[0];
    op.sub = high ? 32 : 0;
    return true;
  }
  case Intrinsic::readcyclecounter:
  case Intrinsic::readsteadycounter: {
    const Registers d = define(&i);
    emit(widthOf(&i) == Width::B64 ? clockOp() : nullptr).d = d.empty() ? kNoRegister : d[0];
    return true;
  }
  default: return false;
  }
}

bool Decoder::decodeFloatIntrinsic(CallBase &i, unsigned id) {
  const auto argument = [&](unsigned k) { return i.getArgOperand(k); };
  const auto reduceFloat = [&](FloatBinary op, bool hasStart) {
    const auto kind = floatKindOf(i.getType());
    reduceCall(i, kind ? handler.floatBinary(op, *kind) : nullptr, hasStart);
    return true;
  };
  switch (id) {
  case Intrinsic::fabs: return floatUnaryCall(i, FloatUnary::Abs), true;
  case Intrinsic::sqrt: return floatUnaryCall(i, FloatUnary::Sqrt), true;
  case Intrinsic::floor: return floatUnaryCall(i, FloatUnary::Floor), true;
  case Intrinsic::ceil: return floatUnaryCall(i, FloatUnary::Ceil), true;
  case Intrinsic::trunc: return floatUnaryCall(i, FloatUnary::Trunc), true;
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::roundeven: return floatUnaryCall(i, FloatUnary::Rint), true;
  case Intrinsic::round: return floatUnaryCall(i, FloatUnary::Round), true;
  case Intrinsic::canonicalize: return floatUnaryCall(i, FloatUnary::Canonicalize), true;
  case Intrinsic::exp: return floatUnaryCall(i, FloatUnary::Exp), true;
  case Intrinsic::exp2: return floatUnaryCall(i, FloatUnary::Exp2), true;
  case Intrinsic::exp10: return floatUnaryCall(i, FloatUnary::Exp10), true;
  case Intrinsic::log: return floatUnaryCall(i, FloatUnary::Log), true;
  case Intrinsic::log2: return floatUnaryCall(i, FloatUnary::Log2), true;
  case Intrinsic::log10: return floatUnaryCall(i, FloatUnary::Log10), true;
  case Intrinsic::sin: return floatUnaryCall(i, FloatUnary::Sin), true;
  case Intrinsic::cos: return floatUnaryCall(i, FloatUnary::Cos), true;
  case Intrinsic::tan: return floatUnaryCall(i, FloatUnary::Tan), true;
  case Intrinsic::asin: return floatUnaryCall(i, FloatUnary::Asin), true;
  case Intrinsic::acos: return floatUnaryCall(i, FloatUnary::Acos), true;
  case Intrinsic::atan: return floatUnaryCall(i, FloatUnary::Atan), true;
  case Intrinsic::sinh: return floatUnaryCall(i, FloatUnary::Sinh), true;
  case Intrinsic::cosh: return floatUnaryCall(i, FloatUnary::Cosh), true;
  case Intrinsic::tanh: return floatUnaryCall(i, FloatUnary::Tanh), true;
  case Intrinsic::copysign: return floatBinaryCall(i, FloatBinary::CopySign), true;
  case Intrinsic::minnum:
  case Intrinsic::minimumnum: return floatBinaryCall(i, FloatBinary::MinNum), true;
  case Intrinsic::maxnum:
  case Intrinsic::maximumnum: return floatBinaryCall(i, FloatBinary::MaxNum), true;
  case Intrinsic::minimum: return floatBinaryCall(i, FloatBinary::Minimum), true;
  case Intrinsic::maximum: return floatBinaryCall(i, FloatBinary::Maximum), true;
  case Intrinsic::pow: return floatBinaryCall(i, FloatBinary::Pow), true;
  case Intrinsic::atan2: return floatBinaryCall(i, FloatBinary::Atan2), true;
  case Intrinsic::fma:
  case Intrinsic::fmuladd: return floatTernaryCall(i, FloatTernary::Fma), true;
  case Intrinsic::powi: {
    const auto kind = floatKindOf(i.getType());
    if (!kind)
      return fail("this type"), true;
    // In double, which holds every exponent: whether one is odd decides the sign.
    const Operand base = operand(argument(0));
    const Operand exponent{copyOf(asI32(argument(1), true)), Width::B32};
    const uint32_t n = uint32_t(base.regs.size());
    const Operand wide{temporary(Width::B64, n), Width::B64}, power{temporary(Width::B64, n), Width::B64};
    const Operand wideExponent{temporary(Width::B64, 1), Width::B64};
    emitLanes(handler.floatCast(*kind, FloatKind::Double), wide, base);
    emitLanes(handler.intToFloat(Width::B32, true, FloatKind::Double), wideExponent, exponent);
    emitLanes(handler.floatBinary(FloatBinary::Pow, FloatKind::Double), power, wide, wideExponent);
    emitLanes(handler.floatCast(FloatKind::Double, *kind), result(&i), power);
    return true;
  }
  case Intrinsic::ldexp: {
    const auto kind = floatKindOf(i.getType());
    if (!kind)
      return fail("this type"), true;
    const Operand base = operand(argument(0));
    Operand exponent = signedOperand(argument(1));
    if (exponent.width != Width::B32) {
      const Operand wide{temporary(Width::B32, uint32_t(exponent.regs.size())), Width::B32};
      emitLanes(handler.signExtend(exponent.width, Width::B32), wide, exponent);
      exponent = wide;
    }
    emitLanes(handler.ldexp(*kind), result(&i), base, exponent);
    return true;
  }
  case Intrinsic::frexp: {
    const auto kind = floatKindOf(argument(0)->getType());
    const Operand x = operand(argument(0));
    const Registers d = define(&i);
    const size_t n = x.regs.size();
    if (failed() || !kind || d.size() != 2 * n)
      return fail("this type"), true;
    const Width w = leavesOf(i.getType())[n].width;
    emitLanes(handler.floatUnary(FloatUnary::FrexpMant, *kind), {d.take_front(n), x.width}, x);
    const Operand exponent = w == Width::B32 ? Operand{d.drop_front(n), w}
                                             : Operand{temporary(Width::B32, uint32_t(n)), Width::B32};
    emitLanes(handler.frexpExponent(*kind), exponent, x);
    if (w != Width::B32)
      emitLanes(handler.zeroExtendOrTruncate(Width::B32, w), {d.drop_front(n), w}, exponent);
    return true;
  }
  case Intrinsic::sincos: {
    const auto kind = floatKindOf(argument(0)->getType());
    const Operand x = operand(argument(0));
    const Registers d = define(&i);
    const size_t n = x.regs.size();
    if (failed() || !kind || d.size() != 2 * n)
      return fail("this type"), true;
    emitLanes(handler.floatUnary(FloatUnary::Sin, *kind), {d.take_front(n), x.width}, x);
    emitLanes(handler.floatUnary(FloatUnary::Cos, *kind), {d.drop_front(n), x.width}, x);
    return true;
  }
  case Intrinsic::is_fpclass: {
    const auto kind = floatKindOf(argument(0)->getType());
    const Operand x = operand(argument(0));
    emitLanes(kind ? handler.floatClass(*kind) : nullptr, result(&i), x, {}, {},
              uint32_t(cast<ConstantInt>(argument(1))->getZExtValue()));
    return true;
  }
  case Intrinsic::fptosi_sat:
  case Intrinsic::fptoui_sat: {
    const auto kind = floatKindOf(argument(0)->getType());
    const Operand x = operand(argument(0)), d = result(&i);
    emitLanes(kind ? handler.floatToInt(*kind, id == Intrinsic::fptosi_sat, d.width) : nullptr, d, x, {}, {},
              bitsOf(i.getType()));
    return true;
  }
  case Intrinsic::lrint:
  case Intrinsic::llrint: {
    const auto kind = floatKindOf(argument(0)->getType());
    if (!kind)
      return fail("this type"), true;
    const Operand x = operand(argument(0)), d = result(&i);
    const Operand rounded{temporary(x.width, uint32_t(x.regs.size())), x.width};
    emitLanes(handler.floatUnary(FloatUnary::Rint, *kind), rounded, x);
    emitLanes(handler.floatToInt(*kind, true, d.width), d, rounded, {}, {}, bitsOf(i.getType()));
    return true;
  }
  case Intrinsic::vector_reduce_fadd: return reduceFloat(FloatBinary::Add, true);
  case Intrinsic::vector_reduce_fmul: return reduceFloat(FloatBinary::Mul, true);
  case Intrinsic::vector_reduce_fmin: return reduceFloat(FloatBinary::MinNum, false);
  case Intrinsic::vector_reduce_fmax: return reduceFloat(FloatBinary::MaxNum, false);
  case Intrinsic::vector_reduce_fminimum: return reduceFloat(FloatBinary::Minimum, false);
  case Intrinsic::vector_reduce_fmaximum: return reduceFloat(FloatBinary::Maximum, false);
  default: return false;
  }
}

} // namespace wavesan::cpu::engine
