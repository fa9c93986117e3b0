// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: matrix instructions.
#include "decoder.h"
#include "gfx1250_matrix.h"
#include "scaled_matrix.h"
#include "sparse_matrix.h"
#include "sparse_wave_matrix.h"
#include "wave_matrix.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/PatternMatch.h"

namespace wavesan::cpu::engine {

using namespace llvm;

static uint32_t immediate(const CallBase &i, unsigned k) {
  return uint32_t(cast<ConstantInt>(i.getArgOperand(k))->getZExtValue());
}

/// (A, B, C, CBSZ, ABID, BLGP)
void Decoder::matrixCall(CallBase &i, const MatrixShape &shape) {
  const Registers a = use(i.getArgOperand(0)), b = use(i.getArgOperand(1)), c = use(i.getArgOperand(2)), d = define(&i);
  if (failed())
    return;
  auto operands =
      MatrixOperands{shape, {a.begin(), a.end()}, {b.begin(), b.end()}, {c.begin(), c.end()}, {d.begin(), d.end()}};
  operands.broadcastSize = immediate(i, 3), operands.broadcastBlock = immediate(i, 4),
  operands.lanePattern = immediate(i, 5);
  operands.flushDenormals = StringRef(context.processor) == "gfx90a";
  operands.ocp = hasOcpFloats();
  // All lanes give their elements, so nothing may be rearranged here, where some are inactive.
  operands.perRegister = shape.isPacked() ? bytesOf(widthOf(i.getArgOperand(0))) : 1;
  const size_t registers = shape.perLane() / operands.perRegister;
  if (context.waveSize != 64 || a.size() != registers || b.size() != registers || c.size() != shape.sumsPerLane() ||
      d.size() != c.size())
    return fail("these operands");
  if (operands.broadcastSize > 4 || 1u << operands.broadcastSize > shape.blocks ||
      operands.broadcastBlock >> operands.broadcastSize)
    return fail("this broadcast of blocks");
  if (operands.lanePattern > (shape.hasLanePatterns() ? 7u : 0u))
    return fail("this lane pattern");
  emit(matrixMultiply()).extra = extra<MatrixOperands>(std::move(operands));
}

/// (A, B, C, index, CBSZ, ABID)
void Decoder::sparseCall(CallBase &i, const SparseShape &shape) {
  const Registers a = use(i.getArgOperand(0)), b = use(i.getArgOperand(1)), c = use(i.getArgOperand(2));
  const Register index = use1(i.getArgOperand(3));
  const Registers d = define(&i);
  if (failed())
    return;
  const StringRef target = context.processor;
  if (target != "gfx950" && (shape.since950 || target != "gfx942"))
    return fail("this target");
  SparseOperands operands{shape, {a.begin(), a.end()}, {b.begin(), b.end()}, {c.begin(), c.end()}, {d.begin(), d.end()},
                          index};
  operands.ocp = hasOcpFloats();
  operands.perRegister = shape.dense.isPacked() ? 4 : 1;
  const Width width = shape.dense.isPacked() ? Width::B32 : Width::B16;
  if (context.waveSize != 64 || a.size() * operands.perRegister != shape.aPerLane() ||
      b.size() * operands.perRegister != shape.bPerLane() || c.size() != shape.dense.sumsPerLane() ||
      d.size() != c.size() || widthOf(i.getArgOperand(0)) != width || widthOf(i.getArgOperand(1)) != width)
    return fail("these operands");
  const uint32_t cbsz = immediate(i, 4), abid = immediate(i, 5), sets = 32 / shape.indexBits();
  if (cbsz > 3 || abid > 15)
    return fail("this set of indices");
  if (cbsz == 0 && sets > 1) {
    if (abid >= sets)
      return fail("this set of indices");
    operands.indexSet = abid;
  }
  emit(sparseMultiply()).extra = extra<SparseOperands>(std::move(operands));
}

/// (A, B, C, format of A, of B, byte of the scale of A, scale of A, byte of the scale of B, scale of B)
void Decoder::scaledMatrixCall(CallBase &i, uint32_t rows) {
  const Registers a = use(i.getArgOperand(0)), b = use(i.getArgOperand(1)), c = use(i.getArgOperand(2));
  const Register scaleA = use1(i.getArgOperand(6)), scaleB = use1(i.getArgOperand(8));
  const Registers d = define(&i);
  if (failed())
    return;
  if (StringRef(context.processor) != "gfx950")
    return fail("this target");
  const uint32_t formatA = immediate(i, 3), formatB = immediate(i, 4);
  if (formatA >= kMxFormats || formatB >= kMxFormats)
    return fail("this format");
  const uint32_t byteA = immediate(i, 5), byteB = immediate(i, 7);
  if (byteA > 3 || byteB > 3)
    return fail("this byte of the scale");
  ScaledMatrixOperands operands{rows,
                                {{a.begin(), a.end()}, MxFormat(formatA), scaleA, byteA},
                                {{b.begin(), b.end()}, MxFormat(formatB), scaleB, byteB},
                                {c.begin(), c.end()},
                                {d.begin(), d.end()}};
  // Two scales that are the constant zero: LLVM's way to write the instruction that has none.
  const auto isZero = [&](unsigned k) { return match(i.getArgOperand(k), PatternMatch::m_Zero()); };
  if (isZero(6) && isZero(8))
    operands.a.scale = operands.b.scale = kNoRegister;
  for (const auto *in : {&operands.a, &operands.b})
    if (in->dwords.size() < MxLayout(in->format).bits())
      return fail("these operands");
  if (context.waveSize != 64 || widthOf(i.getArgOperand(0)) != Width::B32 ||
      widthOf(i.getArgOperand(1)) != Width::B32 || c.size() != rows * rows / 64 || d.size() != c.size())
    return fail("these operands");
  emit(scaledMatrixMultiply()).extra = extra<ScaledMatrixOperands>(std::move(operands));
}

/// (A, B, C[, high]), or of integers (A signed, A, B signed, B, C, clamp).
void Decoder::waveMatrixCall(CallBase &i, const WaveMatrixShape &shape) {
  const bool integers = shape.sum == WaveMatrixSum::Int32;
  if (context.gfxMajor < 11 || StringRef(context.processor).starts_with("gfx125"))
    return fail("this target");
  const unsigned at = integers ? 1 : 0;
  const Registers a = use(i.getArgOperand(at)), b = use(i.getArgOperand(integers ? 3 : 1));
  const Registers c = use(i.getArgOperand(integers ? 4 : 2)), d = define(&i);
  if (failed())
    return;
  WaveMatrixOperands operands{
      shape, context.gfxMajor, {a.begin(), a.end()}, {b.begin(), b.end()}, {c.begin(), c.end()}, {d.begin(), d.end()}};
  if (integers)
    operands.signedA = immediate(i, 0), operands.signedB = immediate(i, 2), operands.clamp = immediate(i, 5);
  const bool small = shape.sum == WaveMatrixSum::Half || shape.sum == WaveMatrixSum::BFloat;
  if (small)
    operands.high = immediate(i, 3);
  if (operands.high && context.gfxMajor != 11)
    return fail("the high halves");
  if (context.gfxMajor == 11 && (shape.k != 16 || shape.element == WaveMatrixElement::Fp8))
    return fail("this target");
  const uint32_t bits = operands.perLane(context.waveSize) * shape.elementBits();
  const size_t registers = shape.elementBits() == 16 ? bits / 16 : bits / 32;
  const size_t sums = WaveMatrixOperands::sumsPerLane(context.waveSize) * (small && context.gfxMajor == 11 ? 2 : 1);
  const Width width = shape.elementBits() == 16 ? Width::B16 : Width::B32;
  if (a.size() != registers || b.size() != registers || c.size() != sums || d.size() != sums ||
      widthOf(i.getArgOperand(at)) != width)
    return fail("these operands");
  emit(waveMatrixMultiply()).extra = extra<WaveMatrixOperands>(std::move(operands));
}

/// (A, B, C, index), or of integers (A signed, A, B signed, B, C, index, clamp).
void Decoder::sparseWaveMatrixCall(CallBase &i, const WaveMatrixShape &shape) {
  const bool integers = shape.sum == WaveMatrixSum::Int32;
  if (context.gfxMajor != 12 || StringRef(context.processor).starts_with("gfx125"))
    return fail("this target");
  const unsigned at = integers ? 1 : 0;
  const Value *indices = i.getArgOperand(integers ? 5 : 3);
  const Registers a = use(i.getArgOperand(at)), b = use(i.getArgOperand(integers ? 3 : 1));
  const Registers c = use(i.getArgOperand(integers ? 4 : 2));
  const Register index = use1(indices);
  const Registers d = define(&i);
  if (failed())
    return;
  SparseWaveMatrixOperands operands{
      shape, {a.begin(), a.end()}, {b.begin(), b.end()}, {c.begin(), c.end()}, {d.begin(), d.end()},
      index, widthOf(indices)};
  if (integers)
    operands.signedA = immediate(i, 0), operands.signedB = immediate(i, 2), operands.clamp = immediate(i, 6);
  const uint32_t covers = operands.aCovers(context.waveSize),
                 perRegister = shape.elementBits() == 16 ? 1 : 32 / shape.elementBits();
  const Width width = shape.elementBits() == 16 ? Width::B16 : Width::B32;
  const size_t sums = WaveMatrixOperands::sumsPerLane(context.waveSize);
  if (a.size() * perRegister != covers / 2 || b.size() * perRegister != operands.bPerLane(context.waveSize) ||
      c.size() != sums || d.size() != sums || widthOf(i.getArgOperand(at)) != width ||
      indices->getType()->getIntegerBitWidth() < covers || indices->getType()->getIntegerBitWidth() > 32)
    return fail("these operands");
  emit(sparseWaveMatrixMultiply()).extra = extra<SparseWaveMatrixOperands>(std::move(operands));
}

/// See Gfx1250Form: ([modifier of A,] A, [modifier of B,] B, [modifiers of C,] C, hints[, clamp])
void Decoder::gfx1250MatrixCall(CallBase &i, Gfx1250Shape shape) {
  using Form = Gfx1250Form;
  const bool ofInputs = shape.form != Form::ModifiersOfC, ofC = shape.form != Form::Integers;
  const unsigned atA = ofInputs ? 1 : 0, atB = ofInputs ? 3 : 1, atC = atB + (ofC ? 2 : 1);
  const Registers a = use(i.getArgOperand(atA)), b = use(i.getArgOperand(atB)), c = use(i.getArgOperand(atC));
  const Registers d = define(&i);
  if (failed())
    return;
  if (StringRef(context.processor) != "gfx1250")
    return fail("this target");
  const uint32_t modifierA = ofInputs ? immediate(i, 0) : 0, modifierB = ofInputs ? immediate(i, 2) : 0;
  if (shape.form == Form::Formats) {
    if (modifierA >= kMxFormats || modifierB >= kMxFormats)
      return fail("this format");
    shape.a = MxFormat(modifierA), shape.b = MxFormat(modifierB);
  }
  Gfx1250MatrixOperands operands{
      shape, {a.begin(), a.end()}, {b.begin(), b.end()}, {c.begin(), c.end()}, {d.begin(), d.end()}};
  if (shape.form == Form::ModifiersOfAll)
    operands.negateA = modifierA, operands.negateB = modifierB;
  if (shape.form == Form::Integers)
    operands.signedA = modifierA, operands.signedB = modifierB, operands.clamp = immediate(i, 7);
  if (ofC) {
    const uint32_t modifiers = immediate(i, atC - 1);
    if (modifiers > 3)
      return fail("this modifier of C");
    operands.negateC = modifiers & 1, operands.absoluteC = modifiers & 2;
  }
  const auto fits = [&](unsigned at, size_t registers, MxFormat format) {
    switch (shape.element) {
    case Gfx1250Element::Single:
      return registers == shape.perLane() && widthOf(i.getArgOperand(at)) == Width::B32;
    case Gfx1250Element::Half:
    case Gfx1250Element::BFloat:
      return registers == shape.perLane() && widthOf(i.getArgOperand(at)) == Width::B16;
    default: {
      const uint32_t bits = shape.element == Gfx1250Element::Int8 ? 8 : MxLayout(format).bits();
      const size_t needed = shape.perLane() * bits / 32;
      return (shape.form == Form::Formats ? registers >= needed : registers == needed) &&
             widthOf(i.getArgOperand(at)) == Width::B32;
    }
    }
  };
  const auto widthOfSum = [](Gfx1250Sum sum) {
    return sum == Gfx1250Sum::Half || sum == Gfx1250Sum::BFloat ? Width::B16 : Width::B32;
  };
  if (context.waveSize != 32 || c.size() != 8 || d.size() != 8 || !fits(atA, a.size(), shape.a) ||
      !fits(atB, b.size(), shape.b) || widthOf(i.getArgOperand(atC)) != widthOfSum(shape.c) ||
      widthOf(&i) != widthOfSum(shape.d))
    return fail("these operands");
  emit(gfx1250MatrixMultiply()).extra = extra<Gfx1250MatrixOperands>(std::move(operands));
}

bool Decoder::decodeMatrix(CallBase &i, unsigned id) {
  if (const auto shape = matrixShape(id))
    return matrixCall(i, *shape), true;
  if (const auto shape = sparseShape(id))
    return sparseCall(i, *shape), true;
  if (const auto rows = scaledMatrixRows(id))
    return scaledMatrixCall(i, *rows), true;
  if (const auto shape = waveMatrixShape(id))
    return waveMatrixCall(i, *shape), true;
  if (const auto shape = gfx1250MatrixShape(id))
    return gfx1250MatrixCall(i, *shape), true;
  if (const auto shape = sparseWaveMatrixShape(id))
    return sparseWaveMatrixCall(i, *shape), true;
  return false;
}

} // namespace wavesan::cpu::engine
