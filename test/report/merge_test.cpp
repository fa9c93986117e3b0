// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sample_races.h"

#include "wavesan/report/merge.h"
#include "wavesan/report/text_sink.h"

#include <gtest/gtest.h>

using namespace wavesan::report;
using namespace wavesan::test;

namespace {

Document withRaces(std::vector<Race> races) {
  Document d;
  d.races = std::move(races);
  d.summary.races = d.races.size();
  d.summary.checkedAccesses = 10;
  d.summary.kernels = 1;
  d.summary.checkedKernels[{"k(int*)", "app.hip", 5}] = 2;
  d.summary.dispatches = d.summary.checkedDispatches = 2;
  return d;
}

Race readOf(uint32_t line, uint64_t occurrences) {
  Race r = race(Order::ReadAfterWrite, access(R, 0, 0, {at(line, 3)}), access(W, 1, 63, {at(8, 13)}));
  r.occurrences = occurrences;
  return r;
}

} // namespace

TEST(Merge, TheSameRaceOfSeveralProcessesIsOneWithACount) {
  Race other = readOf(20, 5);
  std::swap(other.current, other.previous); // seen the other way round
  other.dispatch = 77;
  other.current.wave = 9;
  const Document merged =
      mergeDocuments({withRaces({readOf(20, 3), readOf(21, 1)}), withRaces({other}), withRaces({})});
  ASSERT_EQ(merged.races.size(), 2u);
  EXPECT_EQ(merged.races[0].occurrences, 8u);
  EXPECT_EQ(merged.races[0].processes, 2u);
  EXPECT_TRUE(merged.races[0].bothOrders);
  EXPECT_EQ(merged.races[0].dispatch, 3u); // the first one's text
  EXPECT_EQ(merged.races[1].processes, 1u);
  EXPECT_EQ(merged.processes, 3u);
  EXPECT_EQ(merged.summary.races, 2u);
  EXPECT_EQ(merged.summary.checkedAccesses, 30u);
  EXPECT_EQ(merged.summary.kernels, 1u);
  EXPECT_EQ((merged.summary.checkedKernels.at({"k(int*)", "app.hip", 5})), 6u);
  EXPECT_NE(raceText(merged.races[0], {}).find("  seen 8 times, in 2 processes, in both orders\n"), std::string::npos);
}

TEST(Merge, TheVerdictThatSaysMostIsKept) {
  using Verdict = Confirmation::Verdict;
  const Verdict verdicts[] = {Verdict::NotObserved, Verdict::Confirmed, Verdict::OutputDiffers, Verdict::NotTried};
  std::vector<Document> documents = {withRaces({readOf(20, 1)})};
  for (Verdict verdict : verdicts) {
    documents.push_back(withRaces({readOf(20, 1)}));
    documents.back().races[0].confirmation = Confirmation{.verdict = verdict, .passes = 8};
  }
  const Document merged = mergeDocuments(documents);
  ASSERT_EQ(merged.races.size(), 1u);
  ASSERT_TRUE(merged.races[0].confirmation);
  EXPECT_EQ(merged.races[0].confirmation->verdict, Verdict::Confirmed);
}

TEST(Merge, DifferentRacesStayApart) {
  Race kernel = readOf(20, 1), fence = kernel, atomic = kernel, global = kernel;
  kernel.kernelMangled = "_Z1mPi";
  fence.raceClass = wavesan::abi::RaceClass::MissingFence;
  atomic.current.bits |= A;
  global.space = wavesan::abi::RaceSpace::Global;
  EXPECT_EQ(mergeDocuments({withRaces({readOf(20, 1), kernel, fence, atomic, global})}).races.size(), 5u);
  // Without debug info places tell them apart.
  Race a = race(Order::ReadAfterWrite, access(R, 0, 0, {}), access(W, 1, 0, {})), b = a;
  b.ldsFirst = 4;
  EXPECT_EQ(mergeDocuments({withRaces({a, b})}).races.size(), 2u);
}

TEST(Merge, KernelsOfDifferentFilesAddUpAndRacesThatWereOnlyCountedRemain) {
  Document a = withRaces({readOf(20, 1)}), b = withRaces({readOf(20, 1)});
  b.summary.checkedKernels.clear();
  b.summary.checkedKernels[{"m(int*)", "", 0}] = 1;
  b.summary.races += 4;
  b.summary.racesNotPrinted = 4;
  b.messages = a.messages = {"the same"};
  const Document merged = mergeDocuments({a, b});
  EXPECT_EQ(merged.summary.kernels, 2u);
  EXPECT_EQ(merged.summary.races, 5u);
  EXPECT_EQ(merged.messages.size(), 1u);
}

TEST(Merge, NumbersOfHostileFilesDoNotWrapAround) {
  Document a = withRaces({readOf(20, UINT64_MAX)}), b = withRaces({readOf(20, UINT64_MAX)});
  a.summary.racesNotPrinted = b.summary.racesNotPrinted = UINT64_MAX;
  a.processes = UINT64_MAX;
  const Document merged = mergeDocuments({a, b});
  EXPECT_EQ(merged.races[0].occurrences, UINT64_MAX);
  EXPECT_EQ(merged.summary.races, UINT64_MAX);
  EXPECT_EQ(merged.processes, UINT64_MAX);
}

TEST(Merge, NotesAreNeitherRacesNorWarnings) {
  Document a = withRaces({readOf(20, 1)}), b = withRaces({readOf(20, 1), readOf(21, 1)});
  a.races[0].severity = Severity::Warning;
  b.races[0].severity = b.races[1].severity = Severity::Note;
  a.summary.races = b.summary.races = 0;
  a.summary.warnings = 1;
  b.summary.notes = 2;
  b.summary.notesNotPrinted = 3;
  Document merged = mergeDocuments({a, b});
  ASSERT_EQ(merged.races.size(), 2u);
  EXPECT_EQ(merged.races[0].severity, Severity::Warning);
  EXPECT_EQ(merged.summary.races, 0u);
  EXPECT_EQ(merged.summary.warnings, 1u);
  EXPECT_EQ(merged.summary.notes, 4u);
  filterRaces(merged, [](const Race &r) { return r.severity == Severity::Warning; });
  EXPECT_EQ(merged.summary.warnings, 1u);
  EXPECT_EQ(merged.summary.notes, 3u);
}

TEST(Merge, WarningsAreNoRaces) {
  Document a = withRaces({readOf(20, 1)}), b = a, c = withRaces({readOf(20, 1), readOf(21, 1)});
  a.races[0].severity = c.races[1].severity = Severity::Warning;
  a.summary.races = 0;
  a.summary.warnings = c.summary.warnings = c.summary.races = 1;
  Document merged = mergeDocuments({a, c}); // one process counts the first as a warning, the other as an error
  ASSERT_EQ(merged.races.size(), 2u);
  EXPECT_EQ(merged.races[0].severity, Severity::Error);
  EXPECT_EQ(merged.races[1].severity, Severity::Warning);
  EXPECT_EQ(merged.summary.races, 1u);
  EXPECT_EQ(merged.summary.warnings, 1u);
  EXPECT_EQ(filterRaces(merged, [](const Race &r) { return r.severity == Severity::Error; }), 1u);
  EXPECT_EQ(merged.summary.races, 1u);
  EXPECT_EQ(merged.summary.warnings, 0u);
}

TEST(Merge, FiltersAndSuppressionsKeepTheSummaryTrue) {
  Document d = withRaces({readOf(20, 1), readOf(21, 5), readOf(22, 9)});
  EXPECT_EQ(filterRaces(d, [](const Race &r) { return r.occurrences > 1; }), 1u);
  EXPECT_EQ(d.summary.races, 2u);
  std::vector<std::string> errors;
  suppressRaces(d, Suppressions::parse("race:nothing\nrace:tile\n", "s.txt", errors));
  EXPECT_TRUE(d.races.empty());
  EXPECT_EQ(d.summary.races, 0u);
  EXPECT_EQ(d.summary.suppressed, (std::map<std::string, uint64_t>{{"race:tile (s.txt:2)", 2}}));
}
