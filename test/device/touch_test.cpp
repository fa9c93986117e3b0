// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Notes of what is written by the device runtime (runtime/device/touch.h), compiled for the host.
#include "global_dispatch.h"

#include "wavesan/abi/touch_map.h"

#include <set>

namespace wavesan {
namespace {

using namespace test;

constexpr uint64_t kChunk = abi::kTouchChunk;
constexpr uint32_t kStore = abi::kAccessWrite;

/// Three regions: two side by side, one apart; the last chunk of each is a short one, but for the first's.
class Touch : public WithLds {
protected:
  Touch() {
    const uint64_t base = (uint64_t(Memory.data()) + 64) / 64 * 64 + 24; // regions begin anywhere
    const uint64_t begins[] = {base, base + 4 * kChunk, base + 10 * kChunk},
                   bytes[] = {4 * kChunk, 3 * kChunk + 5, 100};
    uint64_t at = uint64_t(Bytes.data()) + 8; // bytes around that nobody may write
    for (int i = 0; i < 3; ++i) {
      Regions[i] = {begins[i], bytes[i], at};
      at += abi::touchChunks(bytes[i]);
    }
    EXPECT_EQ(at - uint64_t(Bytes.data()), 8u + 4 + 4 + 1);
    Map = {uint64_t(Regions), 3, 0};
  }
  uint64_t at(int region, int64_t offset) const { return Regions[region].begin + uint64_t(offset); }

  /// Numbers of the chunks that are noted, regions one behind the other; nothing else is written.
  std::set<int> noted() {
    std::set<int> found;
    for (size_t i = 0; i < Bytes.size(); ++i)
      if (Bytes[i]) {
        EXPECT_EQ(Bytes[i], 1);
        found.insert(int(i) - 8);
      }
    std::fill(Bytes.begin(), Bytes.end(), uint8_t(0));
    return found;
  }
  std::set<int> notedBy(uint64_t address, uint64_t size, uint32_t bits = kStore) {
    Dispatch d(1, 1);
    run(d, address, size, bits);
    return noted();
  }
  void run(Dispatch &d, uint64_t address, uint64_t size, uint32_t bits) {
    d.Context.touchMap = uint64_t(&Map);
    if (size > 1 << 20)
      d.Context.globalMemory = 0; // it would take long
    spoilLds();
    beginWorkgroup(d.Context, 0, 1, [&](uint32_t) { return d.state(0, 0); });
    auto *p = reinterpret_cast<void *>(address);
    if (size <= 16)
      __wavesan_global_access(d.state(0, 0), p, abi::accessInfo(bits, uint32_t(size)), 1);
    else
      __wavesan_global_range(d.state(0, 0), p, size, abi::accessInfo(bits, 0), 1);
  }

  std::vector<char> Memory = std::vector<char>(16 * kChunk);
  std::vector<uint8_t> Bytes = std::vector<uint8_t>(32);
  abi::TouchRegion Regions[3];
  abi::TouchMap Map;
};

TEST_F(Touch, EveryWidthAndEveryBorder) {
  for (const uint32_t size : {1u, 2u, 4u, 8u, 12u, 16u})
    for (const int64_t chunk : {0, 1, 3}) {
      const auto first = int64_t(chunk * kChunk);
      EXPECT_EQ(notedBy(at(0, first), size), (std::set<int>{int(chunk)}));
      EXPECT_EQ(notedBy(at(0, first + int64_t(kChunk) - size), size), (std::set<int>{int(chunk)}));
      for (uint32_t behind = 1; behind < size;
           ++behind) // so many bytes are in the next one, of the next region at last
        EXPECT_EQ(notedBy(at(0, first + int64_t(kChunk) - size + behind), size),
                  (std::set<int>{int(chunk), int(chunk) + 1}));
    }
}

TEST_F(Touch, AtTheEndsOfRegions) {
  EXPECT_EQ(notedBy(at(0, -4), 4), std::set<int>{});
  EXPECT_EQ(notedBy(at(0, -4), 8), std::set<int>{0}); // begins in front of it
  EXPECT_EQ(notedBy(at(1, int64_t(3 * kChunk) + 4), 1), std::set<int>{7});
  EXPECT_EQ(notedBy(at(1, int64_t(3 * kChunk) + 5), 1), std::set<int>{});
  EXPECT_EQ(notedBy(at(2, 99), 4), std::set<int>{8});
  EXPECT_EQ(notedBy(at(2, 100), 4), std::set<int>{});
  EXPECT_EQ(notedBy(8, 4), std::set<int>{});
  EXPECT_EQ(notedBy(uint64_t(1) << 62, 4), std::set<int>{});
}

TEST_F(Touch, Ranges) {
  EXPECT_EQ(notedBy(at(0, 1), kChunk), (std::set<int>{0, 1}));
  EXPECT_EQ(notedBy(at(0, 0), kChunk), std::set<int>{0});
  EXPECT_EQ(notedBy(at(0, int64_t(kChunk) - 1), kChunk + 2), (std::set<int>{0, 1, 2}));
  EXPECT_EQ(notedBy(at(0, int64_t(3 * kChunk)), 8 * kChunk), (std::set<int>{3, 4, 5, 6, 7, 8})); // over a gap
  EXPECT_EQ(notedBy(at(0, 1), 0), std::set<int>{});
  // The check knows 32 bits of a length: more is all that follows.
  EXPECT_EQ(notedBy(at(1, 0), uint64_t(1) << 40), (std::set<int>{4, 5, 6, 7, 8}));
}

TEST_F(Touch, WritesAlone) {
  EXPECT_EQ(notedBy(at(0, 0), 4, abi::kAccessRead), std::set<int>{});
  EXPECT_EQ(notedBy(at(0, 0), 4, abi::kAccessRead | abi::kAccessWrite | abi::kAccessAtomic), std::set<int>{0});
}

TEST_F(Touch, GenericPointers) {
  Dispatch d(1, 1);
  run(d, at(0, 0), 4, abi::kAccessRead);
  __wavesan_generic_access(d.state(0, 0), reinterpret_cast<void *>(at(2, 0)), abi::accessInfo(kStore, 4), 1);
  EXPECT_EQ(noted(), std::set<int>{8});
  __wavesan_generic_range(d.state(0, 0), reinterpret_cast<void *>(at(0, 0)), kChunk + 1, abi::accessInfo(kStore, 0), 1);
  EXPECT_EQ(noted(), (std::set<int>{0, 1}));
}

// The check goes on as ever, and what it has no memory for is noted all the same.
TEST_F(Touch, BesideTheCheck) {
  Dispatch d(2, 1);
  d.Context.touchMap = uint64_t(&Map);
  spoilLds();
  for (uint32_t g = 0; g < 2; ++g) {
    d.DispatchOf(g);
    beginWorkgroup(d.Context, g, 1, [&](uint32_t) { return d.state(g, 0); });
  }
  for (uint32_t g = 0; g < 2; ++g)
    d.wave(g).write(reinterpret_cast<void *>(at(0, 0)));
  EXPECT_EQ(d.racesAt(reinterpret_cast<void *>(at(0, 0))), 1u);
  EXPECT_EQ(noted(), std::set<int>{0});
  Dispatch unchecked(1, 1);
  unchecked.Context.globalMemory = 0;
  run(unchecked, at(0, int64_t(kChunk)), 4, kStore);
  EXPECT_EQ(unchecked.counters().globalAccesses, 0u);
  EXPECT_EQ(noted(), std::set<int>{1});
}

// A dispatch with both.
TEST_F(Touch, BesideDelays) {
  Dispatch d(1, 1);
  abi::Delays delays{};
  delays.first = {1, {0, 0, 0}, 0};
  delays.second = {2, {1, 0, 0}, 0};
  d.Context.delays = uint64_t(&delays);
  run(d, at(0, 0), 4, kStore);
  EXPECT_EQ(noted(), std::set<int>{0});
  EXPECT_EQ(delays.passed, 1u);
}

TEST_F(Touch, NoMapAndNoRegions) {
  Dispatch d(1, 1);
  d.wave(0).write(reinterpret_cast<void *>(at(0, 0)));
  EXPECT_EQ(noted(), std::set<int>{});
  Map.regionCount = 0;
  EXPECT_EQ(notedBy(at(0, 0), 4), std::set<int>{});
}

} // namespace
} // namespace wavesan
