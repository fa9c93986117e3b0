// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point arithmetic, comparisons and conversions. Compiled for several instruction sets; built without
// contraction (a * b + c is rounded twice unless the IR says fma).
#include "handlers_isa.h"

#include "small_float.h"

namespace wavesan::cpu::engine::WAVESAN_ISA {
namespace {

template <template <class> class F> Handler pick(FloatKind kind) {
  switch (kind) {
  case FloatKind::Half: return F<HalfFormat>::run;
  case FloatKind::BFloat: return F<BFloatFormat>::run;
  case FloatKind::Single: return F<SingleFormat>::run;
  case FloatKind::Double: return F<DoubleFormat>::run;
  }
  return nullptr;
}

template <class B> constexpr B kSignBit = B(B(1) << (sizeof(B) * 8 - 1));

// Sign operations work on bits: they must not touch NaN payloads.
template <class Fm> struct Neg {
  static void run(Wave &w, const Op &o) {
    using B = typename Fm::Bits;
    B *d = w.at<B>(o.d);
    const B *a = w.at<B>(o.a);
    mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) { return B(a[i] ^ kSignBit<B>); });
  }
};
template <class Fm> struct Abs {
  static void run(Wave &w, const Op &o) {
    using B = typename Fm::Bits;
    B *d = w.at<B>(o.d);
    const B *a = w.at<B>(o.a);
    mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) { return B(a[i] & ~kSignBit<B>); });
  }
};
template <class Fm> struct CopySign {
  static void run(Wave &w, const Op &o) {
    using B = typename Fm::Bits;
    B *d = w.at<B>(o.d);
    const B *a = w.at<B>(o.a), *b = w.at<B>(o.b);
    mapLanes<Cost::Cheap>(w, d, o.n,
                          [=](uint32_t i) { return B((a[i] & ~kSignBit<B>) | (b[i] & kSignBit<B>)); });
  }
};

/// Makes NaN quiet. (A compiler drops a multiplication by one.)
template <class Fm> struct Canonicalize {
  static void run(Wave &w, const Op &o) {
    using B = typename Fm::Bits;
    B *d = w.at<B>(o.d);
    const B *a = w.at<B>(o.a);
    constexpr B kQuiet = B(B(1) << (Fm::kMantissa - 1));
    constexpr B kInfinity = B(B(~kSignBit<B>) & ~B((B(1) << Fm::kMantissa) - 1));
    mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) {
      const B x = a[i], quiet = B(x | kQuiet);
      return B(x & ~kSignBit<B>) > kInfinity ? quiet : x;
    });
  }
};

#define WAVESAN_FLOAT_UNARY(NAME, COST, ...)                                                                           \
  template <class Fm> struct NAME {                                                                                    \
    static void run(Wave &w, const Op &o) {                                                                            \
      auto *d = w.at<typename Fm::Storage>(o.d);                                                                       \
      const auto *a = w.at<typename Fm::Storage>(o.a);                                                                 \
      mapLanes<Cost::COST>(w, d, o.n, [=](uint32_t i) {                                                                \
        using C = typename Fm::Compute;                                                                                \
        const C x = Fm::load(a[i]);                                                                                    \
        return Fm::store(C(__VA_ARGS__));                                                                              \
      });                                                                                                              \
    }                                                                                                                  \
  };

// The builtins below have float and double forms; this picks by type without <cmath>.
#define WAVESAN_BY_TYPE(NAME, BUILTIN)                                                                                 \
  [[gnu::always_inline]] inline float NAME(float x) { return BUILTIN##f(x); }                                          \
  [[gnu::always_inline]] inline double NAME(double x) { return BUILTIN(x); }
WAVESAN_BY_TYPE(sqrtOf, __builtin_sqrt)
WAVESAN_BY_TYPE(floorOf, __builtin_floor)
WAVESAN_BY_TYPE(ceilOf, __builtin_ceil)
WAVESAN_BY_TYPE(truncOf, __builtin_trunc)
WAVESAN_BY_TYPE(rintOf, __builtin_nearbyint)
WAVESAN_BY_TYPE(roundOf, __builtin_round)
WAVESAN_BY_TYPE(expOf, __builtin_exp)
WAVESAN_BY_TYPE(exp2Of, __builtin_exp2)
WAVESAN_BY_TYPE(logOf, __builtin_log)
WAVESAN_BY_TYPE(log2Of, __builtin_log2)
WAVESAN_BY_TYPE(log10Of, __builtin_log10)
WAVESAN_BY_TYPE(sinOf, __builtin_sin)
WAVESAN_BY_TYPE(cosOf, __builtin_cos)
WAVESAN_BY_TYPE(tanOf, __builtin_tan)
WAVESAN_BY_TYPE(asinOf, __builtin_asin)
WAVESAN_BY_TYPE(acosOf, __builtin_acos)
WAVESAN_BY_TYPE(atanOf, __builtin_atan)
WAVESAN_BY_TYPE(sinhOf, __builtin_sinh)
WAVESAN_BY_TYPE(coshOf, __builtin_cosh)
WAVESAN_BY_TYPE(tanhOf, __builtin_tanh)

inline float powOf(float a, float b) { return __builtin_powf(a, b); }
inline double powOf(double a, double b) { return __builtin_pow(a, b); }
inline float remOf(float a, float b) { return __builtin_fmodf(a, b); }
inline double remOf(double a, double b) { return __builtin_fmod(a, b); }
inline float atan2Of(float a, float b) { return __builtin_atan2f(a, b); }
inline double atan2Of(double a, double b) { return __builtin_atan2(a, b); }

/// Below one: small negative numbers give the largest number of the format that is.
template <class Fm> [[gnu::always_inline]] inline typename Fm::Compute fractOf(typename Fm::Compute x) {
  using C = typename Fm::Compute;
  const C largest = C(1) - C(1) / C(uint64_t(2) << Fm::kMantissa);
  const C f = x - floorOf(x);
  return f > largest ? largest : f;
}
/// x == mantissa * 2^exponent with the mantissa in [0.5, 1); zeros, infinities and NaN have exponent 0.
struct Parts {
  double mantissa;
  int32_t exponent;
};
inline Parts partsOf(double x) {
  constexpr uint64_t kExponent = uint64_t(0x7ff) << 52;
  uint64_t bits = bitCast<uint64_t>(x);
  if ((bits & kExponent) == kExponent || !(bits << 1))
    return {x, 0};
  int32_t exponent = -1022;
  if (!(bits & kExponent)) {
    bits = bitCast<uint64_t>(x * 0x1p54);
    exponent -= 54;
  }
  exponent += int32_t(bits >> 52 & 0x7ff);
  return {bitCast<double>((bits & ~kExponent) | uint64_t(1022) << 52), exponent};
}
// v_sin and v_cos take turns, not radians. Quarter turns give 0, 1 and -1.
inline double sinTurns(double x) {
  const double rest = x - __builtin_nearbyint(x); // exact
  return x == 0 ? x : __builtin_fabs(rest) == 0.5 ? 0 : __builtin_sin(rest * 6.283185307179586476925);
}
inline double cosTurns(double x) {
  const double rest = x - __builtin_nearbyint(x);
  return __builtin_fabs(rest) == 0.25 ? 0 : __builtin_cos(rest * 6.283185307179586476925);
}

WAVESAN_FLOAT_UNARY(Sqrt, Cheap, sqrtOf(x))
WAVESAN_FLOAT_UNARY(Floor, Cheap, floorOf(x))
WAVESAN_FLOAT_UNARY(Ceil, Cheap, ceilOf(x))
WAVESAN_FLOAT_UNARY(Trunc, Cheap, truncOf(x))
WAVESAN_FLOAT_UNARY(Rint, Cheap, rintOf(x))
WAVESAN_FLOAT_UNARY(Round, Slow, roundOf(x))
WAVESAN_FLOAT_UNARY(Exp, Slow, expOf(x))
WAVESAN_FLOAT_UNARY(Exp2, Slow, exp2Of(x))
WAVESAN_FLOAT_UNARY(Exp10, Slow, powOf(10.0, double(x)))
WAVESAN_FLOAT_UNARY(Log, Slow, logOf(x))
WAVESAN_FLOAT_UNARY(Log2, Slow, log2Of(x))
WAVESAN_FLOAT_UNARY(Log10, Slow, log10Of(x))
WAVESAN_FLOAT_UNARY(Sin, Slow, sinOf(x))
WAVESAN_FLOAT_UNARY(Cos, Slow, cosOf(x))
WAVESAN_FLOAT_UNARY(Tan, Slow, tanOf(x))
WAVESAN_FLOAT_UNARY(Asin, Slow, asinOf(x))
WAVESAN_FLOAT_UNARY(Acos, Slow, acosOf(x))
WAVESAN_FLOAT_UNARY(Atan, Slow, atanOf(x))
WAVESAN_FLOAT_UNARY(Sinh, Slow, sinhOf(x))
WAVESAN_FLOAT_UNARY(Cosh, Slow, coshOf(x))
WAVESAN_FLOAT_UNARY(Tanh, Slow, tanhOf(x))
WAVESAN_FLOAT_UNARY(Rcp, Cheap, C(1) / x)
WAVESAN_FLOAT_UNARY(Rsq, Cheap, C(1) / sqrtOf(x))
WAVESAN_FLOAT_UNARY(Fract, Cheap, fractOf<Fm>(x))
WAVESAN_FLOAT_UNARY(FrexpMant, Slow, partsOf(double(x)).mantissa)
WAVESAN_FLOAT_UNARY(SinTurns, Slow, sinTurns(double(x)))
WAVESAN_FLOAT_UNARY(CosTurns, Slow, cosTurns(double(x)))

#define WAVESAN_FLOAT_BINARY(NAME, COST, ...)                                                                          \
  template <class Fm> struct NAME {                                                                                    \
    static void run(Wave &w, const Op &o) {                                                                            \
      auto *d = w.at<typename Fm::Storage>(o.d);                                                                       \
      const auto *pa = w.at<typename Fm::Storage>(o.a), *pb = w.at<typename Fm::Storage>(o.b);                         \
      mapLanes<Cost::COST>(w, d, o.n, [=](uint32_t i) {                                                                \
        using C = typename Fm::Compute;                                                                                \
        const C a = Fm::load(pa[i]), b = Fm::load(pb[i]);                                                              \
        return Fm::store(C(__VA_ARGS__));                                                                              \
      });                                                                                                              \
    }                                                                                                                  \
  };
WAVESAN_FLOAT_BINARY(Add, Cheap, a + b)
WAVESAN_FLOAT_BINARY(Sub, Cheap, a - b)
WAVESAN_FLOAT_BINARY(Mul, Cheap, a *b)
WAVESAN_FLOAT_BINARY(Div, Cheap, a / b)
WAVESAN_FLOAT_BINARY(Rem, Slow, remOf(a, b))
WAVESAN_FLOAT_BINARY(MinNum, Cheap, minNumber(a, b))
WAVESAN_FLOAT_BINARY(MaxNum, Cheap, maxNumber(a, b))
WAVESAN_FLOAT_BINARY(Minimum, Cheap, minimumOf(a, b))
WAVESAN_FLOAT_BINARY(Maximum, Cheap, maximumOf(a, b))
WAVESAN_FLOAT_BINARY(Pow, Slow, powOf(a, b))
WAVESAN_FLOAT_BINARY(Atan2, Slow, atan2Of(a, b))
WAVESAN_FLOAT_BINARY(MulLegacy, Cheap, a == 0 || b == 0 ? C(0) : a * b)

template <class Fm>
[[gnu::always_inline]] inline typename Fm::Storage fmaOf(typename Fm::Storage a, typename Fm::Storage b,
                                                         typename Fm::Storage c) {
  if constexpr (sizeof(typename Fm::Storage) == 2)
    return Fm::storeDouble(addToOdd(double(Fm::load(a)) * double(Fm::load(b)), double(Fm::load(c))));
  else
    return Fm::fma(a, b, c);
}
template <class Fm> struct Fma {
  static void run(Wave &w, const Op &o) {
    using S = typename Fm::Storage;
    S *d = w.at<S>(o.d);
    const S *a = w.at<S>(o.a), *b = w.at<S>(o.b), *c = w.at<S>(o.c);
    mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) { return fmaOf<Fm>(a[i], b[i], c[i]); });
  }
};
template <class Fm> struct FmaLegacy {
  static void run(Wave &w, const Op &o) {
    using S = typename Fm::Storage;
    S *d = w.at<S>(o.d);
    const S *a = w.at<S>(o.a), *b = w.at<S>(o.b), *c = w.at<S>(o.c);
    mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) {
      const S product = fmaOf<Fm>(a[i], b[i], c[i]);
      return Fm::load(a[i]) == 0 || Fm::load(b[i]) == 0 ? c[i] : product;
    });
  }
};
template <class Fm> struct Med3 {
  static void run(Wave &w, const Op &o) {
    using S = typename Fm::Storage;
    using C = typename Fm::Compute;
    S *d = w.at<S>(o.d);
    const S *pa = w.at<S>(o.a), *pb = w.at<S>(o.b), *pc = w.at<S>(o.c);
    mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) {
      const C a = Fm::load(pa[i]), b = Fm::load(pb[i]), c = Fm::load(pc[i]);
      const C least = minNumber(minNumber(a, b), c), most = maxNumber(maxNumber(a, b), c);
      const C middle = most == a ? maxNumber(b, c) : most == b ? maxNumber(a, c) : maxNumber(a, b);
      return Fm::store(a != a || b != b || c != c ? least : middle);
    });
  }
};

template <class Fm> struct CompareFloat {
  static void run(Wave &w, const Op &o) {
    using S = typename Fm::Storage;
    uint8_t *d = w.at<uint8_t>(o.d);
    const S *pa = w.at<S>(o.a), *pb = w.at<S>(o.b);
    const uint32_t equal = o.sub & 1, greater = o.sub >> 1 & 1, less = o.sub >> 2 & 1, unordered = o.sub >> 3 & 1;
    mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) {
      const auto a = Fm::load(pa[i]), b = Fm::load(pb[i]);
      const uint32_t eq = a == b, gt = a > b, lt = a < b, un = (a != a) | (b != b);
      return uint8_t((eq & equal) | (gt & greater) | (lt & less) | (un & unordered));
    });
  }
};

// Bits of llvm::FPClassTest, which are those of v_cmp_class.
template <class Fm> [[gnu::always_inline]] inline uint32_t classOf(typename Fm::Bits bits) {
  using B = typename Fm::Bits;
  const B mantissaMask = B((B(1) << Fm::kMantissa) - 1);
  const B exponentMask = B(B(~kSignBit<B>) & ~mantissaMask);
  const bool negative = bits & kSignBit<B>;
  const B exponent = bits & exponentMask, mantissa = bits & mantissaMask;
  if (exponent == exponentMask) {
    if (mantissa)
      return mantissa >> (Fm::kMantissa - 1) ? 2 : 1;
    return negative ? 4 : 0x200;
  }
  if (exponent)
    return negative ? 8 : 0x100;
  if (mantissa)
    return negative ? 0x10 : 0x80;
  return negative ? 0x20 : 0x40;
}
template <class Fm> struct ClassTest {
  static void run(Wave &w, const Op &o) {
    using B = typename Fm::Bits;
    uint8_t *d = w.at<uint8_t>(o.d);
    const B *a = w.at<B>(o.a);
    const uint32_t *masks = o.sub == kNoClassMask ? w.at<uint32_t>(o.b) : nullptr;
    const uint32_t mask = o.sub;
    mapLanes<Cost::Slow>(w, d, o.n,
                         [=](uint32_t i) { return uint8_t((classOf<Fm>(a[i]) & (masks ? masks[i] : mask)) != 0); });
  }
};

template <class Fm> struct LoadExponent {
  static void run(Wave &w, const Op &o) {
    using S = typename Fm::Storage;
    S *d = w.at<S>(o.d);
    const S *a = w.at<S>(o.a);
    const int32_t *b = w.at<int32_t>(o.b);
    mapLanes<Cost::Slow>(w, d, o.n, [=](uint32_t i) {
      if constexpr (sizeof(S) == 4)
        return __builtin_ldexpf(a[i], b[i]);
      else
        return Fm::storeDouble(__builtin_ldexp(double(Fm::load(a[i])), b[i]));
    });
  }
};
template <class Fm> struct FrexpExponent {
  static void run(Wave &w, const Op &o) {
    using S = typename Fm::Storage;
    int32_t *d = w.at<int32_t>(o.d);
    const S *a = w.at<S>(o.a);
    mapLanes<Cost::Slow>(w, d, o.n, [=](uint32_t i) { return partsOf(double(Fm::load(a[i]))).exponent; });
  }
};

template <class From, class To> void castFloat(Wave &w, const Op &o) {
  auto *d = w.at<typename To::Storage>(o.d);
  const auto *a = w.at<typename From::Storage>(o.a);
  mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) {
    if constexpr (sizeof(typename From::Storage) == 8)
      return To::storeDouble(a[i]);
    else
      return To::store(typename To::Compute(From::load(a[i])));
  });
}
template <class From> Handler pickCast(FloatKind to) {
  switch (to) {
  case FloatKind::Half: return castFloat<From, HalfFormat>;
  case FloatKind::BFloat: return castFloat<From, BFloatFormat>;
  case FloatKind::Single: return castFloat<From, SingleFormat>;
  case FloatKind::Double: return castFloat<From, DoubleFormat>;
  }
  return nullptr;
}

// Out of range is poison in the IR; the hardware saturates and turns NaN into 0.
template <class Fm, class T, bool sign> void toInt(Wave &w, const Op &o) {
  using C = typename Fm::Compute;
  using V = T;
  T *d = w.at<T>(o.d);
  const auto *a = w.at<typename Fm::Storage>(o.a);
  const uint32_t bits = o.sub;
  const uint32_t magnitudeBits = sign ? bits - 1 : bits;
  const C limit = C(__builtin_ldexp(1.0, int(magnitudeBits)));
  const T largest = T(T(T(~T(0)) >> (sizeof(T) * 8 - bits)) >> (sign ? 1 : 0));
  const T smallest = sign ? T(T(1) << magnitudeBits) : T(0); // in the low `bits` bits
  const T keep = T(T(~T(0)) >> (sizeof(T) * 8 - bits));
  mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) {
    const C x = Fm::load(a[i]);
    if (x != x)
      return T(0);
    if (x >= limit)
      return largest;
    if constexpr (sign)
      return x < -limit ? smallest : T(V(Signed<T>(x)) & keep);
    else
      return x <= C(-1) ? T(0) : x < C(0) ? T(0) : T(V(x));
  });
}
template <class Fm, bool sign> Handler pickToInt(Width to) {
  switch (to) {
  case Width::B8: return toInt<Fm, uint8_t, sign>;
  case Width::B16: return toInt<Fm, uint16_t, sign>;
  case Width::B32: return toInt<Fm, uint32_t, sign>;
  case Width::B64: return toInt<Fm, uint64_t, sign>;
  default: return nullptr;
  }
}

template <class T, bool sign, class Fm> void fromInt(Wave &w, const Op &o) {
  auto *d = w.at<typename Fm::Storage>(o.d);
  const T *a = w.at<T>(o.a);
  mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) {
    if constexpr (sizeof(typename Fm::Storage) == 2) {
      double exact;
      if constexpr (sizeof(T) < 8) {
        exact = sign ? double(Signed<T>(a[i])) : double(a[i]);
      } else {
        // Keep a sticky bit, so that the conversion to double loses nothing that matters.
        T magnitude = sign && Signed<T>(a[i]) < 0 ? T(0 - a[i]) : a[i];
        if (magnitude >> 53)
          magnitude = T(magnitude & ~T(0x7ff)) | T((magnitude & 0x7ff) != 0) << 11;
        exact = sign && Signed<T>(a[i]) < 0 ? -double(magnitude) : double(magnitude);
      }
      return Fm::storeDouble(exact);
    } else {
      using C = typename Fm::Compute;
      return sign ? C(Signed<T>(a[i])) : C(a[i]);
    }
  });
}
template <class T, bool sign> Handler pickFromInt(FloatKind to) {
  switch (to) {
  case FloatKind::Half: return fromInt<T, sign, HalfFormat>;
  case FloatKind::BFloat: return fromInt<T, sign, BFloatFormat>;
  case FloatKind::Single: return fromInt<T, sign, SingleFormat>;
  case FloatKind::Double: return fromInt<T, sign, DoubleFormat>;
  }
  return nullptr;
}
template <bool sign> Handler pickFromInt(Width from, FloatKind to) {
  switch (from) {
  case Width::B8: return pickFromInt<uint8_t, sign>(to);
  case Width::B16: return pickFromInt<uint16_t, sign>(to);
  case Width::B32: return pickFromInt<uint32_t, sign>(to);
  case Width::B64: return pickFromInt<uint64_t, sign>(to);
  default: return nullptr;
  }
}

} // namespace

Handler floatUnary(FloatUnary op, FloatKind kind) {
  switch (op) {
  case FloatUnary::Neg: return pick<Neg>(kind);
  case FloatUnary::Abs: return pick<Abs>(kind);
  case FloatUnary::Sqrt: return pick<Sqrt>(kind);
  case FloatUnary::Floor: return pick<Floor>(kind);
  case FloatUnary::Ceil: return pick<Ceil>(kind);
  case FloatUnary::Trunc: return pick<Trunc>(kind);
  case FloatUnary::Rint:
  case FloatUnary::RoundEven: return pick<Rint>(kind);
  case FloatUnary::Round: return pick<Round>(kind);
  case FloatUnary::Canonicalize: return pick<Canonicalize>(kind);
  case FloatUnary::Exp: return pick<Exp>(kind);
  case FloatUnary::Exp2: return pick<Exp2>(kind);
  case FloatUnary::Exp10: return pick<Exp10>(kind);
  case FloatUnary::Log: return pick<Log>(kind);
  case FloatUnary::Log2: return pick<Log2>(kind);
  case FloatUnary::Log10: return pick<Log10>(kind);
  case FloatUnary::Sin: return pick<Sin>(kind);
  case FloatUnary::Cos: return pick<Cos>(kind);
  case FloatUnary::Tan: return pick<Tan>(kind);
  case FloatUnary::Asin: return pick<Asin>(kind);
  case FloatUnary::Acos: return pick<Acos>(kind);
  case FloatUnary::Atan: return pick<Atan>(kind);
  case FloatUnary::Sinh: return pick<Sinh>(kind);
  case FloatUnary::Cosh: return pick<Cosh>(kind);
  case FloatUnary::Tanh: return pick<Tanh>(kind);
  case FloatUnary::Rcp: return pick<Rcp>(kind);
  case FloatUnary::Rsq: return pick<Rsq>(kind);
  case FloatUnary::Fract: return pick<Fract>(kind);
  case FloatUnary::FrexpMant: return pick<FrexpMant>(kind);
  case FloatUnary::SinTurns: return pick<SinTurns>(kind);
  case FloatUnary::CosTurns: return pick<CosTurns>(kind);
  }
  return nullptr;
}

Handler floatBinary(FloatBinary op, FloatKind kind) {
  switch (op) {
  case FloatBinary::Add: return pick<Add>(kind);
  case FloatBinary::Sub: return pick<Sub>(kind);
  case FloatBinary::Mul: return pick<Mul>(kind);
  case FloatBinary::Div: return pick<Div>(kind);
  case FloatBinary::Rem: return pick<Rem>(kind);
  case FloatBinary::MinNum: return pick<MinNum>(kind);
  case FloatBinary::MaxNum: return pick<MaxNum>(kind);
  case FloatBinary::Minimum: return pick<Minimum>(kind);
  case FloatBinary::Maximum: return pick<Maximum>(kind);
  case FloatBinary::CopySign: return pick<CopySign>(kind);
  case FloatBinary::Pow: return pick<Pow>(kind);
  case FloatBinary::Atan2: return pick<Atan2>(kind);
  case FloatBinary::MulLegacy: return pick<MulLegacy>(kind);
  }
  return nullptr;
}

Handler floatTernary(FloatTernary op, FloatKind kind) {
  switch (op) {
  case FloatTernary::Fma: return pick<Fma>(kind);
  case FloatTernary::Med3: return pick<Med3>(kind);
  case FloatTernary::FmaLegacy: return pick<FmaLegacy>(kind);
  }
  return nullptr;
}

Handler floatCompare(FloatKind kind) { return pick<CompareFloat>(kind); }
Handler floatClass(FloatKind kind) { return pick<ClassTest>(kind); }
Handler ldexp(FloatKind kind) { return pick<LoadExponent>(kind); }
Handler frexpExponent(FloatKind kind) { return pick<FrexpExponent>(kind); }

Handler floatCast(FloatKind from, FloatKind to) {
  switch (from) {
  case FloatKind::Half: return pickCast<HalfFormat>(to);
  case FloatKind::BFloat: return pickCast<BFloatFormat>(to);
  case FloatKind::Single: return pickCast<SingleFormat>(to);
  case FloatKind::Double: return pickCast<DoubleFormat>(to);
  }
  return nullptr;
}

Handler floatToInt(FloatKind kind, bool isSigned, Width to) {
  switch (kind) {
  case FloatKind::Half: return isSigned ? pickToInt<HalfFormat, true>(to) : pickToInt<HalfFormat, false>(to);
  case FloatKind::BFloat: return isSigned ? pickToInt<BFloatFormat, true>(to) : pickToInt<BFloatFormat, false>(to);
  case FloatKind::Single: return isSigned ? pickToInt<SingleFormat, true>(to) : pickToInt<SingleFormat, false>(to);
  case FloatKind::Double: return isSigned ? pickToInt<DoubleFormat, true>(to) : pickToInt<DoubleFormat, false>(to);
  }
  return nullptr;
}

Handler intToFloat(Width from, bool isSigned, FloatKind to) {
  return isSigned ? pickFromInt<true>(from, to) : pickFromInt<false>(from, to);
}

} // namespace wavesan::cpu::engine::WAVESAN_ISA
