// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts: "AMD Instinct MI300" and "CDNA4" instruction set documents, sections on sparse matrices.
//   B: as in dense instructions (matrix.cpp); in gfx950's longer ones the halves of a lane's elements belong to the
//   halves of k. C, D: as in dense instructions.
//   A: a lane has those elements of its row that meet the elements of B in the lanes of the same number / n. Elements
//   2 i and 2 i + 1 belong to the i-th four of them, at the places that two bits each of the lane's index say. Where
//   that takes less than a register, ABID says which part of it counts if CBSZ is 0; else the lowest does. (The CDNA4
//   document says in one place that gfx950's longer 16-bit instructions have sets of eight bits; its table of the index
//   shows sixteen, as many as there are elements to find.)
// Products are added in the order in which the elements of A are given, as in matrix.cpp.
#include "sparse_matrix.h"
#include "matrix_elements.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace wavesan::cpu::engine {

std::optional<SparseShape> sparseShape(unsigned intrinsic) {
  using namespace llvm;
  using E = MatrixElement;
  const auto shape = [](uint8_t rows, uint8_t k, E element, bool fiveA = false, bool fiveB = false) {
    const bool isLong = k * rows * (element == E::Half || element == E::BFloat ? 2u : 1u) > 1024;
    return SparseShape{{rows, rows, k, 1, element, fiveA, fiveB, true}, isLong};
  };
  switch (intrinsic) {
  case Intrinsic::amdgcn_smfmac_f32_16x16x32_f16:
    return shape(16, 32, E::Half);
  case Intrinsic::amdgcn_smfmac_f32_32x32x16_f16:
    return shape(32, 16, E::Half);
  case Intrinsic::amdgcn_smfmac_f32_16x16x32_bf16:
    return shape(16, 32, E::BFloat);
  case Intrinsic::amdgcn_smfmac_f32_32x32x16_bf16:
    return shape(32, 16, E::BFloat);
  case Intrinsic::amdgcn_smfmac_i32_16x16x64_i8:
    return shape(16, 64, E::Int8);
  case Intrinsic::amdgcn_smfmac_i32_32x32x32_i8:
    return shape(32, 32, E::Int8);
  case Intrinsic::amdgcn_smfmac_f32_16x16x64_fp8_fp8:
    return shape(16, 64, E::Fp8, false, false);
  case Intrinsic::amdgcn_smfmac_f32_16x16x64_fp8_bf8:
    return shape(16, 64, E::Fp8, false, true);
  case Intrinsic::amdgcn_smfmac_f32_16x16x64_bf8_fp8:
    return shape(16, 64, E::Fp8, true, false);
  case Intrinsic::amdgcn_smfmac_f32_16x16x64_bf8_bf8:
    return shape(16, 64, E::Fp8, true, true);
  case Intrinsic::amdgcn_smfmac_f32_32x32x32_fp8_fp8:
    return shape(32, 32, E::Fp8, false, false);
  case Intrinsic::amdgcn_smfmac_f32_32x32x32_fp8_bf8:
    return shape(32, 32, E::Fp8, false, true);
  case Intrinsic::amdgcn_smfmac_f32_32x32x32_bf8_fp8:
    return shape(32, 32, E::Fp8, true, false);
  case Intrinsic::amdgcn_smfmac_f32_32x32x32_bf8_bf8:
    return shape(32, 32, E::Fp8, true, true);
  case Intrinsic::amdgcn_smfmac_f32_16x16x64_f16:
    return shape(16, 64, E::Half);
  case Intrinsic::amdgcn_smfmac_f32_32x32x32_f16:
    return shape(32, 32, E::Half);
  case Intrinsic::amdgcn_smfmac_f32_16x16x64_bf16:
    return shape(16, 64, E::BFloat);
  case Intrinsic::amdgcn_smfmac_f32_32x32x32_bf16:
    return shape(32, 32, E::BFloat);
  case Intrinsic::amdgcn_smfmac_i32_16x16x128_i8:
    return shape(16, 128, E::Int8);
  case Intrinsic::amdgcn_smfmac_i32_32x32x64_i8:
    return shape(32, 64, E::Int8);
  case Intrinsic::amdgcn_smfmac_f32_16x16x128_fp8_fp8:
    return shape(16, 128, E::Fp8, false, false);
  case Intrinsic::amdgcn_smfmac_f32_16x16x128_fp8_bf8:
    return shape(16, 128, E::Fp8, false, true);
  case Intrinsic::amdgcn_smfmac_f32_16x16x128_bf8_fp8:
    return shape(16, 128, E::Fp8, true, false);
  case Intrinsic::amdgcn_smfmac_f32_16x16x128_bf8_bf8:
    return shape(16, 128, E::Fp8, true, true);
  case Intrinsic::amdgcn_smfmac_f32_32x32x64_fp8_fp8:
    return shape(32, 64, E::Fp8, false, false);
  case Intrinsic::amdgcn_smfmac_f32_32x32x64_fp8_bf8:
    return shape(32, 64, E::Fp8, false, true);
  case Intrinsic::amdgcn_smfmac_f32_32x32x64_bf8_fp8:
    return shape(32, 64, E::Fp8, true, false);
  case Intrinsic::amdgcn_smfmac_f32_32x32x64_bf8_bf8:
    return shape(32, 64, E::Fp8, true, true);
  default:
    return std::nullopt;
  }
}

namespace {

/// Where in its column element `index` of B stands that a lane of group lane / n has.
uint32_t positionOfK(const SparseShape &s, uint32_t group, uint32_t index) {
  const uint32_t perLane = s.bPerLane();
  if (!s.since950)
    return group * perLane + index;
  const uint32_t half = perLane / 2;
  return index / half * (s.dense.k / 2) + group * half + index % half;
}

template <MatrixElement E> void multiply(Wave &w, const SparseOperands &o) {
  using A = MatrixArithmetic<E>;
  using Sum = typename A::Sum;
  const MatrixShape &s = o.shape.dense;
  const uint32_t half = s.k / 2, aPerLane = o.shape.aPerLane(), bPerLane = o.shape.bPerLane();
  constexpr uint32_t kMost = kMatrixLanes * 32;
  Sum a[kMost / 2], b[kMost]; // [row of A, or column of B][k]
  uint8_t place[kMost / 2];   // of an element of A in its row
  const MatrixInput inA{w, o.a, o.perRegister, false, fp8Format(s.fiveA, o.ocp)};
  const MatrixInput inB{w, o.b, o.perRegister, false, fp8Format(s.fiveB, o.ocp)};
  for (uint32_t lane = 0; lane < kMatrixLanes; ++lane) {
    const uint32_t row = lane % s.m, part = lane / s.m;
    const uint32_t index = w.at<uint32_t>(o.index)[lane] >> (o.indexSet * o.shape.indexBits());
    for (uint32_t i = 0; i < aPerLane; ++i) {
      const uint32_t four = positionOfK(o.shape, part, i / 2 * 4), at = row * half + four / 2 + i % 2;
      a[at] = A::element(inA, i, lane);
      place[at] = uint8_t(four + (index >> (2 * i) & 3));
    }
    for (uint32_t i = 0; i < bPerLane; ++i)
      b[row * s.k + positionOfK(o.shape, part, i)] = A::element(inB, i, lane);
  }
  forEachLane(w.exec, [&](uint32_t lane) {
    for (uint32_t i = 0; i < o.d.size(); ++i) {
      const MatrixPlace p = placeOfSum(s, i, lane);
      Sum sum = w.at<Sum>(o.c[i])[lane];
      for (uint32_t k = 0; k < half; ++k)
        sum = A::multiplyAdd(a[p.row * half + k], b[p.column * s.k + place[p.row * half + k]], sum);
      w.at<Sum>(o.d[i])[lane] = sum;
    }
  });
}

void sparseRun(Wave &w, const Op &op) {
  const auto &o = *static_cast<const SparseOperands *>(op.extra);
  switch (o.shape.dense.element) {
  case MatrixElement::Half:
    return multiply<MatrixElement::Half>(w, o);
  case MatrixElement::BFloat:
    return multiply<MatrixElement::BFloat>(w, o);
  case MatrixElement::Int8:
    return multiply<MatrixElement::Int8>(w, o);
  default: // no shape has another
    return multiply<MatrixElement::Fp8>(w, o);
  }
}

} // namespace

Handler sparseMultiply() { return sparseRun; }

} // namespace wavesan::cpu::engine
