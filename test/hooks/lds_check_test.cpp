// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fast path of LDS checks against the detector core, lane by lane: the same cells, races and counters after every
// access of random programs.
#include "lds_check.h"

#include <gtest/gtest.h>
#include <random>

namespace wavesan::cpu {
namespace {

constexpr uint32_t kCapacity = 256, kLdsBytes = 1024;

/// One side: a workgroup's shadow with its race table.
struct Side {
  abi::DispatchContext context{};
  abi::DispatchCounters counters{};
  std::vector<uint64_t> table =
      std::vector<uint64_t>((sizeof(abi::RaceTable) + kCapacity * sizeof(abi::RaceRecord)) / 8);
  MemoryBudget budget;
  WorkgroupShadow shadow;

  Side(uint32_t waves, uint32_t granuleLog2) {
    reinterpret_cast<abi::RaceTable *>(table.data())->capacity = kCapacity;
    context.raceTable = reinterpret_cast<uint64_t>(table.data());
    context.counters = reinterpret_cast<uint64_t>(&counters);
    context.ldsBytes = kLdsBytes;
    context.granuleLog2 = granuleLog2;
    shadow.start(&context, nullptr, 0, waves, budget);
  }
  void fence(uint32_t w) {
    const uint32_t info = abi::fenceInfo(abi::kFenceRelease | abi::kFenceLds, abi::Scope::Workgroup);
    shadow.order->wave(w).fence(info);
    shadow.state.waves[w].generation += core::fenceCompletesLds(info);
  }
  void arrive(uint32_t w) { shadow.order->arrive(w); }
  void leave(uint32_t w) {
    ++shadow.state.waves[w].epoch;
    shadow.order->leave(w);
    shadow.orderChanged(w);
  }
  void end(uint32_t w) {
    abi::WaveRecord &r = shadow.state.waves[w];
    r.endEpoch = r.epoch + 1;
    shadow.order->end(w);
    shadow.orderChanged();
  }
};

struct Access {
  LaneMask exec;
  uint32_t address[64], size, info, site;
};

/// `tile`: 0, or what lanes mostly access of tiles of 16 elements: bytes of an element.
Access randomAccess(std::mt19937_64 &random, uint32_t waveSize, uint32_t tile) {
  const auto below = [&](uint64_t n) { return uint32_t(random() % n); };
  Access a{};
  const LaneMask all = waveSize == 64 ? ~LaneMask(0) : 0xffffffff;
  a.exec = below(3) ? all : random() & all;
  if (below(8) == 0)
    a.exec &= random() & random() & random();
  if (a.exec == 0)
    a.exec = LaneMask(1) << below(waveSize);
  const bool wholeGroups = below(3) == 0;
  if (wholeGroups) {
    a.exec = 0;
    while (a.exec == 0)
      for (uint32_t g = 0; g < waveSize; g += 16)
        a.exec |= LaneMask(below(2) ? 0xffff : 0) << g;
  }
  a.size = below(10) ? 1u << below(5) : 12;
  const uint32_t base =
      below(8) ? below(kLdsBytes / 2) & ~((a.size & (0 - a.size)) - 1) : below(kLdsBytes + 64); // aligned, or anywhere
  const uint32_t stride = below(3) ? a.size : below(40), period = below(2) ? 64 : 1u << below(6);
  const bool scattered = below(6) == 0;
  // Groups of 16 lanes that each touch one address, or the same addresses as the group before; see lds_check.cpp.
  const uint32_t rows = below(4), rowStride = below(2) ? 0 : below(2) ? 64 : below(96);
  for (uint32_t l = 0; l < 64; ++l)
    a.address[l] = !(a.exec >> l & 1) ? uint32_t(random()) // garbage, as the engine passes it
                   : scattered        ? below(kLdsBytes + 16)
                   : rows == 0        ? base + l / 16 * rowStride
                   : rows == 1        ? base + l % 16 * a.size + l / 16 * rowStride
                                      : base + l % period * stride;
  if (tile && below(8)) { // a row of the tile or one element of a row, for each 16 lanes; rows apart, or the same
    a.exec = all;
    a.size = tile;
    const uint32_t rowBytes = 16 * tile, row = below(4) * rowBytes, element = below(2) ? 0 : tile;
    const uint32_t start = row + (element ? 0 : below(16) * tile), step = below(2) ? rowBytes : 0;
    for (uint32_t l = 0; l < 64; ++l)
      a.address[l] = start + l / 16 * step + l % 16 * element;
  } else if (below(4) == 0) // one lane out of line
    a.address[below(64)] = below(2) ? below(kLdsBytes) : base + below(4) * a.size;
  if (wholeGroups) { // the others' garbage looks like an active lane's address
    const uint32_t garbage = a.address[63 - uint32_t(std::countl_zero(a.exec))];
    for (uint32_t l = 0; l < 64; ++l)
      if (!(a.exec >> l & 1))
        a.address[l] = garbage;
  }
  constexpr uint32_t kinds[] = {abi::kAccessRead,
                                abi::kAccessRead,
                                abi::kAccessRead,
                                abi::kAccessWrite,
                                abi::kAccessWrite,
                                abi::kAccessRead | abi::kAccessAtomic,
                                abi::kAccessRead | abi::kAccessWrite | abi::kAccessAtomic};
  a.info = abi::accessInfo(kinds[below(std::size(kinds))], a.size);
  a.site = below(12);
  return a;
}

void runProgram(uint64_t seed, uint64_t &races, uint64_t &accesses) {
  std::mt19937_64 random(seed);
  checkLdsWithoutVectors(seed % 2);
  const uint32_t waves = 1 + random() % 6, granuleLog2 = random() % 3, waveSize = random() % 2 ? 64 : 32;
  const uint32_t tile = random() % 3 ? 0 : 1u << granuleLog2;
  Side fast(waves, granuleLog2), plain(waves, granuleLog2);
  std::vector<bool> ended(waves);
  uint8_t lds[1];
  void *data = nullptr, *dispatch = nullptr;
  for (int step = 0; step < 60; ++step) {
    const uint32_t w = random() % waves;
    if (random() % 12 == 0) { // a barrier of all waves that run, some of which complete nothing before it
      for (uint32_t i = 0; i < waves; ++i)
        if (!ended[i]) {
          const bool fences = random() % 8 != 0;
          for (Side *s : {&fast, &plain}) {
            if (fences)
              s->fence(i);
            s->arrive(i);
          }
        }
      for (uint32_t i = 0; i < waves; ++i)
        if (!ended[i])
          for (Side *s : {&fast, &plain})
            s->leave(i);
      continue;
    }
    if (ended[w])
      continue;
    if (random() % 40 == 0) {
      ended[w] = true;
      for (Side *s : {&fast, &plain})
        s->end(w);
      continue;
    }
    if (random() % 15 == 0)
      for (Side *s : {&fast, &plain})
        s->fence(w);
    const Access a = randomAccess(random, waveSize, tile);
    WaveView view{lds, kLdsBytes, {0, 0, 0}, w, waveSize, waves, 0, 0, data, dispatch};
    checkLds(fast.shadow, view, a.exec, a.address, a.size, a.info, a.site, 0);
    checkLanes(
        plain.shadow, view, a.exec, a.address, [&](unsigned) { return uint64_t(a.size); }, a.info, a.site, 0,
        accessorOf(plain.shadow, view.wave, a.info, a.site));
    ++accesses;
    ASSERT_TRUE(fast.shadow.cells == plain.shadow.cells) << "step " << step << " of seed " << seed;
    ASSERT_EQ(fast.table, plain.table) << "step " << step << " of seed " << seed;
    ASSERT_EQ(fast.shadow.counters.racesSeen, plain.shadow.counters.racesSeen)
        << "step " << step << " of seed " << seed;
    ASSERT_EQ(fast.shadow.counters.outsideShadow, plain.shadow.counters.outsideShadow)
        << "step " << step << " of seed " << seed;
    for (uint32_t i = 0; i < waves; ++i)
      ASSERT_EQ(fast.shadow.state.waves[i].evictedGeneration, plain.shadow.state.waves[i].evictedGeneration)
          << "step " << step << " of seed " << seed;
  }
  races += fast.shadow.counters.racesSeen;
}

TEST(LdsCheckTest, FastPathEqualsTheCore) {
  uint64_t races = 0, accesses = 0;
  for (uint64_t seed = 1; seed <= 6000 && !HasFatalFailure(); ++seed)
    runProgram(seed, races, accesses);
  // Random programs must exercise both outcomes.
  EXPECT_GT(races, accesses / 100);
  EXPECT_GT(accesses, 100000u);
}

} // namespace
} // namespace wavesan::cpu
