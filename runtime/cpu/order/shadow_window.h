// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of global memory that is recorded, where there is no room for all of it (option further_passes).
#ifndef WAVESAN_CPU_ORDER_SHADOW_WINDOW_H
#define WAVESAN_CPU_ORDER_SHADOW_WINDOW_H

#include "wavesan/abi/replay.h"

#include <atomic>
#include <cstdint>

namespace wavesan::cpu {

/// Of dispatches that begin from now on. Set by whoever has the agent to itself.
class CurrentShadowWindow {
public:
  static void set(const abi::ShadowWindow *window) {
    Begin.store(window ? window->begin : 0, std::memory_order_relaxed);
    End.store(window ? window->end : UINT64_MAX, std::memory_order_relaxed);
  }
  static abi::ShadowWindow get() {
    return {Begin.load(std::memory_order_relaxed), End.load(std::memory_order_relaxed)};
  }

private:
  static inline std::atomic<uint64_t> Begin{0}, End{UINT64_MAX};
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_SHADOW_WINDOW_H
