// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left of a dispatch, against what its waves did to each byte.
#include "access_summary.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace wavesan::cpu {
namespace {

constexpr uint64_t kBase = 64 * 1000, kBytes = 4 * 64;

struct Did {
  bool write = false, atomicWrite = false, read = false, atomicRead = false;
};

} // namespace

TEST(AccessSummary, SaysOfEachByteWhatWasDoneToIt) {
  std::mt19937 random(7);
  auto pick = [&](unsigned n) { return random() % n; };
  for (int round = 0; round < 300; ++round) {
    MemoryBudget budget;
    MemoryShadow shadow(budget);
    std::array<Did, kBytes> did{};
    for (unsigned i = 0, n = 1 + pick(24); i < n; ++i) {
      WaveOrder wave;
      wave.id = {i, 0}; // nobody knows of anybody
      AccessRecord r{};
      r.workgroup = i;
      r.generation = 1;
      r.site = pick(5);
      r.write = pick(2);
      r.atomic = pick(3) == 0;
      r.scope = abi::Scope::Agent;
      const uint64_t line = pick(4);
      const unsigned first = pick(60), bytes = 1 + pick(64 - first);
      r.mask = (bytes == 64 ? ~uint64_t(0) : (uint64_t(1) << bytes) - 1) << first;
      if (pick(3) == 0)
        r.mask &= 0x5555555555555555u;
      shadow.access(wave, kBase / 64 + line, r, [](const LineConflict &) {});
      for (unsigned b = 0; b < 64; ++b)
        if (r.mask >> b & 1) {
          Did &d = did[line * 64 + b];
          (r.write ? (r.atomic ? d.atomicWrite : d.write) : (r.atomic ? d.atomicRead : d.read)) = true;
        }
    }
    AccessSummary summary;
    shadow.forEachLine([&](uint64_t line, RecordList &records, uint64_t reads, uint64_t atomics) {
      summary.line(line, records, reads, atomics);
    });
    std::array<Did, kBytes> seen{};
    for (const abi::AccessRun &run : summary.take())
      for (uint64_t a = run.begin; a < run.end; ++a) {
        Did &d = seen[a - kBase];
        const bool atomic = run.bits & abi::kAccessAtomic, write = run.bits & abi::kAccessWrite;
        bool &one = write ? (atomic ? d.atomicWrite : d.write) : (atomic ? d.atomicRead : d.read);
        EXPECT_FALSE(one) << "said twice of byte " << a - kBase;
        one = true;
      }
    for (uint64_t b = 0; b < kBytes; ++b) {
      const Did &d = did[b], &s = seen[b];
      EXPECT_EQ(s.write, d.write) << b;
      EXPECT_EQ(s.atomicWrite, d.atomicWrite && !d.write) << b;
      EXPECT_EQ(s.read, d.read && !d.write) << b;
      EXPECT_EQ(s.atomicRead, d.atomicRead && !d.write && !d.atomicWrite && !d.read) << b;
    }
    if (HasFailure())
      return;
  }
}

TEST(AccessSummary, ConsecutiveLinesAreOneRun) {
  MemoryBudget budget;
  MemoryShadow shadow(budget);
  WaveOrder wave;
  wave.id = {0, 0};
  for (uint64_t line = 0; line < 1000; ++line) {
    AccessRecord r{};
    r.workgroup = uint32_t(line);
    r.generation = 1;
    r.site = 3;
    r.write = true;
    r.mask = ~uint64_t(0);
    shadow.access(wave, line, r, [](const LineConflict &) {});
  }
  AccessSummary summary;
  shadow.forEachLine([&](uint64_t line, RecordList &records, uint64_t reads, uint64_t atomics) {
    summary.line(line, records, reads, atomics);
  });
  const std::vector<abi::AccessRun> runs = summary.take();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].begin, 0u);
  EXPECT_EQ(runs[0].end, 64000u);
  EXPECT_EQ(runs[0].site, 3u);
  EXPECT_TRUE(summary.take().empty());
}

} // namespace wavesan::cpu
