// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix instructions of RDNA (v_wmma_*, gfx11 and gfx12.0): D = A * B + C with matrices of 16 rows and columns.
#ifndef WAVESAN_CPU_ENGINE_WAVE_MATRIX_H
#define WAVESAN_CPU_ENGINE_WAVE_MATRIX_H

#include "fp8.h"
#include "wave.h"

#include <optional>
#include <vector>

namespace wavesan::cpu::engine {

enum class WaveMatrixElement : uint8_t { Half, BFloat, Int8, Int4, Fp8 };
enum class WaveMatrixSum : uint8_t { Single, Int32, Half, BFloat };

struct WaveMatrixShape {
  uint8_t k;
  WaveMatrixElement element;
  WaveMatrixSum sum;
  Fp8 a = Fp8::E4M3, b = Fp8::E4M3; ///< of element Fp8

  uint32_t elementBits() const {
    return element == WaveMatrixElement::Int4                                        ? 4
           : element == WaveMatrixElement::Int8 || element == WaveMatrixElement::Fp8 ? 8
                                                                                     : 16;
  }
};

/// The shape of an intrinsic (llvm::Intrinsic::ID); none if it is not one of them.
std::optional<WaveMatrixShape> waveMatrixShape(unsigned intrinsic);

struct WaveMatrixOperands {
  WaveMatrixShape shape;
  uint32_t gfxMajor;
  std::vector<Register> a, b; ///< one for each 16-bit element, or one dword for the smaller ones that it holds
  std::vector<Register> c, d; ///< one for each element
  bool signedA = false, signedB = false, clamp = false;
  bool high = false; ///< gfx11, sums of 16 bits: in the high halves of their registers

  /// Elements of A (or B) in one lane, and how many lanes share a row of A (or column of B).
  uint32_t perLane(uint32_t lanes) const;
  uint32_t groups(uint32_t lanes) const;
  /// Elements of D in one lane that the instruction computes.
  static uint32_t sumsPerLane(uint32_t lanes) { return 256 / lanes; }
};
Handler waveMatrixMultiply(); ///< extra: WaveMatrixOperands

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_WAVE_MATRIX_H
