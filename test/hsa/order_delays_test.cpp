// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "order_delays.h"

#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace wavesan::hsa {

namespace {
constexpr abi::Schedule::Side kOne{5, {1, 2, 3}, 4}, kOther{6, {7, 8, 9}, 10};

abi::Delays delays(uint64_t seed, bool preferFirst, const abi::Schedule::Side &first,
                   const abi::Schedule::Side &second) {
  abi::Schedule schedule{};
  schedule.seed = seed;
  schedule.preferFirst = preferFirst;
  schedule.first = first;
  schedule.second = second;
  return delaysFor(schedule);
}
} // namespace

TEST(OrderDelays, SidesAndPreference) {
  const abi::Delays made = delays(1, true, kOne, kOther);
  EXPECT_EQ(made.first.site, 5u);
  EXPECT_EQ(made.first.wave, 4u);
  EXPECT_EQ(made.second.site, 6u);
  EXPECT_EQ(made.second.wave, 10u);
  for (uint32_t d = 0; d < 3; ++d) {
    EXPECT_EQ(made.first.workgroup[d], kOne.workgroup[d]);
    EXPECT_EQ(made.second.workgroup[d], kOther.workgroup[d]);
  }
  EXPECT_EQ(made.slowFirst, 0u);
  EXPECT_EQ(delays(1, false, kOne, kOther).slowFirst, 1u);
}

TEST(OrderDelays, WhatTheDeviceWritesBeginsAsZero) {
  const abi::Delays made = delays(1, true, kOne, kOther);
  EXPECT_EQ(made.passed | made.settled | made.holds | made.held | made.lagged, 0u);
}

TEST(OrderDelays, Bytes) {
  abi::Schedule schedule{};
  schedule.lds = true;
  schedule.begin = 0x123456789abcdef0;
  schedule.bytes = 12;
  const abi::Delays made = delaysFor(schedule);
  EXPECT_EQ(made.lds, 1u);
  EXPECT_EQ(made.bytes, 12u);
  EXPECT_EQ(made.beginLow, 0x9abcdef0u);
  EXPECT_EQ(made.beginHigh, 0x12345678u);
  schedule.bytes = uint64_t(1) << 32;
  EXPECT_EQ(delaysFor(schedule).bytes, ~0u);
}

// Both orders of a seed have the same times, other seeds others; who is late is later than one that settles, and a wave
// waits for several times that before it gives up.
TEST(OrderDelays, Times) {
  std::set<uint32_t> settles, seeds;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const abi::Delays made = delays(seed, true, kOne, kOther), swapped = delays(seed, true, kOther, kOne);
    EXPECT_EQ(made.settle, swapped.settle);
    EXPECT_EQ(made.seed, swapped.seed);
    EXPECT_GT(made.settle, 0u);
    EXPECT_GE(made.lag, 2 * made.settle);
    EXPECT_GE(made.most, 8 * made.lag);
    EXPECT_LE(made.most, 1u << 16);
    settles.insert(made.settle);
    seeds.insert(made.seed);
  }
  EXPECT_GE(settles.size(), 4u);
  EXPECT_EQ(seeds.size(), 8u);
  EXPECT_NE(delays(1, true, kOne, kOther).seed, delays(uint64_t(1) << 32 | 2, true, kOne, kOther).seed);
}

// A copy has a site for what it reads and one for what it writes, whose checks come one behind the other.
TEST(OrderDelays, SitesOfOneInstruction) {
  abi::SiteTableBuilder t;
  const abi::StringRef32 file = t.intern("app.hip"), k = t.intern("k()"), none = t.intern("");
  t.frames.push_back({k, file, 5, 1, abi::kNoFrame});
  t.frames.push_back({k, file, 6, 1, abi::kNoFrame});
  const auto site = [&](abi::SiteKind kind, uint32_t bits, uint32_t frame, const char *opcode) {
    t.sites.push_back({uint32_t(kind), abi::accessInfo(bits, kind == abi::SiteKind::Range ? 0 : 4), frame, none,
                       t.intern(opcode), none});
  };
  constexpr uint32_t R = abi::kAccessRead, W = abi::kAccessWrite;
  site(abi::SiteKind::Range, R, 0, "memcpy");
  site(abi::SiteKind::Range, W, 0, "memcpy");
  site(abi::SiteKind::Range, R, 1, "memcpy");
  site(abi::SiteKind::Range, W, 0, "memcpy");
  site(abi::SiteKind::Access, R, 0, "load");
  site(abi::SiteKind::Access, W, 0, "store");
  site(abi::SiteKind::Range, R, 1, "memcpy");
  const std::string bytes = t.finish();
  std::string error;
  const std::optional<abi::SiteTableView> sites = abi::parseSiteTable(bytes, error);
  ASSERT_TRUE(sites) << error;
  std::vector<uint32_t> last;
  for (uint32_t i = 0; i < sites->siteCount(); ++i)
    last.push_back(lastSiteOf(*sites, i));
  EXPECT_EQ(last, (std::vector<uint32_t>{1, 1, 2, 3, 4, 5, 6}));
}

} // namespace wavesan::hsa
