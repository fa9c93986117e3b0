// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element formats of OCP's microscaling numbers (gfx950, gfx12.5): eight bits (fp8.h), six and four, of which the
// small ones have neither infinity nor NaN. And their scales, powers of two.
#ifndef WAVESAN_CPU_ENGINE_MX_FLOAT_H
#define WAVESAN_CPU_ENGINE_MX_FLOAT_H

#include "fp8.h"

namespace wavesan::cpu::engine {

/// In the order in which instructions number them.
enum class MxFormat : uint8_t { E4M3, E5M2, E2M3, E3M2, E2M1 };
inline constexpr uint32_t kMxFormats = 5;

struct MxLayout {
  int exponentBits, mantissaBits, bias;
  constexpr explicit MxLayout(MxFormat f)
      : exponentBits(f == MxFormat::E4M3   ? 4
                     : f == MxFormat::E5M2 ? 5
                     : f == MxFormat::E3M2 ? 3
                                           : 2),
        mantissaBits(f == MxFormat::E4M3 || f == MxFormat::E2M3   ? 3
                     : f == MxFormat::E5M2 || f == MxFormat::E3M2 ? 2
                                                                  : 1),
        bias((1 << (exponentBits - 1)) - 1) {}
  constexpr uint32_t bits() const { return uint32_t(1 + exponentBits + mantissaBits); }
};
constexpr bool isFp8(MxFormat f) { return f == MxFormat::E4M3 || f == MxFormat::E5M2; }

inline float mxToFloat(uint32_t bits, MxFormat format) {
  if (isFp8(format))
    return fp8ToFloat(uint8_t(bits), format == MxFormat::E5M2 ? Fp8::E5M2 : Fp8::E4M3);
  const MxLayout l(format);
  const int mantissa = int(bits) & ((1 << l.mantissaBits) - 1);
  const int exponent = int(bits) >> l.mantissaBits & ((1 << l.exponentBits) - 1);
  const float value = exponent == 0
                          ? std::ldexp(float(mantissa), 1 - l.bias - l.mantissaBits)
                          : std::ldexp(float(mantissa + (1 << l.mantissaBits)), exponent - l.bias - l.mantissaBits);
  return bits >> (l.bits() - 1) & 1 ? -value : value;
}

/// To nearest even. Six and four bits: what is too large becomes the largest number, and so does NaN, of which
/// documents say nothing.
inline uint32_t toMx(double value, MxFormat format) {
  if (isFp8(format))
    return floatToFp8(value, format == MxFormat::E5M2 ? Fp8::E5M2 : Fp8::E4M3);
  const MxLayout l(format);
  const uint32_t sign = uint32_t(std::signbit(value)) << (l.bits() - 1), largest = (1u << (l.bits() - 1)) - 1;
  const double magnitude = std::fabs(value);
  if (!(magnitude < 64)) // the largest of all is 28
    return sign | largest;
  const int exponent = magnitude == 0 ? 1 - l.bias : std::max(std::ilogb(magnitude), 1 - l.bias);
  // A mantissa that is rounded up to two goes on in the exponent.
  const int mantissa = int(std::nearbyint(std::ldexp(magnitude, l.mantissaBits - exponent)));
  const int code = ((exponent + l.bias) << l.mantissaBits) + mantissa - (1 << l.mantissaBits);
  return sign | std::min(uint32_t(code), largest);
}

/// E8M0: 2 to the power of the byte less 127, or NaN.
inline double mxScale(uint32_t byte) {
  return byte == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, int(byte) - 127);
}

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_MX_FLOAT_H
