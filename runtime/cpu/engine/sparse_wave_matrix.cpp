// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts: "RDNA4 instruction set architecture", sections on sparse wave matrices.
//   B, C, D: as in dense instructions (wave_matrix.cpp), but that lanes have eight consecutive elements of 16 bits.
//   A: lane % 16 is the row. Elements 2 i and 2 i + 1 belong to the i-th four of those that a lane covers, at the
//   places that two bits each of the lane's index say.
// Products are added in the order in which the elements of A are given, as in wave_matrix.cpp.
#include "sparse_wave_matrix.h"
#include "wave_matrix_elements.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace wavesan::cpu::engine {

std::optional<WaveMatrixShape> sparseWaveMatrixShape(unsigned intrinsic) {
  using namespace llvm;
  using E = WaveMatrixElement;
  using S = WaveMatrixSum;
  switch (intrinsic) {
  case Intrinsic::amdgcn_swmmac_f32_16x16x32_f16:
    return WaveMatrixShape{32, E::Half, S::Single};
  case Intrinsic::amdgcn_swmmac_f32_16x16x32_bf16:
    return WaveMatrixShape{32, E::BFloat, S::Single};
  case Intrinsic::amdgcn_swmmac_f16_16x16x32_f16:
    return WaveMatrixShape{32, E::Half, S::Half};
  case Intrinsic::amdgcn_swmmac_bf16_16x16x32_bf16:
    return WaveMatrixShape{32, E::BFloat, S::BFloat};
  case Intrinsic::amdgcn_swmmac_i32_16x16x32_iu8:
    return WaveMatrixShape{32, E::Int8, S::Int32};
  case Intrinsic::amdgcn_swmmac_i32_16x16x32_iu4:
    return WaveMatrixShape{32, E::Int4, S::Int32};
  case Intrinsic::amdgcn_swmmac_i32_16x16x64_iu4:
    return WaveMatrixShape{64, E::Int4, S::Int32};
  case Intrinsic::amdgcn_swmmac_f32_16x16x32_fp8_fp8:
    return WaveMatrixShape{32, E::Fp8, S::Single, Fp8::E4M3, Fp8::E4M3};
  case Intrinsic::amdgcn_swmmac_f32_16x16x32_fp8_bf8:
    return WaveMatrixShape{32, E::Fp8, S::Single, Fp8::E4M3, Fp8::E5M2};
  case Intrinsic::amdgcn_swmmac_f32_16x16x32_bf8_fp8:
    return WaveMatrixShape{32, E::Fp8, S::Single, Fp8::E5M2, Fp8::E4M3};
  case Intrinsic::amdgcn_swmmac_f32_16x16x32_bf8_bf8:
    return WaveMatrixShape{32, E::Fp8, S::Single, Fp8::E5M2, Fp8::E5M2};
  default:
    return std::nullopt;
  }
}

uint32_t SparseWaveMatrixOperands::aCovers(uint32_t lanes) const {
  // A lane has a dword at least: eight elements of four bits, two of each four.
  return std::max(bPerLane(lanes), 2 * 32 / shape.elementBits());
}

namespace {

constexpr uint32_t kMostK = 64;

/// Where in its row element `index` of a lane of group lane / 16 stands, if each lane has `perLane` of k.
uint32_t positionOfK(uint32_t k, uint32_t elementBits, uint32_t perLane, uint32_t group, uint32_t index) {
  const uint32_t groups = k / perLane;
  if (elementBits == 16) // eights, to the groups in turn
    return index / 8 * 8 * groups + group * 8 + index % 8;
  if (groups == 4) // of two groups and two, the halves alternate
    return perLane * (group % 2 * 2 + group / 2) + index;
  return perLane * group + index;
}

/// Of any lane, active or not: so no operation of the decoder's can have made it wider.
uint32_t indexOf(const Wave &w, const SparseWaveMatrixOperands &o, uint32_t lane) {
  switch (o.indexWidth) {
  case Width::B8:
    return w.at<uint8_t>(o.index)[lane];
  case Width::B16:
    return w.at<uint16_t>(o.index)[lane];
  default:
    return w.at<uint32_t>(o.index)[lane];
  }
}

template <class T> struct Matrices {
  T a[kWaveMatrixRows][kMostK / 2], b[kWaveMatrixRows][kMostK];
  uint8_t place[kWaveMatrixRows][kMostK / 2]; ///< of an element of A in its row

  /// ofA(index, lane), ofB(index, lane): elements.
  template <class OfA, class OfB> Matrices(const Wave &w, const SparseWaveMatrixOperands &o, OfA ofA, OfB ofB) {
    const uint32_t k = o.shape.k, bits = o.shape.elementBits();
    const uint32_t bPerLane = o.bPerLane(w.lanes), aCovers = o.aCovers(w.lanes);
    for (uint32_t lane = 0; lane < w.lanes; ++lane)
      for (uint32_t i = 0; i < bPerLane; ++i)
        b[lane % 16][positionOfK(k, bits, bPerLane, lane / 16, i)] = ofB(i, lane);
    for (uint32_t lane = 0; lane < k / aCovers * 16; ++lane) {
      const uint32_t index = indexOf(w, o, lane);
      for (uint32_t i = 0; i < aCovers / 2; ++i) {
        const uint32_t four = positionOfK(k, bits, aCovers, lane / 16, i / 2 * 4);
        a[lane % 16][four / 2 + i % 2] = ofA(i, lane);
        place[lane % 16][four / 2 + i % 2] = uint8_t(four + (index >> (2 * i) & 3));
      }
    }
  }
};

void multiplyFloats(const Wave &w, const SparseWaveMatrixOperands &o) {
  const Matrices<float> m(
      w, o, [&](uint32_t i, uint32_t lane) { return floatElement(w, o.a, i, lane, o.shape.element, o.shape.a); },
      [&](uint32_t i, uint32_t lane) { return floatElement(w, o.b, i, lane, o.shape.element, o.shape.b); });
  WaveMatrixSums{o.c, o.d, o.shape.sum, 12}.addFloats(w, [&](uint32_t row, uint32_t column, float sum) {
    for (uint32_t k = 0; k < o.shape.k / 2u; ++k)
      sum = std::fma(m.a[row][k], m.b[column][m.place[row][k]], sum);
    return sum;
  });
}

void multiplyIntegers(const Wave &w, const SparseWaveMatrixOperands &o) {
  const uint32_t bits = o.shape.elementBits();
  const Matrices<int32_t> m(
      w, o, [&](uint32_t i, uint32_t lane) { return integerElement(w, o.a, i, lane, bits, o.signedA); },
      [&](uint32_t i, uint32_t lane) { return integerElement(w, o.b, i, lane, bits, o.signedB); });
  WaveMatrixSums{o.c, o.d, o.shape.sum, 12}.addIntegers(w, o.clamp, [&](uint32_t row, uint32_t column, int64_t sum) {
    for (uint32_t k = 0; k < o.shape.k / 2u; ++k)
      sum += m.a[row][k] * m.b[column][m.place[row][k]];
    return sum;
  });
}

void sparseWaveMatrixRun(Wave &w, const Op &op) {
  const auto &o = *static_cast<const SparseWaveMatrixOperands *>(op.extra);
  o.shape.sum == WaveMatrixSum::Int32 ? multiplyIntegers(w, o) : multiplyFloats(w, o);
}

} // namespace

Handler sparseWaveMatrixMultiply() { return sparseWaveMatrixRun; }

} // namespace wavesan::cpu::engine
