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

} // namespace
} // namespace wavesan::cpu
