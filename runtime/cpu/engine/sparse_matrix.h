// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sparse matrix instructions of CDNA (v_smfmac_*, gfx942 and gfx950): D = A * B + C, where of four consecutive elements
// in a row of A two are given, and an index says which.
#ifndef WAVESAN_CPU_ENGINE_SPARSE_MATRIX_H
#define WAVESAN_CPU_ENGINE_SPARSE_MATRIX_H

#include "matrix.h"

namespace wavesan::cpu::engine {

/// Elements of A, two of each four.
struct SparseShape {
  MatrixShape dense; ///< k counts all elements of a row, those that are not given too
  bool since950 = false;

  uint32_t aPerLane() const { return bPerLane() / 2; }
  uint32_t bPerLane() const { return dense.perLane(); }
  /// Of one lane: two for each of its elements of A.
  uint32_t indexBits() const { return 2 * aPerLane(); }
};

/// The shape of an intrinsic (llvm::Intrinsic::ID); none if it is not one of them.
std::optional<SparseShape> sparseShape(unsigned intrinsic);

struct SparseOperands {
  SparseShape shape;
  std::vector<Register> a, b, c, d; ///< of A and B one for each element, or for four packed ones
  Register index = kNoRegister;
  uint32_t indexSet = 0;    ///< of the sets of indices that the register has room for
  uint32_t perRegister = 1; ///< of packed elements
  bool ocp = false;         ///< as in MatrixOperands
};
Handler sparseMultiply(); ///< extra: SparseOperands

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_SPARSE_MATRIX_H
