// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/text_sink.h"

#include <gtest/gtest.h>

using namespace wavesan::report;

namespace {
Summary checkedSomething() {
  Summary s;
  s.checkedAccesses = 1200;
  s.kernels = 2;
  s.dispatches = s.checkedDispatches = 5;
  return s;
}
} // namespace

TEST(SummaryText, CleanRunIsOneLine) {
  EXPECT_EQ(summaryText(checkedSomething(), {}), "wavesan: checked 1200 accesses in 2 kernels: 0 races\n");
  TextOptions quiet;
  quiet.summary = false;
  EXPECT_EQ(summaryText(checkedSomething(), quiet), "");
}

TEST(SummaryText, NothingCheckedSaysWhy) {
  Summary s;
  EXPECT_EQ(summaryText(s, {}), "wavesan: nothing was checked: the program ran no kernel\n"
                                "wavesan: checked 0 accesses in 0 kernels: 0 races\n");
  s.dispatches = 3;
  s.noTwin["vadd(float*)"] = 3;
  EXPECT_EQ(summaryText(s, {}),
            "wavesan: not checked: kernel vadd(float*), 3 dispatches: not built with WaveSan\n"
            "wavesan: nothing was checked: no kernel that ran was built with WaveSan (build with `wavesan cc`)\n"
            "wavesan: checked 0 accesses in 0 kernels: 0 races\n");
  s.noTwin.clear();
  s.unchecked[{"big(int*)", "uses 65500 of 65536 bytes of LDS"}] = 3;
  EXPECT_EQ(summaryText(s, {}),
            "wavesan: not checked: kernel big(int*), 3 dispatches: uses 65500 of 65536 bytes of LDS\n"
            "wavesan: nothing was checked: see the reasons above\n"
            "wavesan: checked 0 accesses in 0 kernels: 0 races\n");
  s.unchecked.clear();
  s.checkedDispatches = 3;
  s.kernels = 1;
  EXPECT_EQ(summaryText(s, {}).find("wavesan: nothing was checked: the instrumented kernels"), 0u);
}

TEST(SummaryText, EveryLossHasItsLineBeforeTheLast) {
  Summary s = checkedSomething();
  s.races = 7;
  s.skippedSites = {{"global memory", 12}, {"inline asm", 1}, {"nothing", 0}};
  s.noTwin = {{"a()", 1}, {"b()", 4}};
  s.racesNotPrinted = 1;
  s.laterOccurrences = 2;
  s.racesDropped = 3;
  s.historyOverflow = 4;
  s.generationOverflow = 5;
  s.outsideShadow = 6;
  s.damagedRecords = 7;
  s.orderUnknown = 8;
  s.unfinishedDispatches = 9;
  s.failedDispatches = 1;
  s.errors = 1;
  s.globalUnchecked = 3;
  s.copiesUnchecked = 2;
  s.waitsUnknown = 5;
  s.suppressed = {{"race:known (s.txt:1)", 2}};
  EXPECT_EQ(
      summaryText(s, {}),
      "wavesan: not checked: 12 places in the kernels: global memory\n"
      "wavesan: not checked: 1 place in the kernels: inline asm\n"
      "wavesan: not checked: global memory (no memory for its shadow, option shadow_budget_mb, or too many workgroups)\n"
      "wavesan: not checked: asynchronous copies to and from LDS, and waits for counts above zero (only the CPU agent checks "
      "them so far)\n"
      "wavesan: not checked: kernel b(), 4 dispatches: not built with WaveSan\n"
      "wavesan: not checked: kernel a(), 1 dispatch: not built with WaveSan\n"
      "wavesan: 2 races suppressed by race:known (s.txt:1)\n"
      "wavesan: 1 further race not printed (option max_reports)\n"
      "wavesan: 2 more conflicts of the races above after their report\n"
      "wavesan: 3 conflicts dropped: the race table was full (option max_races)\n"
      "wavesan: 4 accesses not kept for later comparison: more than two readers or writers of the same bytes (races "
      "with them may be missed)\n"
      "wavesan: 5 accesses not recorded: the wave's generation counter was exhausted (races with them may be "
      "missed)\n"
      "wavesan: 6 LDS accesses not checked: beyond the dispatch's group segment\n"
      "wavesan: 7 race records damaged: not printed\n"
      "wavesan: 8 atomic operations not followed for want of memory: what they order is unknown, so later races of the dispatch are not reported (option shadow_budget_mb)\n"
      "wavesan: 5 asynchronous copies waited for by a count that depends on how the compiler translates other accesses "
      "(races may be missed)\n"
      "wavesan: 9 dispatches not checked: not finished when the program ended\n"
      "wavesan: 1 dispatch failed: checked only up to the failure\n"
      "wavesan: 1 error of WaveSan itself (printed above)\n"
      "wavesan: checked 1200 accesses in 2 kernels: 7 races\n");
}

TEST(SummaryText, ManyKernelsWithoutTwinAreSummedUp) {
  Summary s = checkedSomething();
  for (int i = 0; i < 11; ++i)
    s.noTwin["kernel" + std::to_string(10 + i)] = 2;
  std::string text = summaryText(s, {});
  EXPECT_NE(text.find("kernel kernel17, 2 dispatches"), std::string::npos) << text;
  EXPECT_EQ(text.find("kernel18"), std::string::npos) << text;
  EXPECT_NE(text.find("wavesan: not checked: 3 further kernels, 6 dispatches: not built with WaveSan\n"),
            std::string::npos)
      << text;
}
