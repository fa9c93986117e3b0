// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts: "CDNA4" instruction set document, "8-bit and smaller matrix operations", "Block scaled matrices".
//   A: the row from the lane. Lanes of six and four bits have 32 consecutive elements of it, those of eight bits 16 in
//   the first half of the row and 16 in the second. B: the same with columns. C, D: as in other instructions
//   (matrix.cpp). Scales: one for every 32 elements of a row (column); that of row i and elements from 32 j on is in
//   lane i + rows * j, in the byte that the instruction selects.
// The document adds the exponents of the scales to those of the products. Here, as in matrix.cpp, along k, one rounding
// for each product, scale included.
#include "scaled_matrix.h"
#include "matrix_elements.h"
#include "mx_registers.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace wavesan::cpu::engine {

std::optional<uint32_t> scaledMatrixRows(unsigned intrinsic) {
  using namespace llvm;
  switch (intrinsic) {
  case Intrinsic::amdgcn_mfma_scale_f32_16x16x128_f8f6f4:
    return 16;
  case Intrinsic::amdgcn_mfma_scale_f32_32x32x64_f8f6f4:
    return 32;
  default:
    return std::nullopt;
  }
}

namespace {

constexpr uint32_t kPerLane = 32;

/// [row][k], scales included; no element with its scale is too large or too small for a double.
void gather(const Wave &w, const ScaledMatrixOperands &o, const ScaledMatrixOperands::Input &in, double *to) {
  const uint32_t k = o.k();
  for (uint32_t lane = 0; lane < kMatrixLanes; ++lane) {
    const uint32_t row = lane % o.rows, group = lane / o.rows;
    for (uint32_t i = 0; i < kPerLane; ++i) {
      const uint32_t at = isFp8(in.format) ? i / 16 * (k / 2) + group * 16 + i % 16 : group * kPerLane + i;
      to[row * k + at] = mxElement(w, in.dwords, in.format, i, lane);
    }
  }
  if (in.scale == kNoRegister)
    return;
  for (uint32_t lane = 0; lane < kMatrixLanes; ++lane) {
    const double scale = mxScale(w.at<uint32_t>(in.scale)[lane] >> (8 * in.scaleByte) & 0xff);
    double *block = to + lane % o.rows * k + lane / o.rows * 32;
    for (uint32_t i = 0; i < 32; ++i)
      block[i] *= scale;
  }
}

void multiply(Wave &w, const Op &op) {
  const auto &o = *static_cast<const ScaledMatrixOperands *>(op.extra);
  const MatrixShape sums{uint8_t(o.rows), uint8_t(o.rows), uint8_t(o.k()), 1, MatrixElement::Fp8};
  double a[kMatrixLanes * kPerLane], b[kMatrixLanes * kPerLane];
  gather(w, o, o.a, a);
  gather(w, o, o.b, b);
  forEachLane(w.exec, [&](uint32_t lane) {
    for (uint32_t i = 0; i < o.d.size(); ++i) {
      const MatrixPlace p = placeOfSum(sums, i, lane);
      const double *row = a + p.row * o.k(), *column = b + p.column * o.k();
      float sum = w.at<float>(o.c[i])[lane];
      for (uint32_t k = 0; k < o.k(); ++k)
        sum = float(addToOdd(row[k] * column[k], double(sum))); // products are exact
      w.at<float>(o.d[i])[lane] = sum;
    }
  });
}

} // namespace

Handler scaledMatrixMultiply() { return multiply; }

} // namespace wavesan::cpu::engine
