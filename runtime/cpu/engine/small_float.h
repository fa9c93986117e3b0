// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The four floating-point formats, how to compute in them, and correct rounding where one host format computes for
// another. A format is {Storage, Compute, load, store, storeDouble}; half and bfloat compute in float, which is wide
// enough (24 >= 2p + 2) that rounding twice equals rounding once for + - * / and sqrt.
#ifndef WAVESAN_CPU_ENGINE_SMALL_FLOAT_H
#define WAVESAN_CPU_ENGINE_SMALL_FLOAT_H

#include "lanes.h"

#define WAVESAN_INLINE [[gnu::always_inline]] static inline

namespace wavesan::cpu::engine {

WAVESAN_INLINE float halfToFloat(uint16_t h) {
  const uint32_t shifted = uint32_t(h & 0x7fff) << 13;
  const uint32_t normal = shifted + (112u << 23);
  const uint32_t special = shifted + (224u << 23);
  const float small = bitCast<float>(shifted + (113u << 23)) - bitCast<float>(113u << 23);
  const uint32_t magnitude = shifted >= (31u << 23) ? special : shifted < (1u << 23) ? bitCast<uint32_t>(small) : normal;
  return bitCast<float>(magnitude | uint32_t(h & 0x8000) << 16);
}

WAVESAN_INLINE uint16_t floatToHalf(float f) {
  const uint32_t bits = bitCast<uint32_t>(f), x = bits & 0x7fffffff;
  const uint32_t normal = (x + 0xc8000fffu + ((x >> 13) & 1)) >> 13;
  const uint32_t small = bitCast<uint32_t>(bitCast<float>(x) + 0.5f) - (126u << 23);
  const uint32_t nan = 0x7e00 | ((x >> 13) & 0x3ff);
  const uint32_t magnitude = x > 0x7f800000 ? nan : x >= 0x47800000 ? 0x7c00 : x < 0x38800000 ? small : normal;
  return uint16_t(magnitude | (bits >> 16 & 0x8000));
}

WAVESAN_INLINE float bfloatToFloat(uint16_t b) { return bitCast<float>(uint32_t(b) << 16); }

WAVESAN_INLINE uint16_t floatToBFloat(float f) {
  const uint32_t bits = bitCast<uint32_t>(f);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16) | 0x40 : rounded);
}

/// To float by rounding to odd: a later rounding to fewer bits is then correct.
WAVESAN_INLINE float doubleToFloatOdd(double d) {
  const float f = float(d);
  uint32_t bits = bitCast<uint32_t>(f);
  const double back = f;
  const bool inexact = back != d && d == d;
  const bool away = __builtin_fabs(back) > __builtin_fabs(d);
  bits -= inexact && away;
  return bitCast<float>(inexact ? bits | 1u : bits);
}

/// a + b rounded to odd.
WAVESAN_INLINE double addToOdd(double a, double b) {
  const double sum = a + b;
  const double bb = sum - a;
  const double error = (a - (sum - bb)) + (b - bb);
  const uint64_t bits = bitCast<uint64_t>(sum);
  const bool adjust = error == error && error != 0 && !(bits & 1) && __builtin_fabs(sum) < __builtin_inf();
  const uint64_t moved = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return bitCast<double>(adjust ? moved : bits);
}

struct SingleFormat {
  using Storage = float;
  using Compute = float;
  using Bits = uint32_t;
  static constexpr uint32_t kMantissa = 23;
  WAVESAN_INLINE float load(float v) { return v; }
  WAVESAN_INLINE float store(float v) { return v; }
  WAVESAN_INLINE float storeDouble(double v) { return float(v); }
  WAVESAN_INLINE float fma(float a, float b, float c) {
#ifdef __FMA__
    return __builtin_fmaf(a, b, c);
#else
    return float(addToOdd(double(a) * double(b), double(c)));
#endif
  }
};
struct DoubleFormat {
  using Storage = double;
  using Compute = double;
  using Bits = uint64_t;
  static constexpr uint32_t kMantissa = 52;
  WAVESAN_INLINE double load(double v) { return v; }
  WAVESAN_INLINE double store(double v) { return v; }
  WAVESAN_INLINE double storeDouble(double v) { return v; }
  WAVESAN_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct HalfFormat {
  using Storage = uint16_t;
  using Compute = float;
  using Bits = uint16_t;
  static constexpr uint32_t kMantissa = 10;
  WAVESAN_INLINE float load(uint16_t v) { return halfToFloat(v); }
  WAVESAN_INLINE uint16_t store(float v) { return floatToHalf(v); }
  WAVESAN_INLINE uint16_t storeDouble(double v) { return floatToHalf(doubleToFloatOdd(v)); }
};
struct BFloatFormat {
  using Storage = uint16_t;
  using Compute = float;
  using Bits = uint16_t;
  static constexpr uint32_t kMantissa = 7;
  WAVESAN_INLINE float load(uint16_t v) { return bfloatToFloat(v); }
  WAVESAN_INLINE uint16_t store(float v) { return floatToBFloat(v); }
  WAVESAN_INLINE uint16_t storeDouble(double v) { return floatToBFloat(doubleToFloatOdd(v)); }
};

/// minnum: the number when one operand is NaN; -0 is less than +0.
template <class T> WAVESAN_INLINE T minNumber(T a, T b) {
  const T smaller = a < b ? a : b < a ? b : __builtin_signbit(a) ? a : b;
  return a != a ? b : b != b ? a : smaller;
}
template <class T> WAVESAN_INLINE T maxNumber(T a, T b) {
  const T larger = a > b ? a : b > a ? b : __builtin_signbit(a) ? b : a;
  return a != a ? b : b != b ? a : larger;
}
/// minimum: NaN when one operand is NaN.
template <class T> WAVESAN_INLINE T minimumOf(T a, T b) { return a != a || b != b ? a + b : minNumber(a, b); }
template <class T> WAVESAN_INLINE T maximumOf(T a, T b) { return a != a || b != b ? a + b : maxNumber(a, b); }

} // namespace wavesan::cpu::engine

#undef WAVESAN_INLINE

#endif // WAVESAN_CPU_ENGINE_SMALL_FLOAT_H
