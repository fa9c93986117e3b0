// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of two simultaneous conflicting accesses at least one sees the other: two threads as two waves, real atomics.
#include "wavesan/core/lds_detector.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace wavesan {
using namespace core;

namespace {
struct SharedCell {
  std::atomic<uint64_t> slots[kSlotsPerCell];
};
struct AtomicPlatform {
  SharedCell *Cell;
  bool Saw = false;
  uint64_t load(uint32_t, uint32_t slot) { return Cell->slots[slot].load(std::memory_order_relaxed); }
  bool compareExchange(uint32_t, uint32_t slot, uint64_t &expected, uint64_t desired) {
    return Cell->slots[slot].compare_exchange_strong(expected, desired, std::memory_order_relaxed);
  }
  void publishBeforeLook() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  uint32_t barrierGeneration(uint32_t, uint32_t) { return 0; }
  uint32_t endEpoch(uint32_t) { return 0; }
  void evicted(uint32_t, uint32_t) {}
  void conflict(uint32_t, const Conflict &) { Saw = true; }
};
} // namespace

TEST(Simultaneous, AtLeastOneSideSeesTheOther) {
  struct Kinds {
    bool w0, a0, w1, a1;
  };
  const Kinds kinds[] = {{true, false, false, false}, {true, false, true, false}, {true, true, false, false},
                         {false, true, true, false},  {true, true, true, false}};
  for (const Kinds &k : kinds) {
    constexpr int Rounds = 30000;
    std::vector<SharedCell> cells(Rounds);
    std::vector<uint8_t> saw[2] = {std::vector<uint8_t>(Rounds), std::vector<uint8_t>(Rounds)};
    std::atomic<int> round[2] = {-1, -1};
    auto wave = [&](uint32_t w) {
      for (int i = 0; i < Rounds; ++i) {
        round[w].store(i);
        for (int spins = 0; round[1 - w].load() < i; ++spins) // start together
          if (spins > 1000)
            std::this_thread::yield();
        AtomicPlatform p{&cells[i]};
        checkGranule(p, 0, Accessor{w, 0, w, 1, 0, w ? k.w1 : k.w0, w ? k.a1 : k.a0});
        saw[w][i] = p.Saw;
      }
    };
    std::thread other(wave, 1);
    wave(0);
    other.join();
    int both = 0;
    for (int i = 0; i < Rounds; ++i) {
      ASSERT_TRUE(saw[0][i] || saw[1][i]) << "round " << i;
      both += saw[0][i] && saw[1][i];
    }
    std::printf("both sides saw it in %d of %d rounds\n", both, Rounds);
  }
}

} // namespace wavesan
