// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What dense and sparse matrix instructions of CDNA share: how elements lie in registers and are computed with, and
// where the elements of C and D stand (matrix.cpp has the layouts in words).
#ifndef WAVESAN_CPU_ENGINE_MATRIX_ELEMENTS_H
#define WAVESAN_CPU_ENGINE_MATRIX_ELEMENTS_H

#include "fp8.h"
#include "lanes.h"
#include "matrix.h"
#include "small_float.h"

#include <cmath>

namespace wavesan::cpu::engine {

inline constexpr uint32_t kMatrixLanes = 64; // of every wave that has these instructions

/// Where an element of C or D stands.
struct MatrixPlace {
  uint32_t block, row, column;
};
inline MatrixPlace placeOfSum(const MatrixShape &s, uint32_t index, uint32_t lane) {
  const uint32_t group = s.element == MatrixElement::Double ? 1 : 4, lanesOfColumns = lane / s.n;
  if (s.n == 4 && group == 4)
    return {lane / 4, index, lane % 4};
  if (s.n == 4)
    return {lane / 4 % s.blocks, lane / (4 * s.blocks), lane % 4};
  const uint32_t perBlock = s.m * s.n / kMatrixLanes, inBlock = index % perBlock;
  return {index / perBlock, inBlock / group * group * (kMatrixLanes / s.n) + lanesOfColumns * group + inBlock % group,
          lane % s.n};
}

inline float withoutDenormal(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

/// An operand of the instruction: A or B.
struct MatrixInput {
  const Wave &wave;
  const std::vector<Register> &registers;
  uint32_t perRegister;
  bool flush; ///< denormals
  Fp8 format;
  uint32_t byte(uint32_t index, uint32_t lane) const {
    const Register r = registers[index / perRegister];
    const uint64_t whole = perRegister == 8 ? wave.at<uint64_t>(r)[lane] : wave.at<uint32_t>(r)[lane];
    return whole >> (8 * (index % perRegister)) & 0xff;
  }
};

template <class T> struct FusedArithmetic {
  using Sum = T;
  static T multiplyAdd(T a, T b, T c) { return std::fma(a, b, c); }
  static T done(T sum, bool) { return sum; }
};
/// Of single elements, one in each register.
template <class T> struct WideElement : FusedArithmetic<T> {
  static T element(const MatrixInput &in, uint32_t index, uint32_t lane) {
    return in.wave.template at<T>(in.registers[index])[lane];
  }
};
/// Of 16-bit elements. No half is denormal as a float, so both kinds are looked at in their own format.
template <float (*load)(uint16_t), uint16_t exponent> struct NarrowElement : FusedArithmetic<float> {
  static float element(const MatrixInput &in, uint32_t index, uint32_t lane) {
    const uint16_t bits = in.wave.at<uint16_t>(in.registers[index])[lane];
    return load(bits & exponent || !in.flush ? bits : uint16_t(bits & 0x8000));
  }
  static float done(float sum, bool flush) { return flush ? withoutDenormal(sum) : sum; }
};
inline float fromHalf(uint16_t bits) { return halfToFloat(bits); }
inline float fromBFloat(uint16_t bits) { return bfloatToFloat(bits); }

template <MatrixElement> struct MatrixArithmetic;
template <> struct MatrixArithmetic<MatrixElement::Single> : WideElement<float> {};
template <> struct MatrixArithmetic<MatrixElement::Double> : WideElement<double> {};
template <> struct MatrixArithmetic<MatrixElement::Half> : NarrowElement<fromHalf, 0x7c00> {};
template <> struct MatrixArithmetic<MatrixElement::BFloat> : NarrowElement<fromBFloat, 0x7f80> {};
template <> struct MatrixArithmetic<MatrixElement::Xf32> : FusedArithmetic<float> {
  static float element(const MatrixInput &in, uint32_t index, uint32_t lane) {
    const uint32_t bits = in.wave.at<uint32_t>(in.registers[index])[lane];
    if ((bits & 0x7f800000) == 0x7f800000) // infinity, NaN
      return bitCast<float>(bits);
    return bitCast<float>((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
  }
};
template <> struct MatrixArithmetic<MatrixElement::Fp8> : FusedArithmetic<float> {
  static float element(const MatrixInput &in, uint32_t index, uint32_t lane) {
    return fp8ToFloat(uint8_t(in.byte(index, lane)), in.format);
  }
};
template <> struct MatrixArithmetic<MatrixElement::Int8> {
  using Sum = int32_t;
  static int32_t element(const MatrixInput &in, uint32_t index, uint32_t lane) { return int8_t(in.byte(index, lane)); }
  static int32_t multiplyAdd(int32_t a, int32_t b, int32_t c) { return int32_t(uint32_t(a * b) + uint32_t(c)); }
  static int32_t done(int32_t sum, bool) { return sum; }
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_MATRIX_ELEMENTS_H
