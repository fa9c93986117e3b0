// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dense matrix instructions of gfx12.5 (v_wmma_*, waves of 32): D = A * B + C with 16 rows and columns.
#ifndef WAVESAN_CPU_ENGINE_GFX1250_MATRIX_H
#define WAVESAN_CPU_ENGINE_GFX1250_MATRIX_H

#include "mx_float.h"
#include "wave.h"

#include <optional>
#include <vector>

namespace wavesan::cpu::engine {

enum class Gfx1250Element : uint8_t { Single, Half, BFloat, Int8, Mx };
enum class Gfx1250Sum : uint8_t { Single, Half, BFloat, Int32 };
/// Which operands an intrinsic has besides A, B, C and hints that change no result.
enum class Gfx1250Form : uint8_t {
  ModifiersOfAll, ///< negation of A and B, modifiers of C
  ModifiersOfC,
  Integers, ///< signs of A and B, clamping
  Formats   ///< of A and B, modifiers of C
};

struct Gfx1250Shape {
  uint8_t k;
  Gfx1250Element element;
  Gfx1250Sum c, d;
  Gfx1250Form form;
  MxFormat a = MxFormat::E4M3, b = MxFormat::E4M3; ///< of element Mx

  uint32_t perLane() const { return k / 2u; }
};

/// The shape of an intrinsic (llvm::Intrinsic::ID); none if it is not one of them.
std::optional<Gfx1250Shape> gfx1250MatrixShape(unsigned intrinsic);

struct Gfx1250MatrixOperands {
  Gfx1250Shape shape;
  std::vector<Register> a, b; ///< one for each element, or for those that a dword holds
  std::vector<Register> c, d; ///< one for each element
  bool negateA = false, negateB = false, negateC = false, absoluteC = false;
  bool signedA = false, signedB = false, clamp = false;
};
Handler gfx1250MatrixMultiply(); ///< extra: Gfx1250MatrixOperands

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_GFX1250_MATRIX_H
