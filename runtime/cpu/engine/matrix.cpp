// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts: "AMD Instinct MI200" and "MI300" instruction set documents, sections on matrix arithmetic.
//   A: row and block from the lane, row first; the lanes behind that count further along k.
//   B: the same with columns.
//   C, D: the column from the lane. Rows come in groups of four (one for double): a group is in consecutive registers,
//   the next group in the next lanes, and when the lanes are used up in the next registers. Blocks of 4 x 4 have lanes
//   of their own, others registers of their own.
// EXEC is ignored: all lanes give their elements. What inactive lanes would get has no name in the IR and is not kept.
//
// The documents do not say in what order products are added and how often sums are rounded. Here: along k, one rounding
// for each product (fused). On gfx90a, half and bfloat16 operands and sums that are denormal are taken for zero. Xf32
// operands are rounded to ten bits of mantissa, to nearest even.
#include "matrix.h"
#include "lanes.h"
#include "matrix_elements.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace wavesan::cpu::engine {

std::optional<MatrixShape> matrixShape(unsigned intrinsic) {
  using namespace llvm;
  using E = MatrixElement;
  switch (intrinsic) {
  case Intrinsic::amdgcn_mfma_f32_32x32x1f32:
    return MatrixShape{32, 32, 1, 2, E::Single};
  case Intrinsic::amdgcn_mfma_f32_16x16x1f32:
    return MatrixShape{16, 16, 1, 4, E::Single};
  case Intrinsic::amdgcn_mfma_f32_4x4x1f32:
    return MatrixShape{4, 4, 1, 16, E::Single};
  case Intrinsic::amdgcn_mfma_f32_32x32x2f32:
    return MatrixShape{32, 32, 2, 1, E::Single};
  case Intrinsic::amdgcn_mfma_f32_16x16x4f32:
    return MatrixShape{16, 16, 4, 1, E::Single};
  case Intrinsic::amdgcn_mfma_f32_32x32x4f16:
    return MatrixShape{32, 32, 4, 2, E::Half};
  case Intrinsic::amdgcn_mfma_f32_16x16x4f16:
    return MatrixShape{16, 16, 4, 4, E::Half};
  case Intrinsic::amdgcn_mfma_f32_4x4x4f16:
    return MatrixShape{4, 4, 4, 16, E::Half};
  case Intrinsic::amdgcn_mfma_f32_32x32x8f16:
    return MatrixShape{32, 32, 8, 1, E::Half};
  case Intrinsic::amdgcn_mfma_f32_16x16x16f16:
    return MatrixShape{16, 16, 16, 1, E::Half};
  case Intrinsic::amdgcn_mfma_i32_32x32x4i8:
    return MatrixShape{32, 32, 4, 2, E::Int8};
  case Intrinsic::amdgcn_mfma_i32_16x16x4i8:
    return MatrixShape{16, 16, 4, 4, E::Int8};
  case Intrinsic::amdgcn_mfma_i32_4x4x4i8:
    return MatrixShape{4, 4, 4, 16, E::Int8};
  case Intrinsic::amdgcn_mfma_i32_32x32x8i8:
    return MatrixShape{32, 32, 8, 1, E::Int8};
  case Intrinsic::amdgcn_mfma_i32_16x16x16i8:
    return MatrixShape{16, 16, 16, 1, E::Int8};
  case Intrinsic::amdgcn_mfma_f32_32x32x2bf16:
    return MatrixShape{32, 32, 2, 2, E::BFloat};
  case Intrinsic::amdgcn_mfma_f32_16x16x2bf16:
    return MatrixShape{16, 16, 2, 4, E::BFloat};
  case Intrinsic::amdgcn_mfma_f32_4x4x2bf16:
    return MatrixShape{4, 4, 2, 16, E::BFloat};
  case Intrinsic::amdgcn_mfma_f32_32x32x4bf16:
    return MatrixShape{32, 32, 4, 1, E::BFloat};
  case Intrinsic::amdgcn_mfma_f32_16x16x8bf16:
    return MatrixShape{16, 16, 8, 1, E::BFloat};
  case Intrinsic::amdgcn_mfma_f32_32x32x4bf16_1k:
    return MatrixShape{32, 32, 4, 2, E::BFloat};
  case Intrinsic::amdgcn_mfma_f32_16x16x4bf16_1k:
    return MatrixShape{16, 16, 4, 4, E::BFloat};
  case Intrinsic::amdgcn_mfma_f32_4x4x4bf16_1k:
    return MatrixShape{4, 4, 4, 16, E::BFloat};
  case Intrinsic::amdgcn_mfma_f32_32x32x8bf16_1k:
    return MatrixShape{32, 32, 8, 1, E::BFloat};
  case Intrinsic::amdgcn_mfma_f32_16x16x16bf16_1k:
    return MatrixShape{16, 16, 16, 1, E::BFloat};
  case Intrinsic::amdgcn_mfma_f64_16x16x4f64:
    return MatrixShape{16, 16, 4, 1, E::Double};
  case Intrinsic::amdgcn_mfma_f64_4x4x4f64:
    return MatrixShape{4, 4, 4, 4, E::Double};
  case Intrinsic::amdgcn_mfma_i32_16x16x32_i8:
    return MatrixShape{16, 16, 32, 1, E::Int8, false, false, true};
  case Intrinsic::amdgcn_mfma_i32_32x32x16_i8:
    return MatrixShape{32, 32, 16, 1, E::Int8, false, false, true};
  case Intrinsic::amdgcn_mfma_f32_16x16x8_xf32:
    return MatrixShape{16, 16, 8, 1, E::Xf32, false, false, true};
  case Intrinsic::amdgcn_mfma_f32_32x32x4_xf32:
    return MatrixShape{32, 32, 4, 1, E::Xf32, false, false, true};
  case Intrinsic::amdgcn_mfma_f32_16x16x32_fp8_fp8:
    return MatrixShape{16, 16, 32, 1, E::Fp8, false, false, true};
  case Intrinsic::amdgcn_mfma_f32_16x16x32_fp8_bf8:
    return MatrixShape{16, 16, 32, 1, E::Fp8, false, true, true};
  case Intrinsic::amdgcn_mfma_f32_16x16x32_bf8_fp8:
    return MatrixShape{16, 16, 32, 1, E::Fp8, true, false, true};
  case Intrinsic::amdgcn_mfma_f32_16x16x32_bf8_bf8:
    return MatrixShape{16, 16, 32, 1, E::Fp8, true, true, true};
  case Intrinsic::amdgcn_mfma_f32_32x32x16_fp8_fp8:
    return MatrixShape{32, 32, 16, 1, E::Fp8, false, false, true};
  case Intrinsic::amdgcn_mfma_f32_32x32x16_fp8_bf8:
    return MatrixShape{32, 32, 16, 1, E::Fp8, false, true, true};
  case Intrinsic::amdgcn_mfma_f32_32x32x16_bf8_fp8:
    return MatrixShape{32, 32, 16, 1, E::Fp8, true, false, true};
  case Intrinsic::amdgcn_mfma_f32_32x32x16_bf8_bf8:
    return MatrixShape{32, 32, 16, 1, E::Fp8, true, true, true};
  case Intrinsic::amdgcn_mfma_f32_16x16x32_f16:
    return MatrixShape{16, 16, 32, 1, E::Half, false, false, true};
  case Intrinsic::amdgcn_mfma_f32_16x16x32_bf16:
    return MatrixShape{16, 16, 32, 1, E::BFloat, false, false, true};
  case Intrinsic::amdgcn_mfma_f32_32x32x16_f16:
    return MatrixShape{32, 32, 16, 1, E::Half, false, false, true};
  case Intrinsic::amdgcn_mfma_f32_32x32x16_bf16:
    return MatrixShape{32, 32, 16, 1, E::BFloat, false, false, true};
  case Intrinsic::amdgcn_mfma_i32_16x16x64_i8:
    return MatrixShape{16, 16, 64, 1, E::Int8, false, false, true};
  case Intrinsic::amdgcn_mfma_i32_32x32x32_i8:
    return MatrixShape{32, 32, 32, 1, E::Int8, false, false, true};
  default:
    return std::nullopt;
  }
}

namespace {

uint32_t laneOfB(uint32_t pattern, uint32_t lane) {
  switch (pattern) {
  case 0:
    return lane;
  case 1:
    return lane & 31;
  case 2:
    return lane | 32;
  case 3:
    return (lane + 16) & 63;
  default:
    return (pattern - 4) * 16 + (lane & 15);
  }
}

template <MatrixElement E> void multiply(Wave &w, const MatrixOperands &o) {
  using A = MatrixArithmetic<E>;
  using Sum = typename A::Sum;
  const MatrixShape &s = o.shape;
  const uint32_t perLane = s.perLane();
  // [block][row of A, or column of B][k]: 64 * perLane elements, at most 16 in a lane.
  Sum a[kMatrixLanes * 16], b[kMatrixLanes * 16];
  const auto position = [&](uint32_t lane, uint32_t index, uint32_t rows) {
    const uint32_t row = lane % rows, block = lane / rows % s.blocks, k = lane / (rows * s.blocks) * perLane + index;
    return (block * rows + row) * s.k + k;
  };
  const MatrixInput inA{w, o.a, o.perRegister, o.flushDenormals, fp8Format(s.fiveA, o.ocp)};
  const MatrixInput inB{w, o.b, o.perRegister, o.flushDenormals, fp8Format(s.fiveB, o.ocp)};
  for (uint32_t lane = 0; lane < kMatrixLanes; ++lane)
    for (uint32_t index = 0; index < perLane; ++index) {
      a[position(lane, index, s.m)] = A::element(inA, index, lane);
      b[position(lane, index, s.n)] = A::element(inB, index, laneOfB(o.lanePattern, lane));
    }
  const uint32_t shared = (1u << o.broadcastSize) - 1;
  forEachLane(w.exec, [&](uint32_t lane) {
    for (uint32_t index = 0; index < o.d.size(); ++index) {
      const MatrixPlace p = placeOfSum(s, index, lane);
      const Sum *row = a + (((p.block & ~shared) + o.broadcastBlock) * s.m + p.row) * s.k;
      const Sum *column = b + (p.block * s.n + p.column) * s.k;
      Sum sum = A::done(w.at<Sum>(o.c[index])[lane], o.flushDenormals);
      for (uint32_t k = 0; k < s.k; ++k)
        sum = A::multiplyAdd(row[k], column[k], sum);
      w.at<Sum>(o.d[index])[lane] = A::done(sum, o.flushDenormals);
    }
  });
}

void matrixRun(Wave &w, const Op &op) {
  const auto &o = *static_cast<const MatrixOperands *>(op.extra);
  switch (o.shape.element) {
  case MatrixElement::Single:
    return multiply<MatrixElement::Single>(w, o);
  case MatrixElement::Half:
    return multiply<MatrixElement::Half>(w, o);
  case MatrixElement::BFloat:
    return multiply<MatrixElement::BFloat>(w, o);
  case MatrixElement::Int8:
    return multiply<MatrixElement::Int8>(w, o);
  case MatrixElement::Double:
    return multiply<MatrixElement::Double>(w, o);
  case MatrixElement::Xf32:
    return multiply<MatrixElement::Xf32>(w, o);
  case MatrixElement::Fp8:
    return multiply<MatrixElement::Fp8>(w, o);
  }
}

} // namespace

Handler matrixMultiply() { return matrixRun; }

} // namespace wavesan::cpu::engine
