// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rare operations: bit casts between different shapes, dynamic vector indices, and instructions of the hardware that
// the IR reaches through intrinsics.
#include "handlers.h"
#include "lanes.h"
#include "small_float.h"

#include <cmath>

namespace wavesan::cpu::engine {

namespace {

u128 readLeaf(const Wave &w, const RepackLeaf &leaf, uint32_t lane) {
  u128 wide = 0;
  std::memcpy(&wide, w.at<std::byte>(leaf.reg) + size_t(lane) * bytesOf(leaf.width), bytesOf(leaf.width));
  return wide;
}

void repackRun(Wave &w, const Op &o) {
  const auto &r = *static_cast<const Repack *>(o.extra);
  forEachLane(w.exec, [&](uint32_t lane) {
    // A window of bits moves over the sources; destinations are cut from its low end.
    u128 window = 0;
    uint32_t have = 0, next = 0;
    for (uint32_t t = 0; t < r.toCount; ++t) {
      const RepackLeaf &to = r.to[t];
      u128 value = 0;
      for (uint32_t done = 0; done < to.bits;) {
        if (!have && next < r.fromCount) {
          window = readLeaf(w, r.from[next], lane);
          have = r.from[next++].bits;
        }
        if (!have)
          break;
        const uint32_t take = have < to.bits - done ? have : to.bits - done;
        const u128 mask = take == 128 ? ~u128(0) : (u128(1) << take) - 1;
        value |= (window & mask) << done;
        window = take == 128 ? 0 : window >> take;
        have -= take;
        done += take;
      }
      std::memcpy(w.at<std::byte>(to.reg) + size_t(lane) * bytesOf(to.width), &value, bytesOf(to.width));
    }
  });
}

uint64_t indexOf(const Wave &w, const Op &o, uint32_t lane) {
  switch (Width(o.sub)) {
  case Width::B8: return w.at<uint8_t>(o.c)[lane];
  case Width::B16: return w.at<uint16_t>(o.c)[lane];
  case Width::B32: return w.at<uint32_t>(o.c)[lane];
  default: return w.at<uint64_t>(o.c)[lane];
  }
}
// An index beyond the vector is poison: element 0 is as good as any.
template <class T> struct Extract {
  static void run(Wave &w, const Op &o) {
    const T *a = w.at<T>(o.a);
    T *d = w.at<T>(o.d);
    forEachLane(w.exec, [&](uint32_t i) {
      const uint64_t k = indexOf(w, o, i);
      d[i] = a[(k < o.n ? k : 0) * w.lanes + i];
    });
  }
};
template <class T> struct Insert {
  static void run(Wave &w, const Op &o) {
    const T *a = w.at<T>(o.a), *b = w.at<T>(o.b);
    T *d = w.at<T>(o.d);
    forEachLane(w.exec, [&](uint32_t i) {
      const uint64_t index = indexOf(w, o, i);
      for (uint32_t k = 0; k < o.n; ++k)
        d[k * w.lanes + i] = k == index ? b[i] : a[k * w.lanes + i];
    });
  }
};
template <template <class> class F> Handler pick(Width w) {
  switch (w) {
  case Width::B8: return F<uint8_t>::run;
  case Width::B16: return F<uint16_t>::run;
  case Width::B32: return F<uint32_t>::run;
  case Width::B64: return F<uint64_t>::run;
  case Width::B128: return F<u128>::run;
  }
  return nullptr;
}

uint32_t permBytes(uint32_t high, uint32_t low, uint32_t selector) {
  const uint64_t bytes = uint64_t(high) << 32 | low;
  uint32_t result = 0;
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t s = selector >> (8 * k) & 0xff;
    uint32_t byte;
    if (s < 8)
      byte = uint32_t(bytes >> (8 * s)) & 0xff;
    else if (s < 12) // sign of byte 1, 3, 5, 7
      byte = bytes >> (16 * (s - 8) + 15) & 1 ? 0xff : 0;
    else
      byte = s == 12 ? 0 : 0xff;
    result |= byte << (8 * k);
  }
  return result;
}

int32_t signed24(uint32_t v) { return int32_t(v << 8) >> 8; }

uint32_t sad8(uint32_t a, uint32_t b, uint32_t c) {
  for (uint32_t k = 0; k < 32; k += 8) {
    const uint32_t x = a >> k & 0xff, y = b >> k & 0xff;
    c += x > y ? x - y : y - x;
  }
  return c;
}
uint32_t ubfe(uint32_t a, uint32_t offset, uint32_t width) {
  offset &= 31, width &= 31;
  return width ? (a >> offset) & ((1u << width) - 1) : 0;
}
uint32_t sbfe(uint32_t a, uint32_t offset, uint32_t width) {
  offset &= 31, width &= 31;
  if (!width)
    return 0;
  const int32_t shifted = int32_t(a) >> offset;
  return uint32_t(int32_t(uint32_t(shifted) << (32 - width)) >> (32 - width));
}
uint32_t lerp(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (uint32_t k = 0; k < 32; k += 8)
    result |= (((a >> k & 0xff) + (b >> k & 0xff) + (c >> k & 1)) >> 1) << k;
  return result;
}

// Towards zero: the conversion to half of v_cvt_pkrtz.
uint16_t halfTowardZero(float f) {
  const uint16_t h = floatToHalf(f);
  if (f != f || (f - f) != 0)
    return h;
  const float back = halfToFloat(h);
  return (back < 0 ? -back : back) > (f < 0 ? -f : f) ? uint16_t(h - 1) : h;
}
uint32_t saturateU16(uint32_t v) { return v > 0xffff ? 0xffff : v; }
uint32_t saturateI16(int32_t v) { return uint32_t(v > 32767 ? 32767 : v < -32768 ? -32768 : v) & 0xffff; }
uint16_t normI16(float f) {
  if (f != f)
    return 0;
  const float c = f < -1 ? -1 : f > 1 ? 1 : f;
  return uint16_t(int16_t(__builtin_nearbyintf(c * 32767.0f)));
}
uint16_t normU16(float f) {
  if (f != f)
    return 0;
  const float c = f < 0 ? 0 : f > 1 ? 1 : f;
  return uint16_t(__builtin_nearbyintf(c * 65535.0f));
}

template <class F> void ternary32(Wave &w, const Op &o, F f) {
  const uint32_t *a = w.at<uint32_t>(o.a), *b = w.at<uint32_t>(o.b), *c = w.at<uint32_t>(o.c);
  mapLanes<Cost::Slow>(w, w.at<uint32_t>(o.d), 1, [=](uint32_t i) { return f(a[i], b[i], c[i]); });
}
template <class F> void binary32(Wave &w, const Op &o, F f) {
  const uint32_t *a = w.at<uint32_t>(o.a), *b = w.at<uint32_t>(o.b);
  mapLanes<Cost::Slow>(w, w.at<uint32_t>(o.d), 1, [=](uint32_t i) { return f(a[i], b[i]); });
}
/// Two 16-bit results from two 32-bit sources; o.d holds two registers.
template <class T, class F> void pack16(Wave &w, const Op &o, F f) {
  const T *a = w.at<T>(o.a), *b = w.at<T>(o.b);
  uint16_t *d = w.at<uint16_t>(o.d);
  forEachLane(w.exec, [&](uint32_t i) {
    d[i] = uint16_t(f(a[i]));
    d[w.lanes + i] = uint16_t(f(b[i]));
  });
}

template <Misc which> void miscRun(Wave &w, const Op &o) {
  if constexpr (which == Misc::Perm) ternary32(w, o, permBytes);
  else if constexpr (which == Misc::AlignByte)
    ternary32(w, o, [](uint32_t a, uint32_t b, uint32_t c) { return uint32_t((uint64_t(a) << 32 | b) >> (8 * (c & 3))); });
  else if constexpr (which == Misc::AlignBit)
    ternary32(w, o, [](uint32_t a, uint32_t b, uint32_t c) { return uint32_t((uint64_t(a) << 32 | b) >> (c & 31)); });
  else if constexpr (which == Misc::Sad8) ternary32(w, o, sad8);
  else if constexpr (which == Misc::Ubfe) ternary32(w, o, ubfe);
  else if constexpr (which == Misc::Sbfe) ternary32(w, o, sbfe);
  else if constexpr (which == Misc::Lerp) ternary32(w, o, lerp);
  else if constexpr (which == Misc::MulU24)
    binary32(w, o, [](uint32_t a, uint32_t b) { return (a & 0xffffff) * (b & 0xffffff); });
  else if constexpr (which == Misc::MulI24)
    binary32(w, o, [](uint32_t a, uint32_t b) { return uint32_t(int64_t(signed24(a)) * signed24(b)); });
  else if constexpr (which == Misc::MulHiU24)
    binary32(w, o, [](uint32_t a, uint32_t b) { return uint32_t((uint64_t(a & 0xffffff) * (b & 0xffffff)) >> 32); });
  else if constexpr (which == Misc::MulHiI24)
    binary32(w, o, [](uint32_t a, uint32_t b) { return uint32_t((int64_t(signed24(a)) * signed24(b)) >> 32); });
  else if constexpr (which == Misc::CvtPkRtz) pack16<float>(w, o, halfTowardZero);
  else if constexpr (which == Misc::CvtPkU16) pack16<uint32_t>(w, o, saturateU16);
  else if constexpr (which == Misc::CvtPkI16) pack16<int32_t>(w, o, saturateI16);
  else if constexpr (which == Misc::CvtPkNormI16) pack16<float>(w, o, normI16);
  else if constexpr (which == Misc::CvtPkNormU16) pack16<float>(w, o, normU16);
  else if constexpr (which == Misc::UDot4)
    ternary32(w, o, [](uint32_t a, uint32_t b, uint32_t c) {
      for (uint32_t k = 0; k < 32; k += 8)
        c += (a >> k & 0xff) * (b >> k & 0xff);
      return c;
    });
  else if constexpr (which == Misc::SDot4)
    ternary32(w, o, [](uint32_t a, uint32_t b, uint32_t c) {
      for (uint32_t k = 0; k < 32; k += 8)
        c += uint32_t(int32_t(int8_t(a >> k)) * int32_t(int8_t(b >> k)));
      return c;
    });
}

/// As it is stored: 0 for zeros and denormals.
int exponentField(float v) { return int(bitCast<uint32_t>(v) >> 23 & 0xff); }
int exponentField(double v) { return int(bitCast<uint64_t>(v) >> 52 & 0x7ff); }

/// v_div_fixup: the special cases of quotient / denominator, numerator given.
template <class F, class B> F divFixup(F quotient, F denominator, F numerator) {
  constexpr B kSign = B(1) << (sizeof(B) * 8 - 1);
  const B sign = (bitCast<B>(numerator) ^ bitCast<B>(denominator)) & kSign;
  const auto signedValue = [&](F magnitude) { return bitCast<F>(B((bitCast<B>(magnitude) & ~kSign) | sign)); };
  const F infinity = F(__builtin_inf());
  const auto isInfinite = [&](F v) { return v == infinity || v == -infinity; };
  if (numerator != numerator)
    return numerator;
  if (denominator != denominator)
    return denominator;
  if ((numerator == 0 && denominator == 0) || (isInfinite(numerator) && isInfinite(denominator)))
    return F(__builtin_nan(""));
  if (denominator == 0 || isInfinite(numerator))
    return signedValue(infinity);
  if (isInfinite(denominator) || numerator == 0)
    return signedValue(F(0));
  // A quotient far below the smallest number; and one beyond the largest, of which the steps before make NaN.
  if (exponentField(numerator) - exponentField(denominator) < (sizeof(F) == 4 ? -150 : -1075))
    return signedValue(F(0));
  return signedValue(quotient != quotient ? infinity : quotient);
}
template <class F, class B> void divFixupRun(Wave &w, const Op &o) {
  const F *a = w.at<F>(o.a), *b = w.at<F>(o.b), *c = w.at<F>(o.c);
  F *d = w.at<F>(o.d);
  forEachLane(w.exec, [&](uint32_t i) { d[i] = divFixup<F, B>(a[i], b[i], c[i]); });
}

/// The first 1216 bits of 2 / pi behind the point, highest first (from Machin's formula).
constexpr uint32_t kTwoOverPi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
};

/// v_trig_preop_f64: 53 bits of 2 / pi, the segment'th from where they matter for an argument of that exponent, at their place
/// value; 0 behind the end of the constant.
double trigPreop(double x, uint32_t segment) {
  const uint32_t exponent = uint32_t(bitCast<uint64_t>(x) >> 52) & 0x7ff;
  const uint32_t shift = (segment & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  const uint32_t word = shift / 32, bit = shift % 32;
  if (word + 2 >= std::size(kTwoOverPi))
    return 0;
  uint64_t bits = uint64_t(kTwoOverPi[word]) << 32 | kTwoOverPi[word + 1];
  if (bit)
    bits = bits << bit | kTwoOverPi[word + 2] >> (32 - bit);
  return std::ldexp(double(bits >> 11), -53 - int(shift) + (exponent >= 1968 ? 128 : 0));
}
void trigPreopRun(Wave &w, const Op &o) {
  const double *a = w.at<double>(o.a);
  const uint32_t *b = w.at<uint32_t>(o.b);
  double *d = w.at<double>(o.d);
  forEachLane(w.exec, [&](uint32_t i) { d[i] = trigPreop(a[i], b[i]); });
}

/// v_div_scale: scales denominator or numerator where the division would leave the range of normal numbers. Infinities
/// and NaN are v_div_fixup's.
template <class F, int maxExponent, int tinyExponent> void divScaleRun(Wave &w, const Op &o) {
  const F *numerators = w.at<F>(o.a), *denominators = w.at<F>(o.b);
  F *d = w.at<F>(o.d);
  uint8_t *flag = w.at<uint8_t>(o.c);
  constexpr int kScale = sizeof(F) == 4 ? 64 : 128;
  const auto isSubnormal = [](F v) { return v != 0 && !exponentField(v); };
  forEachLane(w.exec, [&](uint32_t i) {
    const F n = numerators[i], q = denominators[i], value = o.sub ? n : q;
    flag[i] = 0;
    d[i] = value;
    if (n == 0 || q == 0) {
      d[i] = F(__builtin_nan(""));
      return;
    }
    if (n - n != 0 || q - q != 0)
      return;
    const auto scaled = [&](int scale) { return F(__builtin_ldexp(double(value), scale)); };
    if (exponentField(n) - exponentField(q) >= maxExponent) {
      flag[i] = 1;
      if (!o.sub)
        d[i] = scaled(kScale);
    } else if (isSubnormal(q)) {
      d[i] = scaled(kScale);
    } else if (isSubnormal(F(1) / q) && (isSubnormal(n / q) || n / q == 0)) {
      // The documents scale up here, which no number of this size survives: v_div_fmas scales the quotient down.
      flag[i] = 1;
      if (!o.sub)
        d[i] = scaled(-kScale);
    } else if (isSubnormal(F(1) / q)) {
      d[i] = scaled(-kScale);
    } else if (isSubnormal(n / q) || n / q == 0) {
      flag[i] = 1;
      if (o.sub)
        d[i] = scaled(kScale);
    } else if (exponentField(n) <= tinyExponent) {
      d[i] = scaled(kScale);
    }
  });
}

/// a + b rounded to odd, so that rounding to double later is right.
__float128 addToOdd(__float128 a, __float128 b) {
  const __float128 sum = a + b, bb = sum - a, error = (a - (sum - bb)) + (b - bb);
  u128 bits = bitCast<u128>(sum);
  if (error != 0 && !(bits & 1)) // false for NaN, which come from infinities
    bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return error == error ? bitCast<__float128>(bits) : sum;
}

/// v_div_fmas: a * b + c, and what v_div_scale has announced undone, before it is rounded. The documents multiply by
/// 2^32 (2^64 for double); the scales that v_div_scale applies are 2^64 and 2^-64 (2^128, 2^-128), and the quotient says
/// which.
float divFmas(float a, float b, float c, bool scales) {
  if (!scales)
    return SingleFormat::fma(a, b, c);
  return float(engine::addToOdd(double(a) * double(b), double(c)) * (exponentField(c) > 127 ? 0x1p64 : 0x1p-64));
}
double divFmas(double a, double b, double c, bool scales) {
  if (!scales)
    return __builtin_fma(a, b, c);
  const __float128 scale = exponentField(c) > 1023 ? 0x1p128 : 0x1p-128;
  return double(addToOdd(__float128(a) * b, __float128(c)) * scale);
}
template <class F> void divFmasRun(Wave &w, const Op &o) {
  const F *a = w.at<F>(o.a), *b = w.at<F>(o.b), *c = w.at<F>(o.c);
  const uint8_t *flag = w.at<uint8_t>(*static_cast<const Register *>(o.extra));
  F *d = w.at<F>(o.d);
  forEachLane(w.exec, [&](uint32_t i) { d[i] = divFmas(a[i], b[i], c[i], flag[i]); });
}

} // namespace

Handler bitRepack() { return repackRun; }
Handler dynamicExtract(Width w) { return pick<Extract>(w); }
Handler dynamicInsert(Width w) { return pick<Insert>(w); }
Handler misc(Misc which) {
  switch (which) {
#define WAVESAN_MISC(NAME)                                                                                             \
  case Misc::NAME: return miscRun<Misc::NAME>;
    WAVESAN_MISC(Perm)
    WAVESAN_MISC(AlignByte)
    WAVESAN_MISC(AlignBit)
    WAVESAN_MISC(Sad8)
    WAVESAN_MISC(Ubfe)
    WAVESAN_MISC(Sbfe)
    WAVESAN_MISC(Lerp)
    WAVESAN_MISC(MulU24)
    WAVESAN_MISC(MulI24)
    WAVESAN_MISC(MulHiU24)
    WAVESAN_MISC(MulHiI24)
    WAVESAN_MISC(CvtPkRtz)
    WAVESAN_MISC(CvtPkU16)
    WAVESAN_MISC(CvtPkI16)
    WAVESAN_MISC(CvtPkNormI16)
    WAVESAN_MISC(CvtPkNormU16)
    WAVESAN_MISC(SDot4)
    WAVESAN_MISC(UDot4)
#undef WAVESAN_MISC
  case Misc::TrigPreop: return trigPreopRun;
  case Misc::DivFixupF32: return divFixupRun<float, uint32_t>;
  case Misc::DivFixupF64: return divFixupRun<double, uint64_t>;
  }
  return nullptr;
}
Handler divScale(FloatKind kind) {
  return kind == FloatKind::Single   ? divScaleRun<float, 96, 23>
         : kind == FloatKind::Double ? divScaleRun<double, 768, 53>
                                     : nullptr;
}
Handler divFmas(FloatKind kind) {
  return kind == FloatKind::Single ? divFmasRun<float> : kind == FloatKind::Double ? divFmasRun<double> : nullptr;
}

} // namespace wavesan::cpu::engine
