// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "host_aliases.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace wavesan::hip {
namespace {

using Pieces = std::vector<std::pair<uint64_t, uint64_t>>;

Pieces pieces(const HostAliases &aliases, uint64_t begin, uint64_t end) {
  Pieces all;
  aliases.forEach(begin, end, [&](uint64_t b, uint64_t e) { all.push_back({b, e}); });
  return all;
}

} // namespace

TEST(HostAliases, RangesAreCutWhereBlocksBeginAndEnd) {
  HostAliases aliases;
  aliases.add(1000, 100, 50);
  aliases.add(5000, 200, 10);
  EXPECT_EQ(pieces(aliases, 0, 100), (Pieces{{0, 100}}));
  EXPECT_EQ(pieces(aliases, 110, 120), (Pieces{{1010, 1020}}));
  EXPECT_EQ(pieces(aliases, 90, 220), (Pieces{{90, 100}, {1000, 1050}, {150, 200}, {5000, 5010}, {210, 220}}));
  EXPECT_EQ(pieces(aliases, 150, 150), Pieces{});
  EXPECT_EQ(aliases.hostAddress(149), 1049u);
  EXPECT_EQ(aliases.hostAddress(150), 150u);
}

TEST(HostAliases, TheOldestRegistrationOfAnAddressEndsFirst) {
  HostAliases aliases;
  aliases.add(1000, 700, 10);
  aliases.add(1000, 300, 20); // registered again, before HIP has given up the first one
  aliases.remove(1000);
  EXPECT_EQ(aliases.hostAddress(700), 700u);
  EXPECT_EQ(aliases.hostAddress(300), 1000u);
  aliases.remove(1000);
  aliases.remove(1000);
  EXPECT_TRUE(aliases.empty());
}

TEST(HostAliases, OneDeviceAddressLastsAsLongAsItsLastRegistration) {
  HostAliases aliases;
  aliases.add(1000, 700, 10);
  aliases.add(1000, 700, 10);
  aliases.remove(1000);
  EXPECT_EQ(aliases.hostAddress(705), 1005u);
  aliases.remove(1000);
  EXPECT_TRUE(aliases.empty());
}

TEST(HostAliases, WhatTheDeviceSeesAnewReplacesWhatItSawThere) {
  HostAliases aliases;
  aliases.add(1000, 100, 50);
  aliases.add(1000, 1000, 50); // the same address: nothing to translate
  aliases.add(3000, 120, 100);
  EXPECT_EQ(aliases.hostAddress(100), 100u);
  EXPECT_EQ(aliases.hostAddress(120), 3000u);
  EXPECT_EQ(aliases.hostAddress(1000), 1000u);
}

TEST(HostAliases, PiecesAgreeWithTranslatingEachByte) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    HostAliases aliases;
    for (int i = 0; i < 6; ++i)
      aliases.add(1000 + 100 * random() % 1000, random() % 200, random() % 40);
    const uint64_t begin = random() % 200, end = begin + random() % 100;
    std::vector<uint64_t> bytes, expected;
    for (const auto &[b, e] : pieces(aliases, begin, end))
      for (uint64_t a = b; a < e; ++a)
        bytes.push_back(a);
    for (uint64_t a = begin; a < end; ++a)
      expected.push_back(aliases.hostAddress(a));
    ASSERT_EQ(bytes, expected) << "round " << round;
  }
}

} // namespace wavesan::hip
