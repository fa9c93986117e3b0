// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of `wavesan record`.
#include "record_line.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace wavesan::driver {

TEST(RecordLine, WhatIsRecordedAndWhere) {
  const RunLine line =
      readRecordLine({"--region=a step", "-o", "/tmp/x", "--gpu=gfx90a", "--", "./app", "--region=no"});
  ASSERT_FALSE(line.done);
  EXPECT_TRUE(line.request.record);
  EXPECT_EQ(line.request.options, "incomplete_exitcode=0:record=/tmp/x:record_region='a step':gpu=gfx90a");
  EXPECT_EQ(line.request.command, (std::vector<std::string>{"./app", "--region=no"}));
}

TEST(RecordLine, DefaultsAndLaterOptionsWin) {
  const RunLine line = readRecordLine({"--options=incomplete_exitcode=5:record_max=2", "./app"});
  ASSERT_FALSE(line.done);
  EXPECT_EQ(line.request.options,
            "incomplete_exitcode=0:record=" + (std::filesystem::current_path() / "wavesan-graph").string() +
                ":record_region=first:incomplete_exitcode=5:record_max=2");
}

TEST(RecordLine, Mistakes) {
  for (const std::vector<std::string> &words : std::vector<std::vector<std::string>>{{},
                                                                                     {"--region=x"},
                                                                                     {"--region=", "./app"},
                                                                                     {"-o", "/tmp/", "./app"},
                                                                                     {"-o", "/no/such/x", "./app"},
                                                                                     {"--region=a'\"b", "./app"},
                                                                                     {"--device=tpu", "./app"},
                                                                                     {"--no-such-flag", "./app"}}) {
    const RunLine line = readRecordLine(words);
    EXPECT_TRUE(line.done);
    EXPECT_EQ(line.status, 2);
  }
}

} // namespace wavesan::driver
