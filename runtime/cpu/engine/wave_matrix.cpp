// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts: "RDNA3" and "RDNA4 instruction set architecture" documents, sections on wave matrix multiply accumulate.
//   A: lane % 16 is the row. On gfx11 each lane has the whole row, and every 16 lanes the same (those of lanes 0 to 15
//   count here). On gfx12 the lanes of a row share it: see positionOfK().
//   B: the same with columns.
//   C, D: lane % 16 is the column. gfx11: rows go to the lanes first, then to the next register. gfx12: each lane has
//   consecutive rows. Sums of 16 bits have a register each on gfx11 (the other half is kept) and two share one on
//   gfx12.
// All lanes give their elements, whatever EXEC says.
//
// In what order products are added and how often sums are rounded is not documented. Here: along k, one rounding to
// float for each product (fused), one more where the sum is smaller. Denormals are kept.
#include "wave_matrix.h"
#include "lanes.h"
#include "small_float.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

#include <algorithm>
#include <cmath>

namespace wavesan::cpu::engine {

std::optional<WaveMatrixShape> waveMatrixShape(unsigned intrinsic) {
  using namespace llvm;
  using E = WaveMatrixElement;
  using S = WaveMatrixSum;
  switch (intrinsic) {
  case Intrinsic::amdgcn_wmma_f32_16x16x16_f16:
    return WaveMatrixShape{16, E::Half, S::Single};
  case Intrinsic::amdgcn_wmma_f32_16x16x16_bf16:
    return WaveMatrixShape{16, E::BFloat, S::Single};
  case Intrinsic::amdgcn_wmma_f16_16x16x16_f16:
  case Intrinsic::amdgcn_wmma_f16_16x16x16_f16_tied:
    return WaveMatrixShape{16, E::Half, S::Half};
  case Intrinsic::amdgcn_wmma_bf16_16x16x16_bf16:
  case Intrinsic::amdgcn_wmma_bf16_16x16x16_bf16_tied:
    return WaveMatrixShape{16, E::BFloat, S::BFloat};
  case Intrinsic::amdgcn_wmma_i32_16x16x16_iu8:
    return WaveMatrixShape{16, E::Int8, S::Int32};
  case Intrinsic::amdgcn_wmma_i32_16x16x16_iu4:
    return WaveMatrixShape{16, E::Int4, S::Int32};
  case Intrinsic::amdgcn_wmma_i32_16x16x32_iu4:
    return WaveMatrixShape{32, E::Int4, S::Int32};
  case Intrinsic::amdgcn_wmma_f32_16x16x16_fp8_fp8:
    return WaveMatrixShape{16, E::Fp8, S::Single, Fp8::E4M3, Fp8::E4M3};
  case Intrinsic::amdgcn_wmma_f32_16x16x16_fp8_bf8:
    return WaveMatrixShape{16, E::Fp8, S::Single, Fp8::E4M3, Fp8::E5M2};
  case Intrinsic::amdgcn_wmma_f32_16x16x16_bf8_fp8:
    return WaveMatrixShape{16, E::Fp8, S::Single, Fp8::E5M2, Fp8::E4M3};
  case Intrinsic::amdgcn_wmma_f32_16x16x16_bf8_bf8:
    return WaveMatrixShape{16, E::Fp8, S::Single, Fp8::E5M2, Fp8::E5M2};
  default:
    return std::nullopt;
  }
}

uint32_t WaveMatrixOperands::groups(uint32_t lanes) const {
  if (gfxMajor == 11)
    return 1;
  // A lane has a dword at least: sixteen elements of four bits need two lanes, whatever the wave's size.
  return std::min(lanes / 16, uint32_t(shape.k) * shape.elementBits() / 32);
}
uint32_t WaveMatrixOperands::perLane(uint32_t lanes) const { return shape.k / groups(lanes); }

namespace {

constexpr uint32_t kRows = 16, kMostK = 32;

/// Where in its row element `index` of a lane of group lane / 16 stands.
uint32_t positionOfK(const WaveMatrixOperands &o, uint32_t group, uint32_t index, uint32_t lanes) {
  const uint32_t perLane = o.perLane(lanes), groups = o.groups(lanes);
  if (o.shape.elementBits() == 16) // fours, to the groups in turn
    return index / 4 * 4 * groups + group * 4 + index % 4;
  if (groups == 4) // of two groups and two, the halves alternate
    return perLane * (group % 2 * 2 + group / 2) + index;
  return perLane * group + index;
}

uint32_t rowOfSum(const WaveMatrixOperands &o, uint32_t group, uint32_t index, uint32_t lanes) {
  if (o.gfxMajor == 11)
    return lanes / 16 * index + group;
  return lanes == 32 ? 8 * group + index : 8 * (group % 2) + 4 * (group / 2) + index;
}

uint32_t packed(const Wave &w, const std::vector<Register> &from, uint32_t index, uint32_t lane, uint32_t bits) {
  const uint32_t perDword = 32 / bits;
  return w.at<uint32_t>(from[index / perDword])[lane] >> (index % perDword * bits) & ((1u << bits) - 1);
}

int32_t integerOf(uint32_t value, uint32_t bits, bool isSigned) {
  return isSigned && value >> (bits - 1) ? int32_t(value) - (1 << bits) : int32_t(value);
}

template <class T> using Matrix = T[kRows][kMostK];

template <class T, class Element>
void gather(const Wave &w, const WaveMatrixOperands &o, Matrix<T> &m, Element element) {
  for (uint32_t lane = 0; lane < o.groups(w.lanes) * 16; ++lane)
    for (uint32_t index = 0; index < o.perLane(w.lanes); ++index)
      m[lane % 16][positionOfK(o, lane / 16, index, w.lanes)] = element(index, lane);
}

void gatherFloats(const Wave &w, const WaveMatrixOperands &o, const std::vector<Register> &from, Fp8 format,
                  Matrix<float> &m) {
  gather(w, o, m, [&](uint32_t index, uint32_t lane) {
    switch (o.shape.element) {
    case WaveMatrixElement::Half:
      return halfToFloat(w.at<uint16_t>(from[index])[lane]);
    case WaveMatrixElement::BFloat:
      return bfloatToFloat(w.at<uint16_t>(from[index])[lane]);
    default:
      return fp8ToFloat(uint8_t(packed(w, from, index, lane, 8)), format);
    }
  });
}

void gatherIntegers(const Wave &w, const WaveMatrixOperands &o, const std::vector<Register> &from, bool isSigned,
                    Matrix<int32_t> &m) {
  const uint32_t bits = o.shape.elementBits();
  gather(w, o, m,
         [&](uint32_t index, uint32_t lane) { return integerOf(packed(w, from, index, lane, bits), bits, isSigned); });
}

/// sumAt(row, column, register of D, lane) for all sums of active lanes.
template <class SumAt> void forEachSum(Wave &w, const WaveMatrixOperands &o, SumAt sumAt) {
  const bool apart = o.gfxMajor == 11 && (o.shape.sum == WaveMatrixSum::Half || o.shape.sum == WaveMatrixSum::BFloat);
  forEachLane(w.exec, [&](uint32_t lane) {
    for (uint32_t index = 0; index < o.sumsPerLane(w.lanes); ++index)
      sumAt(rowOfSum(o, lane / 16, index, w.lanes), lane % 16, apart ? 2 * index + o.high : index, lane);
  });
}

void multiplyFloats(Wave &w, const WaveMatrixOperands &o) {
  Matrix<float> a, b;
  gatherFloats(w, o, o.a, o.shape.a, a);
  gatherFloats(w, o, o.b, o.shape.b, b);
  const bool half = o.shape.sum == WaveMatrixSum::Half;
  if (o.shape.sum == WaveMatrixSum::Single)
    return forEachSum(w, o, [&](uint32_t row, uint32_t column, uint32_t at, uint32_t lane) {
      float sum = w.at<float>(o.c[at])[lane];
      for (uint32_t k = 0; k < o.shape.k; ++k)
        sum = std::fma(a[row][k], b[column][k], sum);
      w.at<float>(o.d[at])[lane] = sum;
    });
  // What is no sum (the other halves on gfx11) stays as in C.
  for (size_t k = 0; k < o.d.size(); ++k)
    forEachLane(w.exec, [&](uint32_t lane) { w.at<uint16_t>(o.d[k])[lane] = w.at<uint16_t>(o.c[k])[lane]; });
  forEachSum(w, o, [&](uint32_t row, uint32_t column, uint32_t at, uint32_t lane) {
    const uint16_t bits = w.at<uint16_t>(o.c[at])[lane];
    float sum = half ? halfToFloat(bits) : bfloatToFloat(bits);
    for (uint32_t k = 0; k < o.shape.k; ++k)
      sum = std::fma(a[row][k], b[column][k], sum);
    w.at<uint16_t>(o.d[at])[lane] = half ? floatToHalf(sum) : floatToBFloat(sum);
  });
}

void multiplyIntegers(Wave &w, const WaveMatrixOperands &o) {
  Matrix<int32_t> a, b;
  gatherIntegers(w, o, o.a, o.signedA, a);
  gatherIntegers(w, o, o.b, o.signedB, b);
  forEachSum(w, o, [&](uint32_t row, uint32_t column, uint32_t at, uint32_t lane) {
    int64_t sum = w.at<int32_t>(o.c[at])[lane];
    for (uint32_t k = 0; k < o.shape.k; ++k)
      sum += a[row][k] * b[column][k];
    if (o.clamp)
      sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    w.at<int32_t>(o.d[at])[lane] = int32_t(uint32_t(sum));
  });
}

void waveMatrixRun(Wave &w, const Op &op) {
  const auto &o = *static_cast<const WaveMatrixOperands *>(op.extra);
  o.shape.sum == WaveMatrixSum::Int32 ? multiplyIntegers(w, o) : multiplyFloats(w, o);
}

} // namespace

Handler waveMatrixMultiply() { return waveMatrixRun; }

} // namespace wavesan::cpu::engine
