// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point numbers of eight bits: the OCP formats (gfx950, gfx12) and those of gfx942, which have one zero, one
// NaN (negative zero's place), no infinity, and a bias that is larger by one.
#ifndef WAVESAN_CPU_ENGINE_FP8_H
#define WAVESAN_CPU_ENGINE_FP8_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace wavesan::cpu::engine {

enum class Fp8 : uint8_t { E4M3, E5M2, E4M3Fnuz, E5M2Fnuz };

constexpr Fp8 fp8Format(bool fiveBits, bool ocp) {
  return fiveBits ? ocp ? Fp8::E5M2 : Fp8::E5M2Fnuz : ocp ? Fp8::E4M3 : Fp8::E4M3Fnuz;
}

struct Fp8Layout {
  bool five; ///< bits of exponent, else four
  bool one;  ///< zero, that of gfx942
  int mantissaBits, bias;
  constexpr explicit Fp8Layout(Fp8 format)
      : five(format == Fp8::E5M2 || format == Fp8::E5M2Fnuz), one(format == Fp8::E4M3Fnuz || format == Fp8::E5M2Fnuz),
        mantissaBits(five ? 2 : 3), bias((five ? 15 : 7) + one) {}
};

inline float fp8ToFloat(uint8_t bits, Fp8 format) {
  const auto [five, one, mantissaBits, bias] = Fp8Layout(format);
  const int mantissa = bits & ((1 << mantissaBits) - 1), exponent = (bits & 0x7f) >> mantissaBits;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (one ? bits == 0x80 : five ? exponent == 31 && mantissa != 0 : (bits & 0x7f) == 0x7f)
    return kNan;
  float value;
  if (!one && five && exponent == 31)
    value = std::numeric_limits<float>::infinity();
  else if (exponent == 0)
    value = std::ldexp(float(mantissa), 1 - bias - mantissaBits);
  else
    value = std::ldexp(float(mantissa + (1 << mantissaBits)), exponent - bias - mantissaBits);
  return bits & 0x80 ? -value : value;
}

/// To nearest even. What is too large: infinity where there is one, else NaN (MODE.FP16_OVFL, which makes it the
/// largest number, is off).
inline uint8_t floatToFp8(double value, Fp8 format) {
  const auto [five, one, mantissaBits, bias] = Fp8Layout(format);
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return one ? 0x80 : uint8_t(sign | 0x7f);
  const uint8_t tooLarge = one ? 0x80 : uint8_t(sign | (five ? 0x7c : 0x7f));
  if (std::isinf(value))
    return tooLarge;
  const double magnitude = std::fabs(value);
  const int exponent = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
  if (exponent > 127 - bias)
    return tooLarge;
  // A mantissa that is rounded up to two goes on in the exponent.
  const int mantissa = int(std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent)));
  const int code = ((exponent + bias) << mantissaBits) + mantissa - (1 << mantissaBits);
  if (code > (one ? 0x7f : five ? 0x7b : 0x7e))
    return tooLarge;
  return one && code == 0 ? 0 : uint8_t(sign | code);
}

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_FP8_H
