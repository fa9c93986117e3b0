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
} // namespace

TEST(OrderDelays, SidesAndPreference) {
  const abi::Delays delays = delaysFor(1, true, kOne, kOther);
  EXPECT_EQ(delays.first.site, 5u);
  EXPECT_EQ(delays.first.wave, 4u);
  EXPECT_EQ(delays.second.site, 6u);
  EXPECT_EQ(delays.second.wave, 10u);
  for (uint32_t d = 0; d < 3; ++d) {
    EXPECT_EQ(delays.first.workgroup[d], kOne.workgroup[d]);
    EXPECT_EQ(delays.second.workgroup[d], kOther.workgroup[d]);
  }
  EXPECT_EQ(delays.slowFirst, 0u);
  EXPECT_EQ(delaysFor(1, false, kOne, kOther).slowFirst, 1u);
}

TEST(OrderDelays, WhatTheDeviceWritesBeginsAsZero) {
  const abi::Delays delays = delaysFor(1, true, kOne, kOther);
  EXPECT_EQ(delays.passed | delays.settled | delays.holds | delays.held | delays.lagged, 0u);
}

// Both orders of a seed have the same times, other seeds others; who is late is later than one that settles, and a wave
// waits for several times that before it gives up.
TEST(OrderDelays, Times) {
  std::set<uint32_t> settles, seeds;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const abi::Delays delays = delaysFor(seed, true, kOne, kOther), swapped = delaysFor(seed, true, kOther, kOne);
    EXPECT_EQ(delays.settle, swapped.settle);
    EXPECT_EQ(delays.seed, swapped.seed);
    EXPECT_GT(delays.settle, 0u);
    EXPECT_GE(delays.lag, 2 * delays.settle);
    EXPECT_GE(delays.most, 8 * delays.lag);
    EXPECT_LE(delays.most, 1u << 16);
    settles.insert(delays.settle);
    seeds.insert(delays.seed);
  }
  EXPECT_GE(settles.size(), 4u);
  EXPECT_EQ(seeds.size(), 8u);
  EXPECT_NE(delaysFor(1, true, kOne, kOther).seed, delaysFor(uint64_t(1) << 32 | 2, true, kOne, kOther).seed);
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
