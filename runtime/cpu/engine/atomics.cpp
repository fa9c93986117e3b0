// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic operations, lane after lane. Flat memory may be touched by host threads and other workgroups at the same
// time: host atomics, sequentially consistent. LDS and private memory belong to the executing thread.
#include "handlers.h"
#include "lane_pointer.h"
#include "lanes.h"
#include "small_float.h"

namespace wavesan::cpu::engine {

namespace {

template <RmwOp op, class T> T combine(T old, T v) {
  using S = Signed<T>;
  if constexpr (op == RmwOp::Xchg) return v;
  else if constexpr (op == RmwOp::Add) return T(old + v);
  else if constexpr (op == RmwOp::Sub) return T(old - v);
  else if constexpr (op == RmwOp::And) return T(old & v);
  else if constexpr (op == RmwOp::Nand) return T(~(old & v));
  else if constexpr (op == RmwOp::Or) return T(old | v);
  else if constexpr (op == RmwOp::Xor) return T(old ^ v);
  else if constexpr (op == RmwOp::Max) return S(old) > S(v) ? old : v;
  else if constexpr (op == RmwOp::Min) return S(old) < S(v) ? old : v;
  else if constexpr (op == RmwOp::UMax) return old > v ? old : v;
  else if constexpr (op == RmwOp::UMin) return old < v ? old : v;
  else if constexpr (op == RmwOp::UIncWrap) return old >= v ? T(0) : T(old + 1);
  else if constexpr (op == RmwOp::UDecWrap) return old == 0 || old > v ? v : T(old - 1);
  else if constexpr (op == RmwOp::USubCond) return old >= v ? T(old - v) : old;
  else if constexpr (op == RmwOp::USubSat) return old >= v ? T(old - v) : T(0);
}

template <RmwOp op, class Fm> typename Fm::Bits combineFloat(typename Fm::Bits oldBits, typename Fm::Bits bits) {
  using S = typename Fm::Storage;
  const auto old = Fm::load(bitCast<S>(oldBits)), v = Fm::load(bitCast<S>(bits));
  auto result = old;
  if constexpr (op == RmwOp::FAdd) result = old + v;
  else if constexpr (op == RmwOp::FSub) result = old - v;
  else if constexpr (op == RmwOp::FMax) result = maxNumber(old, v);
  else if constexpr (op == RmwOp::FMin) result = minNumber(old, v);
  else if constexpr (op == RmwOp::FMaximum) result = maximumOf(old, v);
  else if constexpr (op == RmwOp::FMinimum) result = minimumOf(old, v);
  return bitCast<typename Fm::Bits>(Fm::store(result));
}

bool misaligned(Wave &w, const Op &o, const void *p, size_t bytes) {
  if (!(reinterpret_cast<uintptr_t>(p) & (bytes - 1))) [[likely]]
    return false;
  w.raise(Outcome::MemoryFault, o, "misaligned atomic access");
  return true;
}

/// Replaces *p by f(*p) and returns the old value.
template <Space space, class T, class F> T update(uint8_t *at, F f) {
  T *p = reinterpret_cast<T *>(at);
  if constexpr (space == Space::Flat) {
    T old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, f(old), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return old;
  } else {
    const T old = loadUnaligned<T>(at);
    storeUnaligned<T>(at, f(old));
    return old;
  }
}

template <Space space, RmwOp op, class T> T applyInt(uint8_t *at, T v) {
  if constexpr (space == Space::Flat) {
    T *p = reinterpret_cast<T *>(at);
    if constexpr (op == RmwOp::Add) return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
    else if constexpr (op == RmwOp::Sub) return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);
    else if constexpr (op == RmwOp::And) return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);
    else if constexpr (op == RmwOp::Or) return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);
    else if constexpr (op == RmwOp::Xor) return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);
    else if constexpr (op == RmwOp::Xchg) return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
    else return update<space, T>(at, [=](T old) { return combine<op, T>(old, v); });
  } else {
    return update<space, T>(at, [=](T old) { return combine<op, T>(old, v); });
  }
}

template <Space space, class T, class F> void forEachTarget(Wave &w, const Op &o, F f) {
  if (!checkLanes<space>(w, o, o.a, o.imm, sizeof(T)))
    return;
  T *d = o.d == kNoRegister ? nullptr : w.at<T>(o.d);
  for (LaneMask rest = w.exec; rest; rest &= rest - 1) {
    const uint32_t i = uint32_t(__builtin_ctzll(rest));
    uint8_t *at = lanePointer<space>(w, o.a, i, o.imm);
    if (misaligned(w, o, at, sizeof(T)))
      return;
    const T old = f(at, i);
    if (d)
      d[i] = old;
  }
  w.tick();
}

template <Space space, RmwOp op, class T> void rmw(Wave &w, const Op &o) {
  const T *b = w.at<T>(o.b);
  forEachTarget<space, T>(w, o, [=](uint8_t *at, uint32_t i) { return applyInt<space, op, T>(at, b[i]); });
}

template <Space space, RmwOp op, class Fm> void rmwFloat(Wave &w, const Op &o) {
  using B = typename Fm::Bits;
  const B *b = w.at<B>(o.b);
  forEachTarget<space, B>(w, o, [=](uint8_t *at, uint32_t i) {
    return update<space, B>(at, [=](B old) { return combineFloat<op, Fm>(old, b[i]); });
  });
}

// Two 16-bit elements in one dword; registers hold them apart.
template <Space space, RmwOp op, class Fm> void rmwPair(Wave &w, const Op &o) {
  if (!checkLanes<space>(w, o, o.a, o.imm, 4))
    return;
  const uint16_t *b = w.at<uint16_t>(o.b);
  uint16_t *d = o.d == kNoRegister ? nullptr : w.at<uint16_t>(o.d);
  for (LaneMask rest = w.exec; rest; rest &= rest - 1) {
    const uint32_t i = uint32_t(__builtin_ctzll(rest));
    uint8_t *at = lanePointer<space>(w, o.a, i, o.imm);
    if (misaligned(w, o, at, 4))
      return;
    const uint16_t low = b[i], high = b[w.lanes + i];
    const uint32_t old = update<space, uint32_t>(at, [=](uint32_t v) {
      return uint32_t(combineFloat<op, Fm>(uint16_t(v), low)) |
             uint32_t(combineFloat<op, Fm>(uint16_t(v >> 16), high)) << 16;
    });
    if (d) {
      d[i] = uint16_t(old);
      d[w.lanes + i] = uint16_t(old >> 16);
    }
  }
  w.tick();
}

template <Space space, class T> void compareExchange(Wave &w, const Op &o) {
  const T *expected = w.at<T>(o.b), *desired = w.at<T>(o.c);
  uint8_t *success = w.at<uint8_t>(*static_cast<const Register *>(o.extra));
  forEachTarget<space, T>(w, o, [=](uint8_t *at, uint32_t i) {
    T *p = reinterpret_cast<T *>(at);
    T old = expected[i];
    if constexpr (space == Space::Flat) {
      success[i] = __atomic_compare_exchange_n(p, &old, desired[i], false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    } else {
      old = *p;
      success[i] = old == expected[i];
      if (success[i])
        *p = desired[i];
    }
    return old;
  });
}

template <Space space, class T> void atomicLoadRun(Wave &w, const Op &o) {
  forEachTarget<space, T>(w, o, [](uint8_t *at, uint32_t) {
    return __atomic_load_n(reinterpret_cast<T *>(at), __ATOMIC_SEQ_CST);
  });
}
template <Space space, class T> void atomicStoreRun(Wave &w, const Op &o) {
  const T *b = w.at<T>(o.b);
  forEachTarget<space, T>(w, o, [=](uint8_t *at, uint32_t i) {
    __atomic_store_n(reinterpret_cast<T *>(at), b[i], __ATOMIC_SEQ_CST);
    return b[i];
  });
}

template <Space space, RmwOp op> Handler pickRmw(Width w) {
  switch (w) {
  case Width::B8: return rmw<space, op, uint8_t>;
  case Width::B16: return rmw<space, op, uint16_t>;
  case Width::B32: return rmw<space, op, uint32_t>;
  case Width::B64: return rmw<space, op, uint64_t>;
  default: return nullptr;
  }
}
template <Space space> Handler pickRmw(RmwOp op, Width w) {
  switch (op) {
#define WAVESAN_RMW(NAME)                                                                                              \
  case RmwOp::NAME: return pickRmw<space, RmwOp::NAME>(w);
    WAVESAN_RMW(Xchg)
    WAVESAN_RMW(Add)
    WAVESAN_RMW(Sub)
    WAVESAN_RMW(And)
    WAVESAN_RMW(Nand)
    WAVESAN_RMW(Or)
    WAVESAN_RMW(Xor)
    WAVESAN_RMW(Max)
    WAVESAN_RMW(Min)
    WAVESAN_RMW(UMax)
    WAVESAN_RMW(UMin)
    WAVESAN_RMW(UIncWrap)
    WAVESAN_RMW(UDecWrap)
    WAVESAN_RMW(USubCond)
    WAVESAN_RMW(USubSat)
#undef WAVESAN_RMW
  default: return nullptr;
  }
}

template <Space space, RmwOp op> Handler pickRmwFloat(FloatKind kind, uint32_t elements) {
  if (elements == 2)
    return kind == FloatKind::Half     ? rmwPair<space, op, HalfFormat>
           : kind == FloatKind::BFloat ? rmwPair<space, op, BFloatFormat>
                                       : nullptr;
  if (elements != 1)
    return nullptr;
  switch (kind) {
  case FloatKind::Half: return rmwFloat<space, op, HalfFormat>;
  case FloatKind::BFloat: return rmwFloat<space, op, BFloatFormat>;
  case FloatKind::Single: return rmwFloat<space, op, SingleFormat>;
  case FloatKind::Double: return rmwFloat<space, op, DoubleFormat>;
  }
  return nullptr;
}
template <Space space> Handler pickRmwFloat(RmwOp op, FloatKind kind, uint32_t elements) {
  switch (op) {
  case RmwOp::FAdd: return pickRmwFloat<space, RmwOp::FAdd>(kind, elements);
  case RmwOp::FSub: return pickRmwFloat<space, RmwOp::FSub>(kind, elements);
  case RmwOp::FMax: return pickRmwFloat<space, RmwOp::FMax>(kind, elements);
  case RmwOp::FMin: return pickRmwFloat<space, RmwOp::FMin>(kind, elements);
  case RmwOp::FMaximum: return pickRmwFloat<space, RmwOp::FMaximum>(kind, elements);
  case RmwOp::FMinimum: return pickRmwFloat<space, RmwOp::FMinimum>(kind, elements);
  default: return nullptr;
  }
}

#define WAVESAN_PICK_WIDTH(NAME, FUNCTION)                                                                             \
  template <Space space> Handler NAME(Width w) {                                                                       \
    switch (w) {                                                                                                       \
    case Width::B8: return FUNCTION<space, uint8_t>;                                                                   \
    case Width::B16: return FUNCTION<space, uint16_t>;                                                                 \
    case Width::B32: return FUNCTION<space, uint32_t>;                                                                 \
    case Width::B64: return FUNCTION<space, uint64_t>;                                                                 \
    default: return nullptr;                                                                                           \
    }                                                                                                                  \
  }
WAVESAN_PICK_WIDTH(pickExchange, compareExchange)
WAVESAN_PICK_WIDTH(pickLoad, atomicLoadRun)
WAVESAN_PICK_WIDTH(pickStore, atomicStoreRun)

} // namespace

#define WAVESAN_BY_SPACE(CALL)                                                                                         \
  switch (space) {                                                                                                     \
  case Space::Flat: return CALL(Space::Flat);                                                                          \
  case Space::Lds: return CALL(Space::Lds);                                                                            \
  case Space::Private: return CALL(Space::Private);                                                                    \
  }                                                                                                                    \
  return nullptr;

Handler atomicRmw(Space space, RmwOp op, Width w) {
#define WAVESAN_CALL(S) pickRmw<S>(op, w)
  WAVESAN_BY_SPACE(WAVESAN_CALL)
#undef WAVESAN_CALL
}
Handler atomicRmwFloat(Space space, RmwOp op, FloatKind kind, uint32_t elements) {
#define WAVESAN_CALL(S) pickRmwFloat<S>(op, kind, elements)
  WAVESAN_BY_SPACE(WAVESAN_CALL)
#undef WAVESAN_CALL
}
Handler atomicCompareExchange(Space space, Width w) {
#define WAVESAN_CALL(S) pickExchange<S>(w)
  WAVESAN_BY_SPACE(WAVESAN_CALL)
#undef WAVESAN_CALL
}
Handler atomicLoad(Space space, Width w) {
#define WAVESAN_CALL(S) pickLoad<S>(w)
  WAVESAN_BY_SPACE(WAVESAN_CALL)
#undef WAVESAN_CALL
}
Handler atomicStore(Space space, Width w) {
#define WAVESAN_CALL(S) pickStore<S>(w)
  WAVESAN_BY_SPACE(WAVESAN_CALL)
#undef WAVESAN_CALL
}

} // namespace wavesan::cpu::engine
