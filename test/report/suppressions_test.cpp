// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sample_races.h"
#include "temporary_file.h"

#include "wavesan/report/suppressions.h"

#include <gtest/gtest.h>

using namespace wavesan::report;
using namespace wavesan::test;

namespace {

/// The suppression of a one-line file that matches, or "".
std::string matchOf(const std::string &pattern, const Race &r) {
  std::vector<std::string> errors;
  Suppressions s = Suppressions::parse("race:" + pattern, "s", errors);
  EXPECT_TRUE(errors.empty());
  const std::string *found = s.match(r);
  return found ? *found : "";
}

} // namespace

TEST(Pattern, OccursAnywhereUnlessTied) {
  EXPECT_TRUE(matchesPattern("duc", "reduce"));
  EXPECT_TRUE(matchesPattern("^red", "reduce"));
  EXPECT_FALSE(matchesPattern("^duce", "reduce"));
  EXPECT_TRUE(matchesPattern("duce$", "reduce"));
  EXPECT_FALSE(matchesPattern("redu$", "reduce"));
  EXPECT_TRUE(matchesPattern("^reduce$", "reduce"));
  EXPECT_FALSE(matchesPattern("^reduce$", "reduce2"));
  EXPECT_FALSE(matchesPattern("^reduce$", "reduc"));
  EXPECT_FALSE(matchesPattern("x", ""));
  EXPECT_FALSE(matchesPattern("*", "")); // no name, nothing to match
}

TEST(Pattern, StarsStandForAnything) {
  EXPECT_TRUE(matchesPattern("r*e", "reduce"));
  EXPECT_TRUE(matchesPattern("^r*d*e$", "reduce"));
  EXPECT_TRUE(matchesPattern("*", "reduce"));
  EXPECT_TRUE(matchesPattern("re**uce", "reduce"));
  EXPECT_FALSE(matchesPattern("e*r", "reduce"));
  EXPECT_TRUE(matchesPattern("^a*a$", "aa"));
  EXPECT_FALSE(matchesPattern("^a*a$", "a")); // the ends may not share a character
  EXPECT_TRUE(matchesPattern("a*b$", "axbxb"));
  EXPECT_TRUE(matchesPattern("^*duce", "reduce"));
  EXPECT_TRUE(matchesPattern("red*$", "reduce"));
}

TEST(Suppressions, MatchFunctionFileOrVariableOfEitherSideAndTheKernel) {
  Race r = race(Order::ReadAfterWrite, access(R, 0, 0, {at(5, 1, "get", "inc/tile.h"), at(9, 1, "body", "app.hip")}),
                access(W, 1, 0, {at(7, 1, "put", "inc/store.h")}));
  for (const char *pattern : {"get", "^body$", "tile.h", "put", "store.h", "tile", "k(int", "inc/*.h"})
    EXPECT_EQ(matchOf(pattern, r), "race:" + std::string(pattern) + " (s:1)");
  EXPECT_EQ(matchOf("gets", r), "");
  EXPECT_EQ(matchOf("^tile.h", r), "");
  Race global = globalRace(Order::ReadAfterWrite, access(R, 0, 0, {}), access(W, 1, 0, {}));
  global.variable.clear();
  global.place.name = "counter";
  global.raceClass = wavesan::abi::RaceClass::ScopeTooSmall;
  EXPECT_EQ(matchOf("count*", global), "race:count* (s:1)");
}

TEST(Suppressions, TheFirstOneThatMatchesIsNamed) {
  std::vector<std::string> errors;
  Suppressions s = Suppressions::parse("# known\n\n  race:other\r\nrace: tile \nrace:k\n", "dir/known.txt", errors);
  EXPECT_TRUE(errors.empty());
  Race r = race(Order::ReadAfterWrite, access(R, 0, 0, {}), access(W, 1, 0, {}));
  ASSERT_NE(s.match(r), nullptr);
  EXPECT_EQ(*s.match(r), "race:tile (dir/known.txt:4)");
  EXPECT_EQ(Suppressions().match(r), nullptr);
}

TEST(Suppressions, BadLinesAreOneErrorEachAndTheRestCounts) {
  std::vector<std::string> errors;
  Suppressions s = Suppressions::parse("frobnicate:x\nnonsense\nrace:\nrace:^$\nrace:tile", "s.txt", errors);
  EXPECT_EQ(
      errors,
      (std::vector<std::string>{
          "suppressions: s.txt:1: unknown type 'frobnicate' (known: race, race_top, called_from, called_from_lib)",
          "suppressions: s.txt:2: not of the form TYPE:PATTERN: 'nonsense'",
          "suppressions: s.txt:3: the pattern is empty",
          "suppressions: s.txt:4: the pattern is empty",
      }));
  EXPECT_NE(s.match(race(Order::ReadAfterWrite, access(R, 0, 0, {}), access(W, 1, 0, {}))), nullptr);
}

TEST(Suppressions, TypesLookAtDifferentNames) {
  const Race r = race(Order::ReadAfterWrite, access(R, 0, 0, {at(5, 1, "load", "tile.h"), at(20, 3, "k", "app.hip")}),
                      access(W, 1, 0, {at(8, 1, "store", "store.h"), at(21, 3, "k", "app.hip")}));
  auto matched = [&](const std::string &line) {
    std::vector<std::string> errors;
    const Suppressions s = Suppressions::parse(line, "s", errors);
    EXPECT_TRUE(errors.empty()) << errors[0];
    return s.match(r) != nullptr;
  };
  for (const char *pattern : {"load", "store.h", "k$", "app.hip", "tile"})
    EXPECT_TRUE(matched(std::string("race:") + pattern)) << pattern;
  EXPECT_TRUE(matched("race_top:load"));
  EXPECT_TRUE(matched("race_top:store.h"));
  EXPECT_FALSE(matched("race_top:app.hip"));
  EXPECT_FALSE(matched("race_top:^tile$")); // a variable
  EXPECT_TRUE(matched("called_from:^k$"));
  EXPECT_TRUE(matched("called_from:app.hip"));
  EXPECT_FALSE(matched("called_from:load"));
  EXPECT_TRUE(matched("called_from_lib:app.hip"));
  EXPECT_FALSE(matched("called_from_lib:^k$"));
  EXPECT_FALSE(matched("called_from_lib:tile.h"));
  for (const char *foreign : {"thread:load", "mutex:load", "signal:load", "deadlock:load"})
    EXPECT_FALSE(matched(foreign)) << foreign;
}

TEST(Suppressions, UnusedOnesAreKnown) {
  std::vector<std::string> errors;
  const Suppressions s = Suppressions::parse("race:other\nrace:tile\n", "s", errors);
  EXPECT_EQ(s.unused().size(), 2u);
  s.match(race(Order::ReadAfterWrite, access(R, 0, 0, {}), access(W, 1, 0, {})));
  EXPECT_EQ(s.unused(), std::vector<std::string>{"race:other (s:1)"});
}

TEST(Suppressions, ErrorLinesAreShortAndPrintable) {
  std::vector<std::string> errors;
  Suppressions::parse(std::string(5000, 'x') + "\n\x1b[31m:y\n", "s", errors);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_LT(errors[0].size(), 200u);
  EXPECT_EQ(errors[1].find('\x1b'), std::string::npos);
}

TEST(Suppressions, Files) {
  std::vector<std::string> errors;
  TemporaryFile good("race:tile\n"), empty("");
  Race r = race(Order::ReadAfterWrite, access(R, 0, 0, {}), access(W, 1, 0, {}));
  EXPECT_NE(Suppressions::read(good.path(), errors).match(r), nullptr);
  EXPECT_EQ(Suppressions::read(empty.path(), errors).match(r), nullptr);
  EXPECT_TRUE(errors.empty()) << errors[0];
  Suppressions::read(good.path() + ".missing", errors);
  Suppressions::read("/", errors);
  EXPECT_EQ(errors, (std::vector<std::string>{
                        "suppressions: cannot read '" + good.path() + ".missing': No such file or directory",
                        "suppressions: cannot read '/': Is a directory",
                    }));
}
