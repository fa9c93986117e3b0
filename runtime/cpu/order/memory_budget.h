// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much memory the shadows of all dispatches may take together. Thread-safe.
#ifndef WAVESAN_CPU_ORDER_MEMORY_BUDGET_H
#define WAVESAN_CPU_ORDER_MEMORY_BUDGET_H

#include <atomic>
#include <cstdint>

namespace wavesan::cpu {

class MemoryBudget {
public:
  explicit MemoryBudget(uint64_t bytes = UINT64_MAX) : Limit(bytes) {}
  /// What has been taken stays taken.
  void limit(uint64_t bytes) { Limit.store(bytes, std::memory_order_relaxed); }
  /// False, and nothing taken, if it would be too much.
  bool take(uint64_t bytes) {
    uint64_t used = Used.load(std::memory_order_relaxed);
    const uint64_t most = Limit.load(std::memory_order_relaxed);
    do
      if (bytes > most || used > most - bytes)
        return false;
    while (!Used.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void give(uint64_t bytes) { Used.fetch_sub(bytes, std::memory_order_relaxed); }
  uint64_t used() const { return Used.load(std::memory_order_relaxed); }

private:
  std::atomic<uint64_t> Limit, Used{0};
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_MEMORY_BUDGET_H
