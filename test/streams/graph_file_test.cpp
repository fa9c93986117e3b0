// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace wavesan::streams {
namespace {

std::string regionOf(const std::string &name) {
  const std::string text = graphText({1, name}, {}, {}, true, true);
  return nlohmann::json::parse(text)["region"]; // refuses what is not UTF-8
}

} // namespace

TEST(GraphFile, ARegionWithoutANameIsOne) {
  EXPECT_EQ(regionOf(""), "");
  EXPECT_FALSE(nlohmann::json::parse(graphText({1, std::nullopt}, {}, {}, true, true)).contains("region"));
}

TEST(GraphFile, NamesOfAnyBytesMakeValidJson) {
  for (const std::string &name : {"plain", "a\nb", "tab\t, bell\a, del\x7f", "\"quoted\" \\", "gr\xc3\xbc\xc3\x9f",
                                  "\xe2\x82\xac \xf0\x9f\x98\x80"})
    EXPECT_EQ(regionOf(name), name);
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(regionOf("a\xff"
                     "b"),
            "a" + bad + "b");
  EXPECT_EQ(regionOf("\xc3"), bad);                               // cut short
  EXPECT_EQ(regionOf("\xc0\x80"), bad + bad);                     // longer than need be
  EXPECT_EQ(regionOf("\xed\xa0\x80"), bad + bad + bad);           // a surrogate
  EXPECT_EQ(regionOf("\xf4\x90\x80\x80"), bad + bad + bad + bad); // beyond the last character
}

} // namespace wavesan::streams
