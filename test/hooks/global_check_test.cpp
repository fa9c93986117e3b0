// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses of whole waves to global memory against a model that knows bytes only: lanes that continue one another are
// recorded together, 16 at a time where they are many, and what is reported must still be the right bytes and lanes.
#include "global_check.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace wavesan::cpu {
namespace {

struct Access {
  LaneMask exec;
  uint64_t address[64], length[64];
  uint32_t size; ///< 0: a length for each lane
  bool write;
};

Access randomAccess(std::mt19937_64 &random, uint64_t base) {
  const auto below = [&](uint64_t n) { return uint32_t(random() % n); };
  Access a{};
  a.exec = below(2) ? ~LaneMask(0) : below(2) ? ~LaneMask(0) << below(50) >> below(20) : random();
  a.size = below(6) ? 1u << below(5) : 0;
  a.write = below(3) == 0;
  const uint32_t each = a.size ? a.size : below(20), start = below(700), period = below(2) ? 64 : 1u << below(7),
                 stride = below(3) ? each : below(40), odd = below(2) ? below(64) : 64;
  for (uint32_t l = 0; l < 64; ++l) {
    a.length[l] = a.size ? a.size : below(8) ? each : below(300);
    a.address[l] = base + start + l % period * stride + (l >= odd ? below(2) * 8 : 0);
    if (!(a.exec >> l & 1))
      a.address[l] = base + l * each; // garbage that looks like the others
  }
  return a;
}

TEST(GlobalCheckTest, WaveAccessesAgainstBytes) {
  uint64_t racy = 0, clean = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937_64 random(seed);
    MemoryBudget budget;
    DispatchCheck check(budget);
    std::vector<WaveOrder> waves(4);
    for (uint32_t w = 0; w < waves.size(); ++w)
      waves[w].id = {w / 2, w % 2};
    struct Past {
      std::set<uint32_t> readers, writers;
    };
    std::map<uint64_t, Past> bytes;
    for (uint32_t step = 0; step < 5; ++step) {
      const uint32_t w = uint32_t(random() % waves.size());
      const Access a = randomAccess(random, 0x7f0000001000 + random() % 2 * 8192);
      std::set<uint64_t> expected;
      for (uint32_t l = 0; l < 64; ++l)
        for (uint64_t b = a.address[l]; (a.exec >> l & 1) && b < a.address[l] + a.length[l]; ++b) {
          Past &p = bytes[b];
          const auto others = [&](const std::set<uint32_t> &s) { return s.size() > s.count(w); };
          if (others(p.writers) || (a.write && others(p.readers)))
            expected.insert(b);
        }
      for (uint32_t l = 0; l < 64; ++l)
        for (uint64_t b = a.address[l]; (a.exec >> l & 1) && b < a.address[l] + a.length[l]; ++b)
          (a.write ? bytes[b].writers : bytes[b].readers).insert(w);
      bool any = false;
      const uint32_t info = abi::accessInfo(a.write ? abi::kAccessWrite : abi::kAccessRead, a.size);
      check.access(
          waves[w], a.exec, a.address, [&](unsigned l) { return a.length[l]; }, a.size, info, step, 0,
          [&](const GlobalConflict &c) {
            any = true;
            for (uint64_t b = c.address; b < c.address + c.size; ++b)
              ASSERT_TRUE(expected.count(b)) << "seed " << seed << " step " << step;
            if (c.lane != abi::kUnknownLane) {
              ASSERT_TRUE(a.exec >> c.lane & 1) << "seed " << seed << " step " << step;
              ASSERT_LT(c.address - a.address[c.lane], a.length[c.lane]) << "seed " << seed << " step " << step;
            }
          });
      ASSERT_EQ(any, !expected.empty()) << "seed " << seed << " step " << step;
      if (HasFatalFailure())
        return;
      (any ? racy : clean) += 1;
    }
    abi::DispatchCounters losses{};
    check.takeLosses(losses);
    ASSERT_EQ(losses.historyOverflow, 0u);
  }
  EXPECT_GT(racy, 1000u);
  EXPECT_GT(clean, 1000u);
}

/// One instruction of wave 0 adds to counters of `size` bytes, lane by lane; the wave of another workgroup then
/// acquires some of them and stores `bytes` bytes at `offset` without an atomic.
uint64_t conflictsBehindCounters(uint32_t size, unsigned lanes, std::vector<unsigned> acquired, uint32_t offset,
                                 uint32_t bytes, uint32_t stride) {
  MemoryBudget budget;
  DispatchCheck check(budget);
  std::vector<WaveOrder> waves(2);
  waves[0].id = {0, 0};
  waves[1].id = {1, 0};
  uint64_t address[64] = {};
  uint64_t conflicts = 0;
  const auto count = [&](const GlobalConflict &) { ++conflicts; };
  const uint32_t info =
      abi::atomicInfo(abi::kAccessRead | abi::kAccessWrite | abi::kAccessAtomic, size, abi::Scope::Agent, true, true);
  const auto atomic = [&](WaveOrder &wave, LaneMask exec, uint32_t site) {
    wave.complete(true, true);
    check.access(
        wave, exec, address, [&](unsigned) { return uint64_t(size); }, size, info, site, 0, count);
    check.atomicDone(wave, exec, address, info, true, exec);
  };
  constexpr uint64_t kBase = 0x7f0000001000;
  for (unsigned l = 0; l < lanes; ++l)
    address[l] = kBase + l * stride;
  atomic(waves[0], (LaneMask(1) << lanes) - 1, 1);
  for (unsigned l : acquired) {
    address[0] = kBase + l * stride;
    atomic(waves[1], 1, 2);
  }
  EXPECT_EQ(conflicts, 0u);
  address[0] = kBase + offset;
  check.access(
      waves[1], 1, address, [&](unsigned) { return uint64_t(bytes); }, bytes, abi::accessInfo(abi::kAccessWrite, bytes),
      3, 0, count);
  return conflicts;
}

// The last block may reset its ticket; a store that reaches a counter next to it races with that one's atomics.
TEST(GlobalCheckTest, APlainStoreBehindAtomicsOnEachOfItsLocations) {
  for (const uint32_t size : {4u, 8u})
    for (const uint32_t stride : {size, 2 * size}) {
      SCOPED_TRACE(size);
      EXPECT_EQ(conflictsBehindCounters(size, 1, {0}, 0, size, stride), 0u);
      EXPECT_EQ(conflictsBehindCounters(size, 1, {0}, 2, 2, stride), 0u); // a part of it
      EXPECT_EQ(conflictsBehindCounters(size, 2, {0}, 0, size, stride), 0u);
      EXPECT_EQ(conflictsBehindCounters(size, 2, {0}, stride, size, stride), 1u);
      EXPECT_EQ(conflictsBehindCounters(size, 2, {1}, 0, size, stride), 1u);
      if (stride == size) {
        EXPECT_EQ(conflictsBehindCounters(size, 2, {0}, 0, 2 * size, stride), 1u);
        EXPECT_EQ(conflictsBehindCounters(size, 2, {0, 1}, 0, 2 * size, stride), 0u);
      }
    }
}

} // namespace
} // namespace wavesan::cpu
