// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is written is noted, and what it held before is kept.
#include "write_notes.h"

#include <gtest/gtest.h>
#include <random>
#include <thread>

namespace wavesan::cpu {
namespace {

using Record = abi::WriteRecord;
constexpr uint64_t kChunk = Record::kChunk;

struct Recorded {
  explicit Recorded(std::vector<uint8_t> &memory)
      : Memory(memory), Copy(memory.size()), State(memory.size() / kChunk + 1) {
    Region = {reinterpret_cast<uint64_t>(memory.data()), memory.size(), Copy.data(), State.data()};
    What.regions = &Region;
    What.count = 1;
    WriteNotes::add(&What);
  }
  ~Recorded() { WriteNotes::remove(&What); }
  std::vector<uint8_t> &Memory, Copy;
  std::vector<std::atomic<uint8_t>> State;
  Record::Region Region;
  Record What;
};

TEST(WriteNotes, NobodyAsks) {
  EXPECT_FALSE(WriteNotes().wanted());
  std::vector<uint8_t> memory(10);
  {
    const Recorded recorded(memory);
    EXPECT_TRUE(WriteNotes().wanted());
  }
  EXPECT_FALSE(WriteNotes().wanted());
}

TEST(WriteNotes, AllChunksOfARangeAndNoOthers) {
  std::vector<uint8_t> memory(4 * kChunk + 100, 1);
  const Recorded recorded(memory);
  const WriteNotes notes;
  EXPECT_EQ(recorded.What.holders, 1u);
  notes.note(&memory[2 * kChunk - 1], 2);     // two chunks
  notes.note(&memory[4 * kChunk + 99], 1000); // the last one, and beyond
  std::fill(memory.begin(), memory.end(), 2);
  const uint8_t expected[] = {Record::Untouched, Record::Touched, Record::Touched, Record::Untouched, Record::Touched};
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(recorded.State[i], expected[i]) << i;
  EXPECT_EQ(recorded.Copy[kChunk - 1], 0);
  EXPECT_EQ(recorded.Copy[kChunk], 1);
  EXPECT_EQ(recorded.Copy[3 * kChunk - 1], 1);
  EXPECT_EQ(recorded.Copy[3 * kChunk], 0);
  EXPECT_EQ(recorded.Copy[4 * kChunk + 99], 1);
}

TEST(WriteNotes, WhatIsKnownNeedsNoNote) {
  std::vector<uint8_t> memory(4 * kChunk + 100);
  const uint64_t begin = reinterpret_cast<uint64_t>(memory.data()), end = begin + memory.size();
  const Recorded recorded(memory);
  const WriteNotes notes;
  WriteNotes::Known known = notes.note(begin + kChunk + 8, 4);
  EXPECT_TRUE(known.holds(begin + kChunk, kChunk));
  EXPECT_FALSE(known.holds(begin + 2 * kChunk - 1, 2));
  known = notes.note(begin - 8, 4);
  EXPECT_TRUE(known.holds(begin - 4, 4));
  EXPECT_FALSE(known.holds(begin - 3, 4));
  known = notes.note(end, 4);
  EXPECT_TRUE(known.holds(end, 1 << 20));
  EXPECT_FALSE(known.holds(end - 1, 1));
  known = notes.note(end - 4, 8); // in and behind
  EXPECT_FALSE(known.holds(end - 4, 4));
}

TEST(WriteNotes, TwoWhoAsk) {
  std::vector<uint8_t> a(2 * kChunk, 1), b(2 * kChunk, 2);
  const Recorded first(a), second(b);
  const WriteNotes notes;
  notes.note(a.data(), 1);
  notes.note(b.data() + kChunk, 1);
  EXPECT_EQ(first.State[0], Record::Touched);
  EXPECT_EQ(first.State[1], Record::Untouched);
  EXPECT_EQ(second.State[0], Record::Untouched);
  EXPECT_EQ(second.State[1], Record::Touched);
  EXPECT_EQ(second.Copy[kChunk], 2);
}

TEST(WriteNotes, MemoryThatGoesAwayIsNotCopied) {
  std::vector<uint8_t> memory(2 * kChunk, 1);
  const Recorded recorded(memory);
  WriteNotes::forget(reinterpret_cast<uint64_t>(memory.data()), memory.size());
  WriteNotes().note(memory.data(), memory.size());
  EXPECT_EQ(recorded.Copy[0], 0);
}

/// Each thread notes and writes at random places: what was there is kept whoever comes first.
TEST(WriteNotes, SeveralThreads) {
  for (unsigned round = 0; round < 20; ++round) {
    std::vector<uint8_t> memory(16 * kChunk, 7);
    const Recorded recorded(memory);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const WriteNotes notes;
        std::mt19937 random(100 * round + t);
        for (int i = 0; i < 200; ++i) {
          const size_t at = random() % (8 * kChunk) / 4 * 4 + t; // a byte of its own
          notes.note(&memory[at], 1);
          memory[at] = uint8_t(t);
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    for (size_t i = 0; i < memory.size(); ++i)
      if (memory[i] != 7)
        ASSERT_EQ(recorded.State[i / kChunk], Record::Touched);
    for (size_t i = 0; i < memory.size(); ++i)
      if (recorded.State[i / kChunk] == Record::Touched)
        ASSERT_EQ(recorded.Copy[i], 7) << i;
    EXPECT_EQ(recorded.State[15], Record::Untouched);
    EXPECT_EQ(recorded.What.holders, 0u);
  }
}

} // namespace
} // namespace wavesan::cpu
