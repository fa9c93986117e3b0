// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory_map.h"

#include <gtest/gtest.h>

using wavesan::hsa::MemoryMap;
using Kind = MemoryMap::Kind;

namespace {

const void *at(uint64_t address) { return reinterpret_cast<const void *>(address); }

struct MemoryMapTest : testing::Test {
  /// "KIND NUMBER +OFFSET of BYTES", "NAME +OFFSET of BYTES" or "".
  std::string find(uint64_t address, uint64_t dispatch) {
    auto place = map.find(address, dispatch);
    if (place.kind == Kind::Unknown)
      return "";
    std::string name = place.kind == Kind::DeviceVariable   ? place.name
                       : place.kind == Kind::Allocation     ? "a" + std::to_string(place.number)
                       : place.kind == Kind::RegisteredHost ? "h" + std::to_string(place.number)
                                                            : "k" + std::to_string(place.number);
    return name + " +" + std::to_string(place.offset) + " of " + std::to_string(place.bytes);
  }
  std::atomic<uint64_t> latest{0};
  MemoryMap map{latest};
};

} // namespace

TEST_F(MemoryMapTest, NumbersAndOffsets) {
  EXPECT_EQ(map.add(Kind::Allocation, at(0x1000), 256), 1u);
  EXPECT_EQ(map.add(Kind::KernelArguments, at(0x8000), 64), 1u);
  EXPECT_EQ(map.add(Kind::Allocation, at(0x1100), 16), 2u);
  EXPECT_EQ(find(0x1000, 1), "a1 +0 of 256");
  EXPECT_EQ(find(0x10ff, 1), "a1 +255 of 256");
  EXPECT_EQ(find(0x1100, 1), "a2 +0 of 16");
  EXPECT_EQ(find(0x1110, 1), "");
  EXPECT_EQ(find(0xfff, 1), "");
  EXPECT_EQ(find(0x8001, 1), "k1 +1 of 64");
  EXPECT_EQ(find(~0ull, 1), "");
}

TEST_F(MemoryMapTest, ReusedAddressesBelongToWhatLivedDuringTheDispatch) {
  map.add(Kind::Allocation, at(0x1000), 256);
  latest = 5;
  map.remove(Kind::Allocation, at(0x1000));
  latest = 7;
  map.add(Kind::Allocation, at(0x1000), 64);
  EXPECT_EQ(find(0x1004, 5), "a1 +4 of 256");
  EXPECT_EQ(find(0x1004, 6), ""); // after the first was freed, before the second
  EXPECT_EQ(find(0x1004, 8), "a2 +4 of 64");
  EXPECT_EQ(find(0x1080, 3), "a1 +128 of 256");
  EXPECT_EQ(find(0x1080, 8), "");
}

TEST_F(MemoryMapTest, AnAllocationAtAnAddressEndsTheOneThatTheMapDidNotSeeEnd) {
  map.add(Kind::Allocation, at(0x1000), 256);
  latest = 2;
  map.add(Kind::Allocation, at(0x1000), 64);
  EXPECT_EQ(find(0x1000, 2), "a1 +0 of 256");
  EXPECT_EQ(find(0x1000, 3), "a2 +0 of 64");
}

TEST_F(MemoryMapTest, RefusedFreesAreTakenBack) {
  map.add(Kind::Allocation, at(0x1000), 256);
  latest = 2;
  map.remove(Kind::Allocation, at(0x1000));
  map.restore(Kind::Allocation, at(0x1000));
  EXPECT_EQ(find(0x1000, 9), "a1 +0 of 256");
  map.remove(Kind::Allocation, at(0x1004)); // not the begin of anything
  map.remove(Kind::RegisteredHost, at(0x1000));
  EXPECT_EQ(find(0x1000, 9), "a1 +0 of 256");
}

TEST_F(MemoryMapTest, OverlappingRegisteredMemoryIsTheOldest) {
  map.add(Kind::RegisteredHost, at(0x1000), 0x1000);
  map.add(Kind::RegisteredHost, at(0x1800), 0x100);
  EXPECT_EQ(find(0x1810, 1), "h1 +2064 of 4096");
  latest = 1;
  map.remove(Kind::RegisteredHost, at(0x1000));
  EXPECT_EQ(find(0x1810, 2), "h2 +16 of 256");
  EXPECT_EQ(find(0x1810, 1), "h2 +16 of 256"); // still there; the other is only remembered
  EXPECT_EQ(find(0x1010, 1), "h1 +16 of 4096");
}

TEST_F(MemoryMapTest, RegisteredMemoryGoesByItsHostAddress) {
  map.add(Kind::RegisteredHost, at(0x9000), 256, at(0x1000));
  map.add(Kind::RegisteredHost, at(0xa000), 256, at(0x1000)); // locked twice
  EXPECT_EQ(find(0x9004, 1), "h1 +4 of 256");
  EXPECT_EQ(find(0x1004, 1), "h1 +4 of 256"); // commands are compared by the host's address
  EXPECT_EQ(find(0x1100, 1), "");
  latest = 1;
  map.remove(Kind::RegisteredHost, at(0x1000)); // the first one
  EXPECT_EQ(find(0x9004, 2), "");
  EXPECT_EQ(find(0xa004, 2), "h2 +4 of 256");
  map.restore(Kind::RegisteredHost, at(0x1000));
  EXPECT_EQ(find(0x9004, 2), "h1 +4 of 256");
}

TEST_F(MemoryMapTest, VariablesGoWithTheirExecutable) {
  map.addVariable(7, "counter", 0x5000, 4);
  map.addVariable(8, "table", 0x6000, 64);
  EXPECT_EQ(find(0x6010, 1), "table +16 of 64");
  latest = 1;
  map.removeExecutable(7);
  EXPECT_EQ(find(0x5000, 1), "counter +0 of 4");
  EXPECT_EQ(find(0x5000, 2), "");
  EXPECT_EQ(find(0x6000, 2), "table +0 of 64");
}

TEST_F(MemoryMapTest, ManyEndsAreForgottenAndNeverConfused) {
  for (uint64_t i = 0; i < 10000; ++i) {
    map.add(Kind::Allocation, at(0x1000), 16);
    ++latest;
    map.remove(Kind::Allocation, at(0x1000));
  }
  EXPECT_EQ(find(0x1000, 10000), "a10000 +0 of 16");
  EXPECT_EQ(find(0x1000, 9000), "a9000 +0 of 16");
  EXPECT_EQ(find(0x1000, 1), "");
}
