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
#include "wave_matrix_elements.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

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

constexpr uint32_t kMostK = 32;

/// Where in its row element `index` of a lane of group lane / 16 stands.
uint32_t positionOfK(const WaveMatrixOperands &o, uint32_t group, uint32_t index, uint32_t lanes) {
  const uint32_t perLane = o.perLane(lanes), groups = o.groups(lanes);
  if (o.shape.elementBits() == 16) // fours, to the groups in turn
    return index / 4 * 4 * groups + group * 4 + index % 4;
  if (groups == 4) // of two groups and two, the halves alternate
    return perLane * (group % 2 * 2 + group / 2) + index;
  return perLane * group + index;
}

template <class T> using Matrix = T[kWaveMatrixRows][kMostK];

template <class T, class Element>
void gather(const Wave &w, const WaveMatrixOperands &o, Matrix<T> &m, Element element) {
  for (uint32_t lane = 0; lane < o.groups(w.lanes) * 16; ++lane)
    for (uint32_t index = 0; index < o.perLane(w.lanes); ++index)
      m[lane % 16][positionOfK(o, lane / 16, index, w.lanes)] = element(index, lane);
}

void multiplyFloats(const Wave &w, const WaveMatrixOperands &o) {
  Matrix<float> a, b;
  const auto from = [&](const std::vector<Register> &registers, Fp8 format) {
    return [&w, &o, &registers, format](uint32_t index, uint32_t lane) {
      return floatElement(w, registers, index, lane, o.shape.element, format);
    };
  };
  gather(w, o, a, from(o.a, o.shape.a));
  gather(w, o, b, from(o.b, o.shape.b));
  WaveMatrixSums{o.c, o.d, o.shape.sum, o.gfxMajor, o.high}.addFloats(w, [&](uint32_t row, uint32_t column, float sum) {
    for (uint32_t k = 0; k < o.shape.k; ++k)
      sum = std::fma(a[row][k], b[column][k], sum);
    return sum;
  });
}

void multiplyIntegers(const Wave &w, const WaveMatrixOperands &o) {
  Matrix<int32_t> a, b;
  const auto from = [&](const std::vector<Register> &registers, bool isSigned) {
    return [&w, &o, &registers, isSigned](uint32_t index, uint32_t lane) {
      return integerElement(w, registers, index, lane, o.shape.elementBits(), isSigned);
    };
  };
  gather(w, o, a, from(o.a, o.signedA));
  gather(w, o, b, from(o.b, o.signedB));
  WaveMatrixSums{o.c, o.d, o.shape.sum, o.gfxMajor, o.high}.addIntegers(
      w, o.clamp, [&](uint32_t row, uint32_t column, int64_t sum) {
        for (uint32_t k = 0; k < o.shape.k; ++k)
          sum += a[row][k] * b[column][k];
        return sum;
      });
}

void waveMatrixRun(Wave &w, const Op &op) {
  const auto &o = *static_cast<const WaveMatrixOperands *>(op.extra);
  o.shape.sum == WaveMatrixSum::Int32 ? multiplyIntegers(w, o) : multiplyFloats(w, o);
}

} // namespace

Handler waveMatrixMultiply() { return waveMatrixRun; }

} // namespace wavesan::cpu::engine
