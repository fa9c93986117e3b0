// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix instructions of CDNA (v_mfma_*): D = A * B + C for one or more blocks, spread over the registers of a wave.
#ifndef WAVESAN_CPU_ENGINE_MATRIX_H
#define WAVESAN_CPU_ENGINE_MATRIX_H

#include "wave.h"

#include <optional>
#include <vector>

namespace wavesan::cpu::engine {

/// Of the elements of A and B. Sums are int32_t for Int8, double for Double, else float. Xf32: float of which ten bits
/// of the mantissa count.
enum class MatrixElement : uint8_t { Single, Half, BFloat, Int8, Double, Xf32, Fp8 };

/// A is m x k, B k x n, C and D m x n, all of them `blocks` times.
struct MatrixShape {
  uint8_t m, n, k, blocks;
  MatrixElement element;
  bool fiveA = false, fiveB = false; ///< of Fp8: five bits of exponent (bf8)
  bool since942 = false;

  /// Elements of A (or B) in one lane.
  uint32_t perLane() const { return uint32_t(m) * k * blocks / 64; }
  /// Elements of C (or D) in one lane.
  uint32_t sumsPerLane() const { return uint32_t(m) * n * blocks / 64; }
  /// Four elements in a dword.
  bool isPacked() const { return element == MatrixElement::Int8 || element == MatrixElement::Fp8; }
  bool hasLanePatterns() const { return element != MatrixElement::Double && !since942; }
};

/// The shape of an intrinsic (llvm::Intrinsic::ID) of gfx950 and earlier; none if it is not one of them.
std::optional<MatrixShape> matrixShape(unsigned intrinsic);

struct MatrixOperands {
  MatrixShape shape;
  std::vector<Register> a, b; ///< one for each element, or for four or eight packed ones
  std::vector<Register> c, d;
  uint32_t broadcastSize = 0, broadcastBlock = 0; ///< CBSZ, ABID: 2^size blocks get the same block of A
  uint32_t lanePattern = 0;                       ///< BLGP: from which lanes B comes
  uint32_t perRegister = 1;                       ///< of packed elements: 4 or 8
  bool flushDenormals = false;                    ///< of half and bfloat16, and their sums
  bool ocp = false;                               ///< Fp8: the OCP formats, not those of gfx942
};
Handler matrixMultiply(); ///< extra: MatrixOperands

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_MATRIX_H
