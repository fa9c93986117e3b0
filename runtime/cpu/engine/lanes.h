// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over the lanes of a wave. See wave.h for always_inline.
#ifndef WAVESAN_CPU_ENGINE_LANES_H
#define WAVESAN_CPU_ENGINE_LANES_H

#include "wave.h"

#include <cstring>

namespace wavesan::cpu::engine {

template <class F> [[gnu::always_inline]] inline void forEachLane(LaneMask mask, F f) {
  for (; mask; mask &= mask - 1)
    f(uint32_t(__builtin_ctzll(mask)));
}

/// What a lane loop costs for each lane: a Cheap function may be evaluated for inactive lanes and blended away.
enum class Cost { Cheap, Slow };

/// destination[i] = f(i) for the active lanes of `n` consecutive registers. Each value has registers of its own, so what `f`
/// reads is the destination's element i or lies outside of it: compilers need not check whether the arrays overlap, which
/// neighbouring registers of bytes would seem to do.
template <Cost cost, class D, class F>
[[gnu::always_inline]] inline void mapLanes(const Wave &w, D *__restrict destination, uint32_t n, F f) {
  const uint32_t lanes = w.lanes;
  if (w.full) [[likely]] {
    const uint32_t count = n * lanes;
    __builtin_assume(count % 32 == 0);
#pragma clang loop unroll(disable) vectorize(assume_safety)
    for (uint32_t i = 0; i < count; ++i)
      destination[i] = f(i);
    return;
  }
  for (uint32_t k = 0; k < n; ++k) {
    const uint32_t first = k * lanes;
    if (cost == Cost::Cheap && !w.sparse) {
      const uint8_t *__restrict active = w.laneBytes;
      __builtin_assume(lanes % 32 == 0);
#pragma clang loop unroll(disable) vectorize(assume_safety)
      for (uint32_t i = 0; i < lanes; ++i) {
        const D value = f(first + i);
        destination[first + i] = active[i] ? value : destination[first + i];
      }
    } else {
      forEachLane(w.exec, [&](uint32_t i) { destination[first + i] = f(first + i); });
    }
  }
}

template <class T> [[gnu::always_inline]] inline T loadUnaligned(const void *p) {
  T value;
  __builtin_memcpy(&value, p, sizeof(T));
  return value;
}
template <class T> [[gnu::always_inline]] inline void storeUnaligned(void *p, T value) {
  __builtin_memcpy(p, &value, sizeof(T));
}

template <class To, class From> [[gnu::always_inline]] inline To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

using u128 = unsigned __int128;
using s128 = __int128;

template <class T> struct SignedOf;
template <> struct SignedOf<uint8_t> { using type = int8_t; };
template <> struct SignedOf<uint16_t> { using type = int16_t; };
template <> struct SignedOf<uint32_t> { using type = int32_t; };
template <> struct SignedOf<uint64_t> { using type = int64_t; };
template <> struct SignedOf<u128> { using type = s128; };
template <class T> using Signed = typename SignedOf<T>::type;

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_LANES_H
