// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races of stores that write what memory holds already (stored_values.h).
#include "native_hooks_fixture.h"

namespace wavesan::cpu {
namespace {

constexpr uint32_t W = abi::kAccessWrite, R = abi::kAccessRead;

class StoredValuesTest : public NativeHooksTest {
protected:
  struct Memory final : HeldBytes {
    bool same;
    mutable std::vector<uint64_t> asked;
    explicit Memory(bool same) : same(same) {}
    bool held(uint64_t address, uint32_t) const override {
      asked.push_back(address);
      return same;
    }
  };
  /// The store of the hook before it.
  std::vector<uint64_t> store(uint32_t site, bool same, bool lds = true) {
    const Memory memory(same);
    with(1, [&](WaveView &v) { Hooks->storeFollows(v, lds, site, memory); });
    return memory.asked;
  }
  bool held(size_t record = 0) { return (races().at(record).current.access & abi::kSideValueHeld) != 0; }
};

TEST_F(StoredValuesTest, HeldEachTime) {
  start(2);
  access(0, W, 3);
  access(1, W, 4);
  const auto asked = store(4, true);
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(asked.size(), 64u);
  EXPECT_TRUE(held());
  EXPECT_EQ(races()[0].count, 64u);
  EXPECT_EQ(races()[0].raceClass, uint32_t(abi::RaceClass::Race));
  sync();
  access(0, W, 3);
  access(1, W, 4);
  store(4, true);
  EXPECT_EQ(races()[0].count, 128u);
  EXPECT_TRUE(held());
  finish();
}
TEST_F(StoredValuesTest, OnceNotHeldStaysSo) {
  start(2);
  for (bool same : {true, false, true}) {
    access(0, W, 3);
    access(1, W, 4);
    store(4, same);
    EXPECT_EQ(held(), same && races()[0].count == 64);
    sync();
  }
  finish();
}
TEST_F(StoredValuesTest, NobodyLearnsTheValue) {
  start(2);
  access(0, W, 3);
  access(1, W, 4); // and no store behind it
  EXPECT_FALSE(held());
  access(1, W, 5, 4, ~0ull, 256); // another access: no conflict, and what was asked before it is not
  EXPECT_TRUE(store(5, true).empty());
  EXPECT_FALSE(held());
  finish();
}
TEST_F(StoredValuesTest, AnotherStoreOfTheText) {
  start(2);
  access(0, W, 3);
  access(1, W, 4);
  EXPECT_TRUE(store(5, true).empty());
  EXPECT_TRUE(store(4, true).empty()) << "the other one may have changed these bytes";
  EXPECT_FALSE(held());
  finish();
}
TEST_F(StoredValuesTest, ReadsAndAtomicsAreNotAsked) {
  start(2);
  access(0, R, 3);
  access(1, W, 4);
  EXPECT_TRUE(store(4, true).empty());
  EXPECT_FALSE(held());
  sync();
  ldsAtomic(0, R | W, 5, abi::Scope::Agent, false, false, 256);
  access(1, W, 6, 0, 1, 256);
  EXPECT_TRUE(store(6, true).empty());
  finish();
  for (const abi::RaceRecord &r : races())
    EXPECT_EQ(r.current.access & abi::kSideValueHeld, 0);
}
TEST_F(StoredValuesTest, GlobalMemoryAndGenericAddresses) {
  start(2);
  alignas(64) int data[64] = {};
  global(0, W, 3, data);
  global(1, W, 4, data);
  const auto asked = store(4, true, false);
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked[0], reinterpret_cast<uint64_t>(data));
  EXPECT_TRUE(held());
  access(0, W, 5);
  uint64_t address[64] = {reinterpret_cast<uint64_t>(Lds.data())};
  with(1, [&](WaveView &v) {
    Hooks->genericAccess(v, 1, address, abi::accessInfo(W, 4), 6);
    EXPECT_TRUE(v.asksForValues);
  });
  EXPECT_EQ(store(6, true, false), std::vector<uint64_t>{reinterpret_cast<uint64_t>(Lds.data())});
  finish();
}

} // namespace
} // namespace wavesan::cpu
