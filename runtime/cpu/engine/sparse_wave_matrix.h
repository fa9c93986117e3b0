// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sparse matrix instructions of gfx12.0 (v_swmmac_*): D = A * B + C with matrices of 16 rows and columns, where of four
// consecutive elements in a row of A two are given, and an index says which.
#ifndef WAVESAN_CPU_ENGINE_SPARSE_WAVE_MATRIX_H
#define WAVESAN_CPU_ENGINE_SPARSE_WAVE_MATRIX_H

#include "wave_matrix.h"

namespace wavesan::cpu::engine {

/// The shape of an intrinsic (llvm::Intrinsic::ID) of gfx12.0, k counting all elements of a row; none if it is not one
/// of them.
std::optional<WaveMatrixShape> sparseWaveMatrixShape(unsigned intrinsic);

struct SparseWaveMatrixOperands {
  WaveMatrixShape shape;
  std::vector<Register> a, b;   ///< as in WaveMatrixOperands
  std::vector<Register> c, d;   ///< one for each element
  Register index = kNoRegister; ///< its lowest bits count
  Width indexWidth = Width::B32;
  bool signedA = false, signedB = false, clamp = false;

  /// Elements in one lane: of B, and of a row of A those that its lane has two of each four of.
  uint32_t bPerLane(uint32_t lanes) const { return shape.k * 16u / lanes; }
  uint32_t aCovers(uint32_t lanes) const;
};
Handler sparseWaveMatrixMultiply(); ///< extra: SparseWaveMatrixOperands

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_SPARSE_WAVE_MATRIX_H
