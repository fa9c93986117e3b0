// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer arithmetic, comparisons, casts, selects and address arithmetic. Compiled for several instruction sets.
#include "handlers_isa.h"

#include "lanes.h"

namespace wavesan::cpu::engine::WAVESAN_ISA {
namespace {

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

// 128-bit lanes never vectorise; evaluating them for inactive lanes only costs.
template <class T> constexpr Cost costOf(Cost c) { return sizeof(T) > 8 ? Cost::Slow : c; }

// Division by zero and shifts by too much are poison in the IR; lanes must not take the host down with them.
#define WAVESAN_INT_BINARY(NAME, COST, ...)                                                                            \
  template <class T> struct NAME {                                                                                     \
    [[gnu::always_inline]] static T apply(T a, T b) {                                                                  \
      using S = Signed<T>;                                                                                             \
      [[maybe_unused]] constexpr uint32_t bits = sizeof(T) * 8;                                                        \
      [[maybe_unused]] S sa = S(a), sb = S(b);                                                                         \
      __VA_ARGS__                                                                                                      \
    }                                                                                                                  \
    static void run(Wave &w, const Op &o) {                                                                            \
      T *d = w.at<T>(o.d);                                                                                             \
      const T *a = w.at<T>(o.a), *b = w.at<T>(o.b);                                                                    \
      mapLanes<costOf<T>(Cost::COST)>(w, d, o.n, [=](uint32_t i) __attribute__((always_inline)) { return apply(a[i], b[i]); });                               \
    }                                                                                                                  \
  };
WAVESAN_INT_BINARY(Add, Cheap, return T(a + b);)
WAVESAN_INT_BINARY(Sub, Cheap, return T(a - b);)
WAVESAN_INT_BINARY(Mul, Cheap, using P = decltype(T() * 1u); return T(P(a) * P(b));)
WAVESAN_INT_BINARY(UDiv, Slow, return b ? T(a / b) : T(0);)
WAVESAN_INT_BINARY(URem, Slow, return b ? T(a % b) : T(0);)
WAVESAN_INT_BINARY(SDiv, Slow, return !b ? T(0) : sb == -1 ? T(0 - a) : T(sa / sb);)
WAVESAN_INT_BINARY(SRem, Slow, return !b || sb == -1 ? T(0) : T(sa % sb);)
WAVESAN_INT_BINARY(Shl, Cheap, return b < bits ? T(a << (b & (bits - 1))) : T(0);)
WAVESAN_INT_BINARY(LShr, Cheap, return b < bits ? T(a >> (b & (bits - 1))) : T(0);)
WAVESAN_INT_BINARY(AShr, Cheap, return T(sa >> (b < bits ? b : T(bits - 1)));)
WAVESAN_INT_BINARY(And, Cheap, return T(a & b);)
WAVESAN_INT_BINARY(Or, Cheap, return T(a | b);)
WAVESAN_INT_BINARY(Xor, Cheap, return T(a ^ b);)
WAVESAN_INT_BINARY(UMin, Cheap, return a < b ? a : b;)
WAVESAN_INT_BINARY(UMax, Cheap, return a > b ? a : b;)
WAVESAN_INT_BINARY(SMin, Cheap, return sa < sb ? a : b;)
WAVESAN_INT_BINARY(SMax, Cheap, return sa > sb ? a : b;)
WAVESAN_INT_BINARY(UAddSat, Cheap, T r = T(a + b); return r < a ? T(~T(0)) : r;)
WAVESAN_INT_BINARY(USubSat, Cheap, return a > b ? T(a - b) : T(0);)
WAVESAN_INT_BINARY(SAddSat, Slow, S r; if (__builtin_add_overflow(sa, sb, &r)) return T((T(1) << (bits - 1)) - T(sa >= 0)); return T(r);)
WAVESAN_INT_BINARY(SSubSat, Slow, S r; if (__builtin_sub_overflow(sa, sb, &r)) return T((T(1) << (bits - 1)) - T(sa >= 0)); return T(r);)
WAVESAN_INT_BINARY(UShlSat, Slow, if (b >= bits) return a ? T(~T(0)) : T(0); T r = T(a << b); return T(r >> b) == a ? r : T(~T(0));)

template <class T> struct MulHiU {
  static void run(Wave &w, const Op &o) {
    T *d = w.at<T>(o.d);
    const T *a = w.at<T>(o.a), *b = w.at<T>(o.b);
    mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) {
      if constexpr (sizeof(T) <= 4)
        return T((uint64_t(a[i]) * b[i]) >> (sizeof(T) * 8));
      else
        return T((u128(uint64_t(a[i])) * uint64_t(b[i])) >> 64);
    });
  }
};
template <class T> struct MulHiS {
  static void run(Wave &w, const Op &o) {
    T *d = w.at<T>(o.d);
    const T *a = w.at<T>(o.a), *b = w.at<T>(o.b);
    mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) {
      if constexpr (sizeof(T) <= 4)
        return T((int64_t(Signed<T>(a[i])) * int64_t(Signed<T>(b[i]))) >> (sizeof(T) * 8));
      else
        return T((s128(int64_t(a[i])) * s128(int64_t(b[i]))) >> 64);
    });
  }
};

template <class T> uint32_t countLeadingZeros(T v) {
  if constexpr (sizeof(T) == 16) {
    const uint64_t high = uint64_t(v >> 64), low = uint64_t(v);
    return high ? __builtin_clzll(high) : low ? 64 + __builtin_clzll(low) : 128;
  } else {
    return v ? uint32_t(__builtin_clzll(v)) - (64 - sizeof(T) * 8) : sizeof(T) * 8;
  }
}
template <class T> uint32_t countTrailingZeros(T v) {
  if constexpr (sizeof(T) == 16)
    return uint64_t(v) ? __builtin_ctzll(uint64_t(v)) : uint64_t(v >> 64) ? 64 + __builtin_ctzll(uint64_t(v >> 64)) : 128;
  else
    return v ? __builtin_ctzll(v) : sizeof(T) * 8;
}
template <class T> uint32_t popCount(T v) {
  if constexpr (sizeof(T) == 16)
    return __builtin_popcountll(uint64_t(v)) + __builtin_popcountll(uint64_t(v >> 64));
  else
    return __builtin_popcountll(v);
}
template <class T> T byteSwap(T v) {
  if constexpr (sizeof(T) == 16)
    return (T(__builtin_bswap64(uint64_t(v))) << 64) | __builtin_bswap64(uint64_t(v >> 64));
  else
    return T(__builtin_bswap64(v) >> (64 - sizeof(T) * 8));
}
template <class T> T bitReverse(T v) {
  if constexpr (sizeof(T) == 16)
    return (T(__builtin_bitreverse64(uint64_t(v))) << 64) | __builtin_bitreverse64(uint64_t(v >> 64));
  else
    return T(__builtin_bitreverse64(v) >> (64 - sizeof(T) * 8));
}

#define WAVESAN_INT_UNARY(NAME, COST, ...)                                                                             \
  template <class T> struct NAME {                                                                                     \
    static void run(Wave &w, const Op &o) {                                                                            \
      T *d = w.at<T>(o.d);                                                                                             \
      const T *source = w.at<T>(o.a);                                                                                  \
      [[maybe_unused]] const uint32_t sub = o.sub;                                                                     \
      [[maybe_unused]] const T imm = T(o.imm);                                                                         \
      mapLanes<costOf<T>(Cost::COST)>(w, d, o.n, [=](uint32_t i) -> T {                                                \
        using S [[maybe_unused]] = Signed<T>;                                                                          \
        const T a = source[i];                                                                                         \
        __VA_ARGS__                                                                                                    \
      });                                                                                                              \
    }                                                                                                                  \
  };
// Masks of 128-bit containers do not fit into imm: sub holds the number of bits to clear at the top.
WAVESAN_INT_UNARY(Mask, Cheap, if constexpr (sizeof(T) == 16) return T(T(a << sub) >> sub); else return T(a & imm);)
WAVESAN_INT_UNARY(SignExtend, Cheap, return T(S(T(a << sub)) >> sub);)
WAVESAN_INT_UNARY(CtPop, Cheap, return T(popCount(a));)
WAVESAN_INT_UNARY(CtLz, Slow, return T(countLeadingZeros(a) - sub);)
WAVESAN_INT_UNARY(CtTz, Slow, return a ? T(countTrailingZeros(a)) : T(sub);)
WAVESAN_INT_UNARY(BSwap, Cheap, return T(byteSwap(a) >> sub);)
WAVESAN_INT_UNARY(BitReverse, Cheap, return T(bitReverse(a) >> sub);)
WAVESAN_INT_UNARY(Abs, Cheap, return S(a) < 0 ? T(0 - a) : a;)
WAVESAN_INT_UNARY(AddImm, Cheap, return T(a + imm);)
WAVESAN_INT_UNARY(FindMsbU, Slow, return a ? T(countLeadingZeros(a)) : T(~T(0));)
WAVESAN_INT_UNARY(FindMsbS, Slow, T v = S(a) < 0 ? T(~a) : a; return v ? T(countLeadingZeros(v)) : T(~T(0));)

#define WAVESAN_INT_TERNARY(NAME, ...)                                                                                 \
  template <class T> struct NAME {                                                                                     \
    static void run(Wave &w, const Op &o) {                                                                            \
      T *d = w.at<T>(o.d);                                                                                             \
      const T *pa = w.at<T>(o.a), *pb = w.at<T>(o.b), *pc = w.at<T>(o.c);                                              \
      mapLanes<costOf<T>(Cost::Cheap)>(w, d, o.n, [=](uint32_t i) -> T {                                               \
        using S [[maybe_unused]] = Signed<T>;                                                                          \
        [[maybe_unused]] constexpr uint32_t bits = sizeof(T) * 8;                                                      \
        const T a = pa[i], b = pb[i], c = pc[i];                                                                       \
        __VA_ARGS__                                                                                                    \
      });                                                                                                              \
    }                                                                                                                  \
  };
WAVESAN_INT_TERNARY(FShl, const T s = c & (bits - 1); return T(T(a << s) | T(T(b >> 1) >> (bits - 1 - s)));)
WAVESAN_INT_TERNARY(FShr, const T s = c & (bits - 1); return T(T(b >> s) | T(T(a << 1) << (bits - 1 - s)));)
WAVESAN_INT_TERNARY(UMed3, const T lo = a < b ? a : b; const T hi = a < b ? b : a; return c < lo ? lo : c > hi ? hi : c;)
WAVESAN_INT_TERNARY(SMed3, const S lo = S(a) < S(b) ? S(a) : S(b); const S hi = S(a) < S(b) ? S(b) : S(a);
                    return T(S(c) < lo ? lo : S(c) > hi ? hi : S(c));)

#define WAVESAN_OVERFLOW(NAME, TYPE, BUILTIN)                                                                          \
  template <class T> struct NAME {                                                                                     \
    static void run(Wave &w, const Op &o) {                                                                            \
      T *d = w.at<T>(o.d);                                                                                             \
      uint8_t *flag = w.at<uint8_t>(o.c);                                                                              \
      const T *a = w.at<T>(o.a), *b = w.at<T>(o.b);                                                                    \
      forEachLane(w.exec, [=](uint32_t i) {                                                                            \
        TYPE result;                                                                                                   \
        flag[i] = BUILTIN(TYPE(a[i]), TYPE(b[i]), &result);                                                            \
        d[i] = T(result);                                                                                              \
      });                                                                                                              \
    }                                                                                                                  \
  };
WAVESAN_OVERFLOW(UAddOverflow, T, __builtin_add_overflow)
WAVESAN_OVERFLOW(SAddOverflow, Signed<T>, __builtin_add_overflow)
WAVESAN_OVERFLOW(USubOverflow, T, __builtin_sub_overflow)
WAVESAN_OVERFLOW(SSubOverflow, Signed<T>, __builtin_sub_overflow)
template <class T> struct UMulOverflow {
  static void run(Wave &w, const Op &o) {
    T *d = w.at<T>(o.d);
    uint8_t *flag = w.at<uint8_t>(o.c);
    const T *a = w.at<T>(o.a), *b = w.at<T>(o.b);
    forEachLane(w.exec, [=](uint32_t i) {
      const u128 product = u128(a[i]) * u128(b[i]);
      d[i] = T(product);
      flag[i] = product != u128(d[i]);
    });
  }
};
template <class T> struct SMulOverflow {
  static void run(Wave &w, const Op &o) {
    T *d = w.at<T>(o.d);
    uint8_t *flag = w.at<uint8_t>(o.c);
    const T *a = w.at<T>(o.a), *b = w.at<T>(o.b);
    forEachLane(w.exec, [=](uint32_t i) {
      const s128 product = s128(Signed<T>(a[i])) * s128(Signed<T>(b[i]));
      d[i] = T(product);
      flag[i] = product != s128(Signed<T>(d[i]));
    });
  }
};

#define WAVESAN_COMPARE(NAME, EXPR)                                                                                    \
  template <class T> struct NAME {                                                                                     \
    static void run(Wave &w, const Op &o) {                                                                            \
      uint8_t *d = w.at<uint8_t>(o.d);                                                                                 \
      const T *pa = w.at<T>(o.a), *pb = w.at<T>(o.b);                                                                  \
      mapLanes<costOf<T>(Cost::Cheap)>(w, d, o.n, [=](uint32_t i) -> uint8_t {                                         \
        using S [[maybe_unused]] = Signed<T>;                                                                          \
        const T a = pa[i], b = pb[i];                                                                                  \
        return EXPR;                                                                                                   \
      });                                                                                                              \
    }                                                                                                                  \
  };
WAVESAN_COMPARE(CmpEq, a == b)
WAVESAN_COMPARE(CmpNe, a != b)
WAVESAN_COMPARE(CmpUgt, a > b)
WAVESAN_COMPARE(CmpUge, a >= b)
WAVESAN_COMPARE(CmpUlt, a < b)
WAVESAN_COMPARE(CmpUle, a <= b)
WAVESAN_COMPARE(CmpSgt, S(a) > S(b))
WAVESAN_COMPARE(CmpSge, S(a) >= S(b))
WAVESAN_COMPARE(CmpSlt, S(a) < S(b))
WAVESAN_COMPARE(CmpSle, S(a) <= S(b))

template <class From, class To> void convert(Wave &w, const Op &o) {
  To *d = w.at<To>(o.d);
  const From *a = w.at<From>(o.a);
  mapLanes<costOf<To>(costOf<From>(Cost::Cheap))>(w, d, o.n, [=](uint32_t i) { return To(a[i]); });
}
template <class From, class To> void extendSign(Wave &w, const Op &o) {
  To *d = w.at<To>(o.d);
  const From *a = w.at<From>(o.a);
  const uint32_t shift = o.sub;
  mapLanes<costOf<To>(costOf<From>(Cost::Cheap))>(
      w, d, o.n, [=](uint32_t i) { return To(Signed<To>(Signed<From>(From(a[i] << shift)) >> shift)); });
}
template <class From, bool sign> Handler pickCast(Width to) {
  switch (to) {
  case Width::B8: return sign ? extendSign<From, uint8_t> : convert<From, uint8_t>;
  case Width::B16: return sign ? extendSign<From, uint16_t> : convert<From, uint16_t>;
  case Width::B32: return sign ? extendSign<From, uint32_t> : convert<From, uint32_t>;
  case Width::B64: return sign ? extendSign<From, uint64_t> : convert<From, uint64_t>;
  case Width::B128: return sign ? extendSign<From, u128> : convert<From, u128>;
  }
  return nullptr;
}
template <bool sign> Handler pickCast(Width from, Width to) {
  switch (from) {
  case Width::B8: return pickCast<uint8_t, sign>(to);
  case Width::B16: return pickCast<uint16_t, sign>(to);
  case Width::B32: return pickCast<uint32_t, sign>(to);
  case Width::B64: return pickCast<uint64_t, sign>(to);
  case Width::B128: return pickCast<u128, sign>(to);
  }
  return nullptr;
}

template <class T> struct Select {
  static void run(Wave &w, const Op &o) {
    const uint8_t *c = w.at<uint8_t>(o.c);
    const uint32_t lanes = w.lanes;
    for (uint32_t k = 0; k < o.n; ++k) {
      T *d = w.at<T>(o.d) + k * lanes;
      const T *a = w.at<T>(o.a) + k * lanes, *b = w.at<T>(o.b) + k * lanes;
      mapLanes<costOf<T>(Cost::Cheap)>(w, d, 1, [=](uint32_t i) {
        const T x = a[i], y = b[i];
        return c[i] ? x : y;
      });
    }
  }
};
template <class T> struct SelectVector {
  static void run(Wave &w, const Op &o) {
    T *d = w.at<T>(o.d);
    const uint8_t *c = w.at<uint8_t>(o.c);
    const T *a = w.at<T>(o.a), *b = w.at<T>(o.b);
    mapLanes<costOf<T>(Cost::Cheap)>(w, d, o.n, [=](uint32_t i) {
      const T x = a[i], y = b[i];
      return c[i] ? x : y;
    });
  }
};
template <class T> struct CopyRegister {
  static void run(Wave &w, const Op &o) {
    T *d = w.at<T>(o.d);
    const T *a = w.at<T>(o.a);
    mapLanes<costOf<T>(Cost::Cheap)>(w, d, o.n, [=](uint32_t i) { return a[i]; });
  }
};

template <class P, class I> void scaledAddRun(Wave &w, const Op &o) {
  P *d = w.at<P>(o.d);
  const P *a = w.at<P>(o.a);
  const I *b = w.at<I>(o.b);
  const P scale = P(o.imm), offset = P(int64_t(int32_t(o.sub)));
  mapLanes<Cost::Cheap>(w, d, o.n, [=](uint32_t i) { return P(a[i] + P(Signed<I>(b[i])) * scale + offset); });
}

template <class W, class N> void splitRun(Wave &w, const Op &o) {
  constexpr uint32_t ratio = sizeof(W) / sizeof(N);
  const uint32_t lanes = w.lanes;
  for (uint32_t k = 0; k < o.n; ++k) {
    const W *a = w.at<W>(o.a) + k * lanes;
    for (uint32_t r = 0; r < ratio; ++r) {
      N *d = w.at<N>(o.d) + (k * ratio + r) * lanes;
      const uint32_t shift = r * sizeof(N) * 8;
      mapLanes<costOf<W>(Cost::Cheap)>(w, d, 1, [=](uint32_t i) { return N(a[i] >> shift); });
    }
  }
}
template <class N, class W> void joinRun(Wave &w, const Op &o) {
  constexpr uint32_t ratio = sizeof(W) / sizeof(N);
  const uint32_t lanes = w.lanes;
  for (uint32_t k = 0; k < o.n; ++k) {
    W *d = w.at<W>(o.d) + k * lanes;
    const N *a = w.at<N>(o.a) + k * ratio * lanes;
    mapLanes<costOf<W>(Cost::Cheap)>(w, d, 1, [=](uint32_t i) {
      W v = 0;
      for (uint32_t r = 0; r < ratio; ++r)
        v |= W(W(a[r * lanes + i]) << (r * sizeof(N) * 8));
      return v;
    });
  }
}

} // namespace

Handler intBinary(IntBinary op, Width w) {
  switch (op) {
  case IntBinary::Add: return pick<Add>(w);
  case IntBinary::Sub: return pick<Sub>(w);
  case IntBinary::Mul: return pick<Mul>(w);
  case IntBinary::UDiv: return pick<UDiv>(w);
  case IntBinary::SDiv: return pick<SDiv>(w);
  case IntBinary::URem: return pick<URem>(w);
  case IntBinary::SRem: return pick<SRem>(w);
  case IntBinary::Shl: return pick<Shl>(w);
  case IntBinary::LShr: return pick<LShr>(w);
  case IntBinary::AShr: return pick<AShr>(w);
  case IntBinary::And: return pick<And>(w);
  case IntBinary::Or: return pick<Or>(w);
  case IntBinary::Xor: return pick<Xor>(w);
  case IntBinary::UMin: return pick<UMin>(w);
  case IntBinary::UMax: return pick<UMax>(w);
  case IntBinary::SMin: return pick<SMin>(w);
  case IntBinary::SMax: return pick<SMax>(w);
  case IntBinary::UAddSat: return pick<UAddSat>(w);
  case IntBinary::USubSat: return pick<USubSat>(w);
  case IntBinary::SAddSat: return pick<SAddSat>(w);
  case IntBinary::SSubSat: return pick<SSubSat>(w);
  case IntBinary::UShlSat: return pick<UShlSat>(w);
  case IntBinary::MulHiU: return w == Width::B128 ? nullptr : pick<MulHiU>(w);
  case IntBinary::MulHiS: return w == Width::B128 ? nullptr : pick<MulHiS>(w);
  }
  return nullptr;
}

Handler intUnary(IntUnary op, Width w) {
  switch (op) {
  case IntUnary::Mask: return pick<Mask>(w);
  case IntUnary::SignExtend: return pick<SignExtend>(w);
  case IntUnary::CtPop: return pick<CtPop>(w);
  case IntUnary::CtLz: return pick<CtLz>(w);
  case IntUnary::CtTz: return pick<CtTz>(w);
  case IntUnary::BSwap: return pick<BSwap>(w);
  case IntUnary::BitReverse: return pick<BitReverse>(w);
  case IntUnary::Abs: return pick<Abs>(w);
  case IntUnary::AddImm: return pick<AddImm>(w);
  case IntUnary::FindMsbU: return pick<FindMsbU>(w);
  case IntUnary::FindMsbS: return pick<FindMsbS>(w);
  }
  return nullptr;
}

Handler intTernary(IntTernary op, Width w) {
  switch (op) {
  case IntTernary::FShl: return pick<FShl>(w);
  case IntTernary::FShr: return pick<FShr>(w);
  case IntTernary::UMed3: return pick<UMed3>(w);
  case IntTernary::SMed3: return pick<SMed3>(w);
  }
  return nullptr;
}

Handler overflow(Overflow op, Width w) {
  switch (op) {
  case Overflow::UAdd: return pick<UAddOverflow>(w);
  case Overflow::SAdd: return pick<SAddOverflow>(w);
  case Overflow::USub: return pick<USubOverflow>(w);
  case Overflow::SSub: return pick<SSubOverflow>(w);
  case Overflow::UMul: return w == Width::B128 ? nullptr : pick<UMulOverflow>(w);
  case Overflow::SMul: return w == Width::B128 ? nullptr : pick<SMulOverflow>(w);
  }
  return nullptr;
}

Handler intCompare(IntCompare op, Width w) {
  switch (op) {
  case IntCompare::Eq: return pick<CmpEq>(w);
  case IntCompare::Ne: return pick<CmpNe>(w);
  case IntCompare::Ugt: return pick<CmpUgt>(w);
  case IntCompare::Uge: return pick<CmpUge>(w);
  case IntCompare::Ult: return pick<CmpUlt>(w);
  case IntCompare::Ule: return pick<CmpUle>(w);
  case IntCompare::Sgt: return pick<CmpSgt>(w);
  case IntCompare::Sge: return pick<CmpSge>(w);
  case IntCompare::Slt: return pick<CmpSlt>(w);
  case IntCompare::Sle: return pick<CmpSle>(w);
  }
  return nullptr;
}

Handler zeroExtendOrTruncate(Width from, Width to) { return pickCast<false>(from, to); }
Handler signExtend(Width from, Width to) { return pickCast<true>(from, to); }
Handler select(Width w) { return pick<Select>(w); }
Handler selectVector(Width w) { return pick<SelectVector>(w); }
Handler move(Width w) { return pick<CopyRegister>(w); }

Handler scaledAdd(Width pointer, Width index) {
  if (pointer == Width::B64)
    return index == Width::B64 ? scaledAddRun<uint64_t, uint64_t>
           : index == Width::B32 ? scaledAddRun<uint64_t, uint32_t> : nullptr;
  if (pointer == Width::B32)
    return index == Width::B64 ? scaledAddRun<uint32_t, uint64_t>
           : index == Width::B32 ? scaledAddRun<uint32_t, uint32_t> : nullptr;
  return nullptr;
}

template <class W> static Handler pickSplit(Width narrow) {
  if (bytesOf(narrow) >= sizeof(W))
    return nullptr;
  switch (narrow) {
  case Width::B8: return splitRun<W, uint8_t>;
  case Width::B16: return splitRun<W, uint16_t>;
  case Width::B32: return splitRun<W, uint32_t>;
  case Width::B64: return splitRun<W, uint64_t>;
  default: return nullptr;
  }
}
template <class W> static Handler pickJoin(Width narrow) {
  if (bytesOf(narrow) >= sizeof(W))
    return nullptr;
  switch (narrow) {
  case Width::B8: return joinRun<uint8_t, W>;
  case Width::B16: return joinRun<uint16_t, W>;
  case Width::B32: return joinRun<uint32_t, W>;
  case Width::B64: return joinRun<uint64_t, W>;
  default: return nullptr;
  }
}
Handler split(Width wide, Width narrow) {
  switch (wide) {
  case Width::B16: return pickSplit<uint16_t>(narrow);
  case Width::B32: return pickSplit<uint32_t>(narrow);
  case Width::B64: return pickSplit<uint64_t>(narrow);
  case Width::B128: return pickSplit<u128>(narrow);
  default: return nullptr;
  }
}
Handler join(Width narrow, Width wide) {
  switch (wide) {
  case Width::B16: return pickJoin<uint16_t>(narrow);
  case Width::B32: return pickJoin<uint32_t>(narrow);
  case Width::B64: return pickJoin<uint64_t>(narrow);
  case Width::B128: return pickJoin<u128>(narrow);
  default: return nullptr;
  }
}

} // namespace wavesan::cpu::engine::WAVESAN_ISA
