// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of global memory that the device runtime is told to record (option further_passes).
#include "global_dispatch.h"

namespace wavesan {
namespace {

using namespace test;

class GlobalWindow : public WithLds {};

// What lies outside is neither recorded nor counted as unchecked; whatever of an access is inside is recorded.
TEST_F(GlobalWindow, OnlyPartOfMemoryIsRecorded) {
  struct alignas(1 << 16) Units {
    char bytes[3 << 16];
  };
  static Units units;
  const auto first = uint32_t(uint64_t(&units) >> 16);
  for (uint32_t part = 0; part < 3; ++part) {
    Dispatch d(2, 1, 256, 64, 5, nullptr, first + part, first + part);
    for (uint32_t g = 0; g < 2; ++g)
      for (uint32_t unit = 1; unit < 3; ++unit)
        d.wave(g).write(units.bytes + (unit << 16) - 4, 8); // across a border
    for (uint32_t granule = 0; granule < 4; ++granule) {
      const char *at = units.bytes + ((granule / 2 + 1) << 16) - (granule % 2 ? 0 : 4);
      EXPECT_EQ(d.racesAt(at), uint64_t((granule + 1) / 2 == part)) << granule << " of part " << part;
    }
    EXPECT_EQ(d.counters().outsideBudget, 0u);
  }
}

// Too little memory inside of the window is counted as ever.
TEST_F(GlobalWindow, WhatHasNoRoomCounts) {
  static char bytes[4 << 8];
  const auto unit = [](const char *p) { return uint32_t(uint64_t(p) >> 16); };
  for (const bool inside : {false, true}) {
    Dispatch d(1, 1, 256, 2, 5, nullptr, inside ? unit(bytes) : 0,
               inside ? unit(bytes + sizeof(bytes)) : unit(bytes) - 1);
    for (uint32_t page = 0; page < 4; ++page)
      d.wave(0).write(bytes + (page << 8));
    EXPECT_EQ(d.counters().outsideBudget, inside ? 2u : 0u);
  }
}

} // namespace
} // namespace wavesan
