// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/abi/option_units.h"
#include "wavesan/abi/options.h"

#include <gtest/gtest.h>

namespace wavesan::abi {
namespace {

using Lines = std::vector<std::string>;

/// Of options that must be fine.
Options parsed(std::string_view text) {
  Options options;
  OptionErrors errors;
  parseOptions(options, text, errors);
  EXPECT_TRUE(errors.empty()) << text;
  return options;
}

OptionErrors errorsOf(std::string_view text) {
  Options options;
  OptionErrors errors;
  parseOptions(options, text, errors);
  return errors;
}

TEST(Options, ValuesAreRead) {
  const Options o =
      parsed("seed=7:hooks=device color=never,gpu=gfx1030:exitcode=0x2a:log_path='a:b,c':help:summary=no");
  EXPECT_EQ(o.seed, 7u);
  EXPECT_EQ(o.hooks, "device");
  EXPECT_EQ(o.color, "never");
  EXPECT_EQ(o.gpu, "gfx1030");
  EXPECT_EQ(o.exitcode, 42);
  EXPECT_EQ(o.log_path, "a:b,c");
  EXPECT_TRUE(o.help);
  EXPECT_FALSE(o.summary);
  EXPECT_EQ(parsed("seed=18446744073709551615").seed, UINT64_MAX);
}

TEST(Options, EveryDefaultIsAValueThatFits) {
  const Options defaults;
  for (const OptionInfo &o : kOptionInfos) {
    std::string text = o.defaultText; // strings with their quotes
    EXPECT_TRUE(errorsOf(std::string(o.name) + "=" + text).empty()) << o.name;
    if (o.values) {
      EXPECT_TRUE(detail::isChoice(o.values, text.substr(1, text.size() - 2))) << o.name;
    }
  }
  EXPECT_EQ(defaults.gpu, "auto");
}

TEST(Options, EveryChoiceRefusesOthers) {
  size_t choices = 0;
  for (const OptionInfo &o : kOptionInfos) {
    if (!o.values)
      continue;
    ++choices;
    for (const std::string value : {"nonsense", "", "1", "|"}) {
      const OptionErrors errors = errorsOf(std::string(o.name) + "=" + value);
      EXPECT_EQ(errors.names, Lines());
      EXPECT_EQ(errors.values, Lines{std::string("option ") + o.name + ": '" + value + "' is none of " +
                                     detail::listOfChoices(o.values)});
    }
    const std::string all = o.values;
    EXPECT_FALSE(errorsOf(std::string(o.name) + "='" + all + "'").empty());
    EXPECT_FALSE(errorsOf(std::string(o.name) + "='" + all.substr(0, all.find('|') + 1) + "'").empty());
    EXPECT_FALSE(errorsOf(o.name).empty()); // a bare name is true, which is none of them
  }
  EXPECT_EQ(choices, 8u); // early_exit, wave_order, wave_order_dependent, same_value, color, gpu, hooks, capsule_of
}

TEST(Options, NumbersAreWholeAndNotNegative) {
  size_t numbers = 0;
  for (const OptionInfo &o : kOptionInfos) {
    if (std::string_view(o.type).substr(0, 4) != "uint")
      continue;
    ++numbers;
    for (const char *value :
         {"-1", "+1", "1.5", "1e3", "", "x", "0x", "0x-1", "12x", "18446744073709551616", "99999999999999999999999"}) {
      const OptionErrors errors = errorsOf(std::string(o.name) + "='" + value + "'");
      ASSERT_EQ(errors.values.size(), 1u) << o.name << " " << value;
      EXPECT_EQ(errors.values[0].find(std::string("option ") + o.name + ": '" + value + "' is not a number from 0 to "),
                0u)
          << errors.values[0];
    }
  }
  EXPECT_EQ(numbers, 26u);
  EXPECT_EQ(errorsOf("exitcode=256").values, Lines{"option exitcode: '256' is not a number from 0 to 255"});
  EXPECT_EQ(errorsOf("verbosity=4294967296").values,
            Lines{"option verbosity: '4294967296' is not a number from 0 to 4294967295"});
}

TEST(Options, BadValuesChangeNothing) {
  Options options;
  OptionErrors errors;
  parseOptions(options, "seed=5:seed=-1:hooks=device:hooks=x:summary=0:summary=maybe", errors);
  EXPECT_EQ(options.seed, 5u);
  EXPECT_EQ(options.hooks, "device");
  EXPECT_FALSE(options.summary);
  EXPECT_EQ(errors.values.size(), 3u);
  EXPECT_EQ(errors.values[2], "option summary: 'maybe' is not 0 or 1 (false, true, no, yes, off, on)");
}

TEST(OptionUnits, NothingWrapsAround) {
  constexpr uint64_t kMost = ~uint64_t(0);
  EXPECT_EQ(bytesOfMebibytes(3), uint64_t(3) << 20);
  EXPECT_EQ(bytesOfMebibytes(kMost >> 20), (kMost >> 20) << 20);
  for (uint64_t mebibytes : {(kMost >> 20) + 1, kMost})
    EXPECT_EQ(bytesOfMebibytes(mebibytes), kMost);
  EXPECT_EQ(secondsOf(60), std::chrono::seconds(60));
  for (uint64_t seconds : {uint64_t(10'000'000'000), uint64_t(1) << 63, kMost}) {
    const auto until = std::chrono::steady_clock::now() + secondsOf(seconds);
    EXPECT_GT(until, std::chrono::steady_clock::now() + std::chrono::hours(24 * 365 * 50));
    EXPECT_GT(std::chrono::milliseconds(secondsOf(seconds)).count(), 0);
  }
}

TEST(Options, UnknownNames) {
  EXPECT_EQ(errorsOf("sed=3").names, Lines{"unknown option 'sed'; did you mean 'seed'?"});
  EXPECT_EQ(errorsOf("frobnicate=1").names, Lines{"unknown option 'frobnicate'"});
  EXPECT_EQ(errorsOf("a\nb=1").names.size(), 2u);
  EXPECT_EQ(errorsOf("=5").names, Lines{"unknown option ''"});
}

TEST(Options, LinesShowValues) {
  const Lines lines = optionLines(parsed("max_races=7:hooks=device"));
  ASSERT_EQ(lines.size(), 1 + std::size(kOptionInfos));
  size_t found = 0;
  for (const std::string &line : lines)
    found += line.starts_with("  max_races=7  (uint64) ") + line.starts_with("  hooks=device  (string) ") +
             line.starts_with("  summary=true  (bool) ");
  EXPECT_EQ(found, 3u);
}

} // namespace
} // namespace wavesan::abi
