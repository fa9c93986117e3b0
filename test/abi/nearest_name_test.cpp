// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/abi/nearest_name.h"

#include <gtest/gtest.h>

namespace wavesan::abi {
namespace {

TEST(NearestName, DistanceCountsEdits) {
  EXPECT_EQ(editDistance("", ""), 0u);
  EXPECT_EQ(editDistance("abc", ""), 3u);
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("seed", "seed"), 0u);
  EXPECT_EQ(editDistance("sed", "seed"), 1u);
  EXPECT_EQ(editDistance("seeds", "seed"), 1u);
  EXPECT_EQ(editDistance("sead", "seed"), 1u);
  EXPECT_EQ(editDistance("hepl", "help"), 1u); // neighbours swapped
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(editDistance("abcd", "dcba"), 3u); // the middle is one swap
}

TEST(NearestName, OnlyWhatIsPlausible) {
  const std::vector<std::string> known = {"seed", "exitcode", "incomplete_exitcode", "gpu", "help"};
  EXPECT_EQ(nearestName("sed", known), "seed");
  EXPECT_EQ(nearestName("exitcod", known), "exitcode");
  EXPECT_EQ(nearestName("hlep", known), "help");
  EXPECT_EQ(nearestName("incomplet_exit_code", known), "incomplete_exitcode");
  for (const char *far : {"", "x", "sd", "frobnicate", "exit", "seed_of_it", "0"})
    EXPECT_EQ(nearestName(far, known), "") << far;
  EXPECT_EQ(nearestName(std::string(100000, 'e'), known), "");
  EXPECT_EQ(nearestName("seed", {}), "");
}

TEST(NearestName, DashesAreNoLetters) {
  const std::vector<std::string> known = {"--help", "-h", "--device", "-o", "--preload"};
  EXPECT_EQ(nearestName("--devize", known), "--device");
  EXPECT_EQ(nearestName("-devise", known), "--device");
  EXPECT_EQ(nearestName("-q", known), ""); // two dashes alike are no resemblance
  EXPECT_EQ(nearestName("--up", known), "");
}

TEST(NearestName, EndOfAMessage) {
  EXPECT_EQ(didYouMean("sed", {"seed"}), "; did you mean 'seed'?");
  EXPECT_EQ(didYouMean("frobnicate", {"seed"}), "");
}

} // namespace
} // namespace wavesan::abi
