// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/name_filter.h"

#include <gtest/gtest.h>

using namespace wavesan::report;

TEST(Glob, MatchesTheWholeName) {
  EXPECT_TRUE(matchesGlob("abc", "abc"));
  EXPECT_FALSE(matchesGlob("ab", "abc"));
  EXPECT_FALSE(matchesGlob("abcd", "abc"));
  EXPECT_TRUE(matchesGlob("a*c", "abbc"));
  EXPECT_TRUE(matchesGlob("a*b*c*", "axbxc"));
  EXPECT_FALSE(matchesGlob("a*b*c", "axcxb"));
  EXPECT_TRUE(matchesGlob("a?c", "abc"));
  EXPECT_FALSE(matchesGlob("a?c", "ac"));
  EXPECT_TRUE(matchesGlob("*", ""));
  EXPECT_FALSE(matchesGlob("", "a"));
  EXPECT_TRUE(matchesGlob("", ""));
  EXPECT_FALSE(matchesGlob(std::string(200, '*') + "b", std::string(20000, 'a'))); // in time
}

TEST(Glob, Kernels) {
  const std::string display = "void app::scale<float, 4>(float*, int)", linkage = "_ZN3app5scaleIfLi4EEEvPT_i";
  for (const char *glob :
       {"scale", "app::scale", "sc*", "*::scale", "_ZN3app*", "void app::scale<float*", "*<float, 4>*"})
    EXPECT_TRUE(matchesKernel(glob, display, linkage)) << glob;
  for (const char *glob : {"app", "cale", "scale2", "float", "void"})
    EXPECT_FALSE(matchesKernel(glob, display, linkage)) << glob;
  EXPECT_TRUE(matchesKernel("mirror", "mirror(int const*, int*)", "_Z6mirrorPKiPi"));
  EXPECT_TRUE(matchesKernel("k", "(anonymous namespace)::k(int*)", "_ZN12_GLOBAL__N_11kEPi"));
  EXPECT_TRUE(matchesKernel("plain_c", "plain_c", "plain_c"));
  EXPECT_TRUE(matchesKernel("operator*", "operator<", "x"));
}

TEST(Glob, Files) {
  EXPECT_TRUE(matchesFile("/a/b/tile.h", "/a/b/tile.h"));
  EXPECT_TRUE(matchesFile("tile.h", "/a/b/tile.h"));
  EXPECT_TRUE(matchesFile("b/*.h", "/a/b/tile.h"));
  EXPECT_FALSE(matchesFile("ile.h", "/a/b/tile.h"));
  EXPECT_FALSE(matchesFile("a/b", "/a/b/tile.h"));
  EXPECT_FALSE(matchesFile("*", ""));
}

TEST(KernelFilter, IncludesAndExcludes) {
  const KernelFilter all(""), some("a*; b*"), but("!a*"), both("a*;!ab*;");
  auto accepts = [](const KernelFilter &f, const char *name) { return f.accepts(name, name); };
  EXPECT_TRUE(all.empty());
  EXPECT_TRUE(accepts(all, "x"));
  EXPECT_TRUE(accepts(some, "ax"));
  EXPECT_TRUE(accepts(some, "bx"));
  EXPECT_FALSE(accepts(some, "x"));
  EXPECT_FALSE(accepts(but, "ax"));
  EXPECT_TRUE(accepts(but, "x"));
  EXPECT_TRUE(accepts(both, "ax"));
  EXPECT_FALSE(accepts(both, "abx"));
  EXPECT_FALSE(accepts(both, "x"));
  EXPECT_EQ(both.size(), 2u);
  EXPECT_EQ(both.text(1), "!ab*");
  EXPECT_EQ(both.matching("abx", "abx"), (std::vector<size_t>{0, 1}));
}
