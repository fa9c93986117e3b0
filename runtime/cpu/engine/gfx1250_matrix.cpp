// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts: AMD's composable_kernel tests of these instructions (there is no public document of the instruction set),
// and for C and D those of gfx12.0, which LLVM's users share.
//   A: lane % 16 is the row; pieces of the row go to the two halves of the wave in turn. A piece is what 16 bytes hold
//   (six bits: 24 bytes), or 8 where the row has less than 64 bytes in a lane. B: the same with columns.
//   C, D: lane % 16 is the column, each lane has eight consecutive rows.
// Which k a lane has matters only where A and B have formats of different width, and for the order of additions: along
// k, one rounding to float for each product (fused), one more where the sum is smaller. Denormals are kept.
#include "gfx1250_matrix.h"
#include "lanes.h"
#include "mx_registers.h"
#include "small_float.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

#include <algorithm>
#include <cmath>

namespace wavesan::cpu::engine {

std::optional<Gfx1250Shape> gfx1250MatrixShape(unsigned intrinsic) {
  using namespace llvm;
  using E = Gfx1250Element;
  using S = Gfx1250Sum;
  using F = Gfx1250Form;
  using M = MxFormat;
  switch (intrinsic) {
  case Intrinsic::amdgcn_wmma_f32_16x16x4_f32:
    return Gfx1250Shape{4, E::Single, S::Single, S::Single, F::ModifiersOfAll};
  case Intrinsic::amdgcn_wmma_f32_16x16x32_bf16:
    return Gfx1250Shape{32, E::BFloat, S::Single, S::Single, F::ModifiersOfAll};
  case Intrinsic::amdgcn_wmma_f32_16x16x32_f16:
    return Gfx1250Shape{32, E::Half, S::Single, S::Single, F::ModifiersOfAll};
  case Intrinsic::amdgcn_wmma_f16_16x16x32_f16:
    return Gfx1250Shape{32, E::Half, S::Half, S::Half, F::ModifiersOfAll};
  case Intrinsic::amdgcn_wmma_bf16_16x16x32_bf16:
    return Gfx1250Shape{32, E::BFloat, S::BFloat, S::BFloat, F::ModifiersOfAll};
  case Intrinsic::amdgcn_wmma_bf16f32_16x16x32_bf16:
    return Gfx1250Shape{32, E::BFloat, S::Single, S::BFloat, F::ModifiersOfAll};
  case Intrinsic::amdgcn_wmma_f32_16x16x64_fp8_fp8:
    return Gfx1250Shape{64, E::Mx, S::Single, S::Single, F::ModifiersOfC, M::E4M3, M::E4M3};
  case Intrinsic::amdgcn_wmma_f32_16x16x64_fp8_bf8:
    return Gfx1250Shape{64, E::Mx, S::Single, S::Single, F::ModifiersOfC, M::E4M3, M::E5M2};
  case Intrinsic::amdgcn_wmma_f32_16x16x64_bf8_fp8:
    return Gfx1250Shape{64, E::Mx, S::Single, S::Single, F::ModifiersOfC, M::E5M2, M::E4M3};
  case Intrinsic::amdgcn_wmma_f32_16x16x64_bf8_bf8:
    return Gfx1250Shape{64, E::Mx, S::Single, S::Single, F::ModifiersOfC, M::E5M2, M::E5M2};
  case Intrinsic::amdgcn_wmma_f16_16x16x64_fp8_fp8:
    return Gfx1250Shape{64, E::Mx, S::Half, S::Half, F::ModifiersOfC, M::E4M3, M::E4M3};
  case Intrinsic::amdgcn_wmma_f16_16x16x64_fp8_bf8:
    return Gfx1250Shape{64, E::Mx, S::Half, S::Half, F::ModifiersOfC, M::E4M3, M::E5M2};
  case Intrinsic::amdgcn_wmma_f16_16x16x64_bf8_fp8:
    return Gfx1250Shape{64, E::Mx, S::Half, S::Half, F::ModifiersOfC, M::E5M2, M::E4M3};
  case Intrinsic::amdgcn_wmma_f16_16x16x64_bf8_bf8:
    return Gfx1250Shape{64, E::Mx, S::Half, S::Half, F::ModifiersOfC, M::E5M2, M::E5M2};
  case Intrinsic::amdgcn_wmma_f32_16x16x128_fp8_fp8:
    return Gfx1250Shape{128, E::Mx, S::Single, S::Single, F::ModifiersOfC, M::E4M3, M::E4M3};
  case Intrinsic::amdgcn_wmma_f32_16x16x128_fp8_bf8:
    return Gfx1250Shape{128, E::Mx, S::Single, S::Single, F::ModifiersOfC, M::E4M3, M::E5M2};
  case Intrinsic::amdgcn_wmma_f32_16x16x128_bf8_fp8:
    return Gfx1250Shape{128, E::Mx, S::Single, S::Single, F::ModifiersOfC, M::E5M2, M::E4M3};
  case Intrinsic::amdgcn_wmma_f32_16x16x128_bf8_bf8:
    return Gfx1250Shape{128, E::Mx, S::Single, S::Single, F::ModifiersOfC, M::E5M2, M::E5M2};
  case Intrinsic::amdgcn_wmma_f16_16x16x128_fp8_fp8:
    return Gfx1250Shape{128, E::Mx, S::Half, S::Half, F::ModifiersOfC, M::E4M3, M::E4M3};
  case Intrinsic::amdgcn_wmma_f16_16x16x128_fp8_bf8:
    return Gfx1250Shape{128, E::Mx, S::Half, S::Half, F::ModifiersOfC, M::E4M3, M::E5M2};
  case Intrinsic::amdgcn_wmma_f16_16x16x128_bf8_fp8:
    return Gfx1250Shape{128, E::Mx, S::Half, S::Half, F::ModifiersOfC, M::E5M2, M::E4M3};
  case Intrinsic::amdgcn_wmma_f16_16x16x128_bf8_bf8:
    return Gfx1250Shape{128, E::Mx, S::Half, S::Half, F::ModifiersOfC, M::E5M2, M::E5M2};
  case Intrinsic::amdgcn_wmma_i32_16x16x64_iu8:
    return Gfx1250Shape{64, E::Int8, S::Int32, S::Int32, F::Integers};
  case Intrinsic::amdgcn_wmma_f32_16x16x128_f8f6f4:
    return Gfx1250Shape{128, E::Mx, S::Single, S::Single, F::Formats};
  default:
    return std::nullopt;
  }
}

namespace {

constexpr uint32_t kRows = 16, kMostK = 128;

/// Consecutive elements of a row in one lane.
uint32_t pieceOf(const Gfx1250Shape &s, MxFormat format) {
  switch (s.element) {
  case Gfx1250Element::Single:
    return 2;
  case Gfx1250Element::Half:
  case Gfx1250Element::BFloat:
    return 8;
  case Gfx1250Element::Int8:
    return 8;
  default:
    return s.k == 64 ? 8 : isFp8(format) ? 16 : 32;
  }
}

template <class T> using Matrix = T[kRows][kMostK];

/// element(index, lane)
template <class T, class Element> void gather(const Gfx1250Shape &s, MxFormat format, Matrix<T> &m, Element element) {
  const uint32_t piece = pieceOf(s, format);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < s.perLane(); ++i)
      m[lane % 16][i / piece * 2 * piece + lane / 16 * piece + i % piece] = element(i, lane);
}

void gatherFloats(const Wave &w, const Gfx1250Shape &s, const std::vector<Register> &from, MxFormat format, bool negate,
                  Matrix<float> &m) {
  gather(s, format, m, [&](uint32_t i, uint32_t lane) {
    float value;
    switch (s.element) {
    case Gfx1250Element::Single:
      value = w.at<float>(from[i])[lane];
      break;
    case Gfx1250Element::Half:
      value = halfToFloat(w.at<uint16_t>(from[i])[lane]);
      break;
    case Gfx1250Element::BFloat:
      value = bfloatToFloat(w.at<uint16_t>(from[i])[lane]);
      break;
    default:
      value = mxElement(w, from, format, i, lane);
      break;
    }
    return negate ? -value : value;
  });
}

float loadSum(const Wave &w, Gfx1250Sum kind, Register r, uint32_t lane) {
  return kind == Gfx1250Sum::Single ? w.at<float>(r)[lane]
         : kind == Gfx1250Sum::Half ? halfToFloat(w.at<uint16_t>(r)[lane])
                                    : bfloatToFloat(w.at<uint16_t>(r)[lane]);
}

void storeSum(const Wave &w, Gfx1250Sum kind, Register r, uint32_t lane, float sum) {
  if (kind == Gfx1250Sum::Single)
    w.at<float>(r)[lane] = sum;
  else
    w.at<uint16_t>(r)[lane] = kind == Gfx1250Sum::Half ? floatToHalf(sum) : floatToBFloat(sum);
}

void multiplyFloats(const Wave &w, const Gfx1250MatrixOperands &o) {
  Matrix<float> a, b;
  gatherFloats(w, o.shape, o.a, o.shape.a, o.negateA, a);
  gatherFloats(w, o.shape, o.b, o.shape.b, o.negateB, b);
  forEachLane(w.exec, [&](uint32_t lane) {
    for (uint32_t i = 0; i < o.d.size(); ++i) {
      const float *row = a[lane / 16 * 8 + i], *column = b[lane % 16];
      float sum = loadSum(w, o.shape.c, o.c[i], lane);
      if (o.absoluteC)
        sum = std::fabs(sum);
      if (o.negateC)
        sum = -sum;
      for (uint32_t k = 0; k < o.shape.k; ++k)
        sum = std::fma(row[k], column[k], sum);
      storeSum(w, o.shape.d, o.d[i], lane, sum);
    }
  });
}

void multiplyIntegers(const Wave &w, const Gfx1250MatrixOperands &o) {
  Matrix<int32_t> a, b;
  const auto from = [&](const std::vector<Register> &registers, bool isSigned) {
    return [&w, &registers, isSigned](uint32_t i, uint32_t lane) {
      const auto byte = uint8_t(w.at<uint32_t>(registers[i / 4])[lane] >> (8 * (i % 4)));
      return isSigned ? int32_t(int8_t(byte)) : int32_t(byte);
    };
  };
  gather(o.shape, o.shape.a, a, from(o.a, o.signedA));
  gather(o.shape, o.shape.b, b, from(o.b, o.signedB));
  forEachLane(w.exec, [&](uint32_t lane) {
    for (uint32_t i = 0; i < o.d.size(); ++i) {
      const int32_t *row = a[lane / 16 * 8 + i], *column = b[lane % 16];
      int64_t sum = w.at<int32_t>(o.c[i])[lane];
      for (uint32_t k = 0; k < o.shape.k; ++k)
        sum += row[k] * column[k];
      if (o.clamp)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      w.at<int32_t>(o.d[i])[lane] = int32_t(uint32_t(sum));
    }
  });
}

void multiply(Wave &w, const Op &op) {
  const auto &o = *static_cast<const Gfx1250MatrixOperands *>(op.extra);
  o.shape.element == Gfx1250Element::Int8 ? multiplyIntegers(w, o) : multiplyFloats(w, o);
}

} // namespace

Handler gfx1250MatrixMultiply() { return multiply; }

} // namespace wavesan::cpu::engine
