// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shadow on trial gets the accesses of workgroups in any order: it fails, and memory is as it was before, or what is
// left of the dispatch is the same as in the order of the workgroups.
#include "access_summary.h"
#include "trial.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <tuple>

namespace wavesan::cpu {
namespace {

constexpr uint64_t kLines = 2 * ReadLog::kLines, kBytes = kLines * kLineBytes;

struct Step {
  bool barrier;
  uint32_t wave;
  AccessRecord record;
  uint64_t line;
};

using Runs = std::vector<std::tuple<uint64_t, uint64_t, uint32_t, uint8_t>>;
struct Result {
  bool conflict = false;
  uint64_t lost = 0;
  Runs runs;
};

struct Memory {
  std::byte *const bytes = static_cast<std::byte *>(std::aligned_alloc(kBytes, kBytes));
  ~Memory() { std::free(bytes); }
};

class Dispatch {
public:
  Dispatch(uint32_t groups, std::byte *memory, Trial *trial)
      : Shadow(Budget, {true, trial, trial ? 5u : 0u}), First(reinterpret_cast<uint64_t>(memory) / kLineBytes),
        OnTrial(trial) {
    for (uint32_t g = 0; g < groups; ++g)
      Order.emplace_back(g, 2);
  }
  void run(uint32_t group, const Step &step, std::mt19937_64 &random) {
    WorkgroupOrder &order = Order[group];
    if (step.barrier) {
      for (uint32_t w : {0, 1})
        order.wave(w).complete(true, true);
      for (uint32_t w : {0, 1})
        order.arrive(w);
      for (uint32_t w : {0, 1})
        order.leave(w);
      return;
    }
    AccessRecord r = step.record;
    r.workgroup = group;
    r.wave = uint8_t(step.wave);
    r.generation = order.wave(step.wave).generation[kGlobal];
    Shadow.access(order.wave(step.wave), First + step.line, r, [&](const LineConflict &) {
      Found.conflict = true;
      if (OnTrial)
        OnTrial->fail();
    });
    if (r.write && !(OnTrial && OnTrial->failed()))
      for (unsigned b = 0; b < kLineBytes; ++b)
        if (r.mask >> b & 1)
          reinterpret_cast<std::byte *>((First + step.line) * kLineBytes)[b] = std::byte(random());
  }
  Result finish() {
    Found.lost = Shadow.lost();
    AccessSummary summary;
    Shadow.forEachLine([&](uint64_t line, RecordList &records, uint64_t reads, uint64_t atomics) {
      summary.line(line, records, reads, atomics, Shadow.readSites(line));
    });
    for (const abi::AccessRun &r : summary.take())
      Found.runs.emplace_back(r.begin, r.end, r.site, r.bits);
    return Found;
  }
  void undo() { Shadow.restore(); }

private:
  MemoryBudget Budget;
  MemoryShadow Shadow;
  std::vector<WorkgroupOrder> Order;
  const uint64_t First;
  Trial *const OnTrial;
  Result Found;
};

uint64_t someBytes(std::mt19937_64 &random) {
  const unsigned first = unsigned(random() % 16) * 4, bytes = 4u << random() % 4;
  return ((uint64_t(1) << bytes) - 1) << first;
}

/// What a workgroup does: reads of what all may read, and of what is its own; writes of what is its own, and sometimes
/// of something else.
std::vector<Step> stepsOf(uint32_t group, uint32_t groups, bool careless, bool parts, uint64_t shared,
                          std::mt19937_64 &random) {
  std::vector<Step> steps;
  const unsigned count = unsigned(random() % (random() % 8 ? 60 : 400)), sites = 1 + unsigned(random() % 5);
  const auto lowest = uint32_t(random() % 40); // what the first workgroups did is not what all did
  const bool bytewise = random() % 4 == 0;     // more records than a line has room for
  uint32_t turn = 0; // of the waves: one of them writes what is the workgroup's own until the next barrier
  for (unsigned i = 0; i < count; ++i) {
    Step s{random() % 6 == 0, uint32_t(random() % 2), {}, 0};
    if (s.barrier) {
      turn = uint32_t(random() % 2);
      steps.push_back(s);
      continue;
    }
    s.record.site = lowest + uint32_t(random() % sites);
    const unsigned what = unsigned(random() % 4);
    if (what < 2) {
      s.line = random() % shared;
      s.record.mask = random() % 2 ? ~uint64_t(0) : someBytes(random);
    } else {
      // Some bytes of lines that others own parts of, or a line of its own.
      const bool part = parts && random() % 2;
      s.line = part ? shared + group % 3 : shared + 3 + group;
      s.record.mask = part       ? uint64_t(1) << (group / 3 % 64)
                      : bytewise ? uint64_t(1) << random() % 64
                                 : someBytes(random);
      s.record.write = random() % 2;
      s.wave = turn;
    }
    if (careless && random() % 64 == 0) {
      s.line = shared + random() % (3 + groups);
      s.record.mask = someBytes(random);
      s.record.write = random() % 3 == 0;
    }
    steps.push_back(s);
  }
  return steps;
}

TEST(Trial, WhatIsLeftDoesNotDependOnTheOrder) {
  unsigned held = 0, heldWithLoss = 0, races = 0, crowded = 0;
  Memory memory;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937_64 random(seed);
    const uint32_t groups = 2 + uint32_t(random() % (random() % 4 ? 20 : 120));
    const uint64_t shared = 1 + random() % 80;
    const bool careless = random() % 3 == 0, parts = random() % 2;
    std::vector<std::vector<Step>> steps;
    for (uint32_t g = 0; g < groups; ++g)
      steps.push_back(stepsOf(g, groups, careless, parts, shared, random));
    std::vector<std::byte> before(kBytes);
    for (std::byte &b : before)
      b = std::byte(random());

    std::memcpy(memory.bytes, before.data(), kBytes);
    Dispatch inOrder(groups, memory.bytes, nullptr);
    for (uint32_t g = 0; g < groups; ++g)
      for (const Step &s : steps[g])
        inOrder.run(g, s, random);
    const Result expected = inOrder.finish();

    std::memcpy(memory.bytes, before.data(), kBytes);
    Trial trial(nullptr);
    Dispatch tried(groups, memory.bytes, &trial);
    std::vector<size_t> next(groups, 0);
    std::vector<uint32_t> left;
    for (uint32_t g = 0; g < groups; ++g)
      if (!steps[g].empty())
        left.push_back(g);
    const size_t together = 1 + random() % 8; // workgroups that run side by side
    while (!left.empty() && !trial.failed()) {
      const size_t k = random() % std::min(left.size(), together);
      const uint32_t g = left[k];
      for (uint64_t n = 1 + random() % 8; n && next[g] < steps[g].size() && !trial.failed(); --n)
        tried.run(g, steps[g][next[g]++], random);
      if (next[g] == steps[g].size())
        left.erase(left.begin() + std::ptrdiff_t(k));
    }
    if (trial.failed()) {
      tried.undo();
      ASSERT_EQ(std::memcmp(memory.bytes, before.data(), kBytes), 0) << "seed " << seed;
      ++(expected.conflict ? races : crowded);
      continue;
    }
    ASSERT_FALSE(expected.conflict) << "seed " << seed;
    const Result found = tried.finish();
    ASSERT_EQ(found.lost, expected.lost) << "seed " << seed;
    ASSERT_EQ(found.runs, expected.runs) << "seed " << seed;
    ++held;
    heldWithLoss += expected.lost != 0;
  }
  EXPECT_GT(held, 500u);
  EXPECT_GT(heldWithLoss, 5u);
  EXPECT_GT(races, 500u);
  EXPECT_GT(crowded, 50u);
}

TEST(Trial, BarredMemoryFailsIt) {
  Memory memory;
  std::memset(memory.bytes, 1, kBytes);
  const auto begin = reinterpret_cast<uint64_t>(memory.bytes);
  for (const bool write : {false, true})
    for (const uint64_t line : {63u, 64u, 200u}) {
      Trial trial([&](uint64_t address, uint64_t bytes) {
        EXPECT_EQ(bytes, 4096u);
        return address == begin + 4096;
      });
      Dispatch dispatch(1, memory.bytes, &trial);
      Step step{};
      step.line = line;
      step.record.mask = 1;
      step.record.write = write;
      std::mt19937_64 random(1);
      dispatch.run(0, step, random);
      EXPECT_EQ(trial.failed(), line != 64) << line;
      if (line != 64) {
        EXPECT_EQ(memory.bytes[line * kLineBytes], std::byte(1));
      }
    }
}

TEST(Trial, LittleMemoryFailsIt) {
  Memory memory;
  MemoryBudget budget(ClockMemory::bytes() + (64 << 10));
  Trial trial(nullptr);
  MemoryShadow shadow(budget, {false, &trial, 5});
  WaveOrder wave;
  AccessRecord r{};
  r.write = true;
  r.mask = 1;
  shadow.access(wave, reinterpret_cast<uint64_t>(memory.bytes) / kLineBytes, r, [](const LineConflict &) { FAIL(); });
  EXPECT_EQ(shadow.unrecorded(), 0u);
  shadow.access(wave, reinterpret_cast<uint64_t>(memory.bytes) / kLineBytes + ReadLog::kLines, r,
                [](const LineConflict &) { FAIL(); });
  EXPECT_TRUE(trial.failed());
}

} // namespace
} // namespace wavesan::cpu
