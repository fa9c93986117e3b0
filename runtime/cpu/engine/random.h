// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scheduler's random numbers: splitmix64, the same sequence on every machine.
#ifndef WAVESAN_CPU_ENGINE_RANDOM_H
#define WAVESAN_CPU_ENGINE_RANDOM_H

#include <cstdint>

namespace wavesan::cpu::engine {

class Random {
public:
  Random() = default;
  Random(uint64_t seed, uint64_t stream) : state(seed ^ (stream * 0xd1342543de82ef95u)) {
    next();
    state ^= stream;
  }
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, bound); bound > 0.
  uint32_t below(uint32_t bound) { return uint32_t((uint64_t(uint32_t(next() >> 32)) * bound) >> 32); }

private:
  uint64_t state = 0;
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_RANDOM_H
