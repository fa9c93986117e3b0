// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A checked dispatch whose workgroups several threads execute on trial (docs/threads.md).
//
// Its workgroups have no declared way to tell one another something, so as long as no two of them touch the same byte,
// one of them writing, each of them does what it would do alone, and their order shows nowhere. The check says when two
// do: before the second access is executed, so that no workgroup ever sees what another one has stored. Then, and
// whenever anything else would be reported, the trial has failed: all bytes that it wrote get back what they held, what
// was counted is forgotten, and the dispatch begins again on one thread. What is reported thus always comes from the
// one repeatable order.
#ifndef WAVESAN_CPU_ORDER_TRIAL_H
#define WAVESAN_CPU_ORDER_TRIAL_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace wavesan::cpu {

/// Thread-safe.
class Trial {
public:
  /// Whether nobody but the dispatch looks at these bytes while it runs, and whether there is memory at all.
  using Memory = std::function<bool(uint64_t address, uint64_t bytes)>;
  /// `memory`: null: all that can be mapped.
  explicit Trial(Memory memory) : OwnMemory(std::move(memory)) {}

  void fail() { Failed.store(true, std::memory_order_relaxed); }
  bool failed() const { return Failed.load(std::memory_order_relaxed); }
  bool allows(uint64_t address, uint64_t bytes) const {
    return OwnMemory ? OwnMemory(address, bytes) : address >= kNeverMapped && address >> kUserBits == 0;
  }

private:
  static constexpr uint64_t kNeverMapped = 0x10000; ///< below: offsets from a null pointer
  static constexpr unsigned kUserBits = 47;
  std::atomic<bool> Failed{false};
  const Memory OwnMemory;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_TRIAL_H
