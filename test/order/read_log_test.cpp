// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The log of reads: it gives back what it took, and a shadow that logs finds what one with lines finds.
#include "memory_shadow.h"

#include <gtest/gtest.h>
#include <random>
#include <tuple>

namespace wavesan::cpu {
namespace {

auto contents(const AccessRecord &r) {
  return std::tuple(r.workgroup, r.generation, r.site, r.mask, r.wave, r.lane, r.firstByte, r.laneBytes, r.epoch,
                    r.write, r.atomic, r.scope);
}

AccessRecord randomRead(std::mt19937_64 &random) {
  AccessRecord r{};
  const bool again = random() % 3 == 0; // mostly of few waves, so that heads are shared
  r.workgroup = again ? 3 : uint32_t(random());
  r.generation = again ? 1 : uint32_t(random());
  r.site = again ? 9 : uint32_t(random());
  r.wave = uint8_t(random() % 32);
  r.epoch = uint8_t(random());
  r.mask = random() % 2 ? ~uint64_t(0) : random() | 1;
  r.lane = uint8_t(random());
  r.firstByte = uint8_t(random() % 64);
  r.laneBytes = uint8_t(random());
  return r;
}

TEST(ReadLog, GivesBackWhatItTook) {
  std::mt19937_64 random(5);
  MemoryBudget budget;
  RecordMemory memory(budget);
  size_t most = 0;
  for (int round = 0; round < 50; ++round) {
    // Two logs that take memory in turns, and what the rounds before gave back.
    ReadLog logs[2];
    std::vector<std::pair<unsigned, AccessRecord>> taken[2];
    const size_t want = round % 5 == 0 ? SIZE_MAX : random() % 500;
    for (bool room = true; room && taken[0].size() < want;) {
      AccessRecord r = randomRead(random);
      const unsigned lines = 1 + unsigned(random() % 400); // more than one head counts
      for (unsigned i = 0; room && i < lines; ++i) {
        const unsigned log = random() % 8 == 0, line = unsigned(random() % ReadLog::kLines);
        r.lane = uint8_t(i);
        room = logs[log].add(line, r, memory);
        if (room)
          taken[log].emplace_back(line, r);
      }
    }
    for (unsigned log = 0; log < 2; ++log) {
      size_t at = 0;
      most = std::max(most, taken[log].size());
      logs[log].drain(memory, [&](unsigned line, const AccessRecord &r) {
        ASSERT_LT(at, taken[log].size());
        EXPECT_EQ(line, taken[log][at].first);
        EXPECT_EQ(contents(r), contents(taken[log][at].second)) << at;
        ++at;
      });
      EXPECT_EQ(at, taken[log].size());
      logs[log].drain(memory, [&](unsigned, const AccessRecord &) { ADD_FAILURE() << "drained twice"; });
    }
  }
  EXPECT_GT(most, 2000u);
}

/// The same accesses to a shadow whose page is a log at first, and to one whose page has lines from the beginning.
TEST(ReadLog, AShadowThatLogsFindsTheSame) {
  size_t conflicts = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    std::mt19937_64 random(seed);
    const uint32_t groups = 2 + uint32_t(random() % 40);
    std::vector<WorkgroupOrder> order;
    for (uint32_t g = 0; g < groups; ++g)
      order.emplace_back(g, 2);
    MemoryBudget budget;
    MemoryShadow log(budget), lines(budget);
    AccessRecord elsewhere{};
    elsewhere.write = true;
    elsewhere.mask = 1;
    lines.access(order[0].wave(0), 127, elsewhere, [](const LineConflict &) { FAIL(); });
    const unsigned reads = unsigned(random() % 9000), touched = 1 + unsigned(random() % 100);
    for (unsigned step = 0; step < reads + 50; ++step) {
      WaveOrder &w = order[random() % groups].wave(random() % 2);
      if (random() % 20 == 0)
        w.complete(true, true);
      AccessRecord r{};
      r.workgroup = w.id.workgroup;
      r.wave = uint8_t(w.id.wave);
      r.generation = w.generation[kGlobal];
      r.site = uint32_t(random() % 3);
      r.lane = uint8_t(random() % 64);
      r.mask = random() % 2 ? ~uint64_t(0) : uint64_t(0xf) << random() % 60;
      r.write = step >= reads && random() % 2;
      r.atomic = step >= reads && random() % 3 == 0;
      r.scope = r.atomic ? abi::Scope::Agent : abi::Scope{};
      const uint64_t line = random() % touched;
      std::vector<std::tuple<decltype(contents(r)), uint64_t, bool>> found[2];
      for (MemoryShadow *s : {&log, &lines})
        s->access(w, line, r, [&](const LineConflict &c) {
          found[s == &lines].emplace_back(contents(c.previous), c.mask, c.scopeTooSmall);
        });
      ASSERT_EQ(found[0], found[1]) << "step " << step << " of seed " << seed;
      ASSERT_EQ(log.lost(), lines.lost()) << "step " << step << " of seed " << seed;
      conflicts += found[0].size();
    }
  }
  EXPECT_GT(conflicts, 10000u);
}

} // namespace
// A log has room in what the budget allows, its lines have not: what comes behind is not recorded, and counted; what is in the log
// is given to whoever asks for all accesses.
TEST(ReadLog, WithoutMemoryForLines) {
  constexpr uint64_t kRecords = (1 << 18) + 4096; // a piece of records and a page
  MemoryBudget budget(ClockMemory::bytes() + kRecords + kRecords / 7 + 1);
  {
    MemoryShadow shadow(budget);
    WaveOrder wave;
    wave.id = {0, 0};
    AccessRecord r{};
    r.mask = 0xff;
    shadow.access(wave, 5, r, [](const LineConflict &) { FAIL(); });
    EXPECT_EQ(shadow.unrecorded(), 0u);
    r.write = true;
    shadow.access(wave, 5, r, [](const LineConflict &) { FAIL(); });
    EXPECT_EQ(shadow.unrecorded(), 1u);
    std::vector<uint64_t> lines;
    shadow.forEachLine([&](uint64_t line, RecordList &records, uint64_t, uint64_t) {
      lines.push_back(line);
      EXPECT_EQ(records.size(), 1u);
    });
    EXPECT_EQ(lines, std::vector<uint64_t>{5});
    EXPECT_LE(budget.used(), kRecords);
  }
  EXPECT_EQ(budget.used(), 0u);
}

} // namespace wavesan::cpu
