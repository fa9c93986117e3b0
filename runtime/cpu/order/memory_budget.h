// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much memory the records and the clocks of all dispatches may take together. Thread-safe.
#ifndef WAVESAN_CPU_ORDER_MEMORY_BUDGET_H
#define WAVESAN_CPU_ORDER_MEMORY_BUDGET_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace wavesan::cpu {

/// Memory of vector clocks and releases. Waves, releases and locations share them, so they belong to no dispatch: the
/// bytes of all that live are counted for the process.
class ClockMemory {
public:
  static uint64_t bytes() { return Bytes.load(std::memory_order_relaxed); }

  template <class T, class... Arguments> static std::shared_ptr<T> make(Arguments &&...arguments) {
    return std::allocate_shared<T>(Allocator<T>(), std::forward<Arguments>(arguments)...);
  }

private:
  template <class T> struct Allocator {
    using value_type = T;
    Allocator() = default;
    template <class U> Allocator(const Allocator<U> &) {}
    T *allocate(size_t n) {
      T *p = std::allocator<T>().allocate(n);
      Bytes.fetch_add(n * sizeof(T), std::memory_order_relaxed);
      return p;
    }
    void deallocate(T *p, size_t n) {
      Bytes.fetch_sub(n * sizeof(T), std::memory_order_relaxed);
      std::allocator<T>().deallocate(p, n);
    }
    template <class U> bool operator==(const Allocator<U> &) const { return true; }
  };
  static inline std::atomic<uint64_t> Bytes{0};
};

class MemoryBudget {
public:
  explicit MemoryBudget(uint64_t bytes = UINT64_MAX) : Limit(bytes) {}
  /// What has been taken stays taken.
  void limit(uint64_t bytes) { Limit.store(bytes, std::memory_order_relaxed); }
  /// For records of accesses. An eighth of the budget is not theirs: without clocks they are worth nothing. False, and
  /// nothing taken, if it would be too much.
  bool take(uint64_t bytes) {
    const uint64_t most = Limit.load(std::memory_order_relaxed);
    return takeBelow(bytes, most - most / 8);
  }
  /// For what orders waves.
  bool takeForOrder(uint64_t bytes) { return takeBelow(bytes, Limit.load(std::memory_order_relaxed)); }
  /// Whether clocks may grow. They ask nobody: the few bytes until someone looks here come on top.
  bool hasRoomForOrder() const {
    const uint64_t most = Limit.load(std::memory_order_relaxed), used = Used.load(std::memory_order_relaxed);
    return used <= most && ClockMemory::bytes() <= most - used;
  }
  /// Whether more is taken than a small part: then it may be that for another order of workgroups, whose records need a
  /// few times as much, it would not do.
  bool isShort() const { return used() + ClockMemory::bytes() > Limit.load(std::memory_order_relaxed) / 8; }
  void give(uint64_t bytes) { Used.fetch_sub(bytes, std::memory_order_relaxed); }
  uint64_t used() const { return Used.load(std::memory_order_relaxed); }

private:
  bool takeBelow(uint64_t bytes, uint64_t most) {
    const uint64_t clocks = ClockMemory::bytes();
    uint64_t used = Used.load(std::memory_order_relaxed);
    do
      if (clocks > most || bytes > most - clocks || used > most - clocks - bytes)
        return false;
    while (!Used.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  std::atomic<uint64_t> Limit, Used{0};
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_MEMORY_BUDGET_H
