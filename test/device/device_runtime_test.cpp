// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device runtime's hooks, compiled for the host with waves of one lane, against the detector of runtime/core on
// random programs: the same conflicts, the same counters, with cells in LDS and in the slot pool.
#include "device_on_host.h"

#include <map>
#include <random>
#include <vector>

#include "workgroup_model.h"

namespace wavesan {
namespace {

using namespace test;
using namespace device;

/// One workgroup of the device runtime.
class DeviceWorkgroup {
public:
  DeviceWorkgroup(uint32_t waves, uint32_t ldsBytes, uint32_t granuleLog2, bool cellsInLds)
      : States(waves), Table(sizeof(abi::RaceTable) + kCapacity * sizeof(abi::RaceRecord)) {
    raceTable()->capacity = kCapacity;
    Pool.assign(abi::shadowBytes(ldsBytes, granuleLog2) * 2, 0x5a);
    Context.raceTable = uint64_t(Table.data());
    Context.counters = uint64_t(&Counters);
    if (!cellsInLds) {
      Context.slotPool = uint64_t(Pool.data());
      Context.slotLocks = uint64_t(Locks);
      Context.slotCount = 2;
      Context.slotBytes = uint32_t(Pool.size() / 2);
    }
    Context.ldsBytes = ldsBytes;
    Context.granuleLog2 = granuleLog2;
    setShape(Context, 8, waves);
    spoilLds();
    beginWorkgroup(Context, 7, waves, [this](uint32_t w) { return state(w); });
  }
  device::PrivateState *state(uint32_t wave) { return (device::PrivateState *)&States[wave]; }
  abi::RaceTable *raceTable() { return reinterpret_cast<abi::RaceTable *>(Table.data()); }
  std::map<uint64_t, abi::RaceRecord> races() {
    std::map<uint64_t, abi::RaceRecord> found;
    auto *records = reinterpret_cast<abi::RaceRecord *>(raceTable() + 1);
    for (uint32_t i = 0; i < kCapacity; ++i)
      if (records[i].ready)
        found[records[i].key] = records[i];
    return found;
  }

  static constexpr uint32_t kCapacity = 4096;
  abi::DispatchContext Context{};
  abi::DispatchCounters Counters{};
  uint32_t Locks[2]{};
  std::vector<device::WaveState> States;
  std::vector<char> Pool, Table;
};

class DeviceRuntime : public WithLds {
protected:
};

struct Key {
  uint32_t current, previous;
  abi::RaceClass raceClass;
  auto operator<=>(const Key &) const = default;
};

void runBoth(uint64_t seed, bool cellsInLds, uint64_t &conflicts, uint64_t &outsides) {
  SCOPED_TRACE("seed " + std::to_string(seed) + (cellsInLds ? ", cells in LDS" : ", cells in the pool"));
  std::mt19937_64 random(seed);
  auto below = [&](uint32_t n) { return uint32_t(random() % n); };
  const uint32_t waves = 1 + below(6), granuleLog2 = below(3), granule = 1u << granuleLog2, ldsBytes = 16u << below(3);
  const bool bare = below(3) == 0;
  WorkgroupModel model(waves, ldsBytes, granuleLog2);
  DeviceWorkgroup device(waves, ldsBytes, granuleLog2, cellsInLds);
  std::vector<bool> ended(waves);
  uint32_t site = 0, checked = 0;
  uint64_t outside = 0;

  auto access = [&](uint32_t w) {
    const bool write = below(2), atomic = below(4) == 0, isRange = below(6) == 0;
    uint32_t size = std::max(granule, 1u << below(5));
    uint32_t address = below(ldsBytes / granule) << granuleLog2;
    if (below(20) == 0)
      address += ldsBytes;
    if (isRange)
      size = below(3) * granule * 4;
    // An atomic of one wave's scope is a plain access to the others.
    const bool narrow = atomic && below(4) == 0;
    const uint32_t bits = (write ? abi::kAccessWrite : abi::kAccessRead) | (atomic ? abi::kAccessAtomic : 0u);
    const abi::Scope scope = narrow ? abi::Scope::Wavefront : abi::Scope::Workgroup;
    const auto info = [&](uint32_t bytes) { return abi::atomicInfo(bits, bytes, scope, false, false); };
    const uint32_t s = site++;
    if (isRange)
      __wavesan_lds_range(device.state(w), address, size, info(0), s, abi::kNoVariable);
    else
      __wavesan_lds_access(device.state(w), address, info(size), s, 0);
    outside += model.access({w, 0, s}, address, size, write, atomic && !narrow).outsideShadow;
    ++checked;
  };
  auto fence = [&](uint32_t w) {
    __wavesan_fence(device.state(w), abi::fenceInfo(abi::kFenceRelease | abi::kFenceLds, abi::Scope::Workgroup));
    model.complete(w);
  };

  for (uint32_t phase = 0, phases = 1 + below(6); phase < phases; ++phase) {
    for (uint32_t n = below(24); n > 0; --n) {
      const uint32_t w = below(waves);
      if (ended[w])
        continue;
      if (below(8) == 0)
        fence(w);
      else
        access(w);
    }
    for (uint32_t w = 0; w < waves; ++w)
      if (!ended[w]) {
        if (!bare || below(2))
          fence(w);
        __wavesan_barrier_arrive(device.state(w), 0);
        model.arrive(w);
      }
    for (uint32_t w = 0; w < waves; ++w)
      if (!ended[w]) {
        __wavesan_barrier_leave(device.state(w), 0);
        model.leave(w);
        if (!bare)
          fence(w);
      }
    for (uint32_t w = 0; w < waves; ++w)
      if (!ended[w] && below(10) == 0) {
        __wavesan_kernel_end(device.state(w));
        model.end(w);
        ended[w] = true;
      }
  }
  for (uint32_t w = 0; w < waves; ++w)
    if (!ended[w])
      __wavesan_kernel_end(device.state(w));

  std::map<Key, uint32_t> expected;
  std::map<Key, core::ConflictRange> first;
  for (const Found &f : model.Conflicts) {
    Key key{f.current.site, f.range.previous.site(), f.range.raceClass};
    ++expected[key];
    first.try_emplace(key, f.range);
  }
  std::map<Key, uint32_t> actual;
  uint64_t divergences = 0;
  for (const auto &[packed, r] : device.races()) {
    if (abi::isDivergence(abi::RaceClass(r.raceClass))) { // waves that ended before the others
      EXPECT_EQ(r.raceClass, uint32_t(abi::RaceClass::EarlyExit));
      divergences += r.count;
      continue;
    }
    Key key{r.current.site, r.previous.site, abi::RaceClass(r.raceClass)};
    actual[key] = r.count;
    ASSERT_TRUE(first.contains(key));
    EXPECT_EQ(r.address, first[key].address);
    EXPECT_EQ(r.size, first[key].size);
    EXPECT_EQ(r.previous.wave, first[key].previous.wave());
    EXPECT_EQ((r.previous.access & abi::kAccessWrite) != 0, first[key].previousWrites);
    EXPECT_EQ((r.previous.access & abi::kAccessAtomic) != 0, first[key].previous.atomic());
    EXPECT_TRUE(r.variableOffset == r.address || r.variableOffset == abi::kNoVariable);
    EXPECT_EQ(r.workgroup[0], 7u);
    EXPECT_EQ(r.space, uint32_t(abi::RaceSpace::Lds));
  }
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(device.Counters.racesSeen, model.Conflicts.size() + divergences);
  EXPECT_EQ(device.Counters.racesDropped, 0u);
  EXPECT_EQ(device.Counters.historyOverflow, model.Overflow);
  EXPECT_EQ(device.Counters.outsideShadow, outside);
  EXPECT_EQ(device.Counters.checkedAccesses, checked);
  EXPECT_EQ(device.Counters.generationOverflow, 0u);
  EXPECT_EQ(device.Locks[0] + device.Locks[1], 0u) << "the slot was not given back";
  conflicts += model.Conflicts.size();
  outsides += outside;
}

/// All waves but those in `ended` pass a barrier at their sites.
void passBarrier(DeviceWorkgroup &device, const std::vector<uint32_t> &sites, uint32_t ended = 0) {
  for (uint32_t w = 0; w < sites.size(); ++w)
    if (!(ended >> w & 1))
      __wavesan_barrier_arrive(device.state(w), sites[w]);
  for (uint32_t w = 0; w < sites.size(); ++w)
    if (!(ended >> w & 1))
      __wavesan_barrier_leave(device.state(w), sites[w]);
}

TEST_F(DeviceRuntime, WavesAtOneBarrierAreInOrder) {
  DeviceWorkgroup device(4, 64, 2, true);
  for (uint32_t site = 1; site < 6; ++site)
    passBarrier(device, {site, site, site, site});
  for (uint32_t w = 0; w < 4; ++w)
    __wavesan_kernel_end(device.state(w));
  EXPECT_TRUE(device.races().empty());
}
TEST_F(DeviceRuntime, WavesAtDifferentBarriers) {
  DeviceWorkgroup device(4, 64, 2, true);
  passBarrier(device, {1, 1, 1, 1});
  passBarrier(device, {2, 2, 3, 3});
  const auto races = device.races();
  ASSERT_EQ(races.size(), 2u); // seen from both sides
  for (const auto &[key, r] : races) {
    EXPECT_EQ(r.raceClass, uint32_t(abi::RaceClass::BarrierDivergence));
    EXPECT_EQ(r.space, uint32_t(abi::RaceSpace::None));
    EXPECT_EQ(r.epoch, 1u);
    EXPECT_EQ(r.workgroup[0], 7u);
    const abi::DivergenceDetail d = abi::divergenceOf(r);
    EXPECT_TRUE(d.bySite);
    const bool two = r.previous.site == 2;
    EXPECT_EQ(r.current.site, two ? 3u : 2u);
    EXPECT_EQ(d.waves[0], two ? 3u : 12u);
    EXPECT_EQ(d.waves[1], two ? 12u : 3u);
    EXPECT_TRUE(d.waves[0] >> r.previous.wave & 1);
    EXPECT_TRUE(d.waves[1] >> r.current.wave & 1);
  }
}
TEST_F(DeviceRuntime, WavesThatEndBeforeABarrier) {
  DeviceWorkgroup device(4, 64, 2, true);
  passBarrier(device, {1, 1, 1, 1});
  __wavesan_kernel_end(device.state(1));
  __wavesan_kernel_end(device.state(2));
  passBarrier(device, {5, 0, 0, 5}, 6);
  const auto races = device.races();
  ASSERT_EQ(races.size(), 1u); // only wave 0 has one of them behind it
  const abi::RaceRecord r = races.begin()->second;
  EXPECT_EQ(r.raceClass, uint32_t(abi::RaceClass::EarlyExit));
  EXPECT_EQ(r.previous.site, 5u);
  EXPECT_EQ(r.previous.wave, 0u);
  EXPECT_EQ(r.current.site, abi::kNoSite);
  EXPECT_EQ(r.current.wave, 1u);
  EXPECT_EQ(r.epoch, 1u);
  EXPECT_EQ(abi::divergenceOf(r).waves[0], 9u);
  EXPECT_EQ(abi::divergenceOf(r).waves[1], 6u);
  // All that are left end: nobody waits for them.
  __wavesan_kernel_end(device.state(0));
  __wavesan_kernel_end(device.state(3));
  EXPECT_EQ(device.races().size(), 1u);
}

TEST_F(DeviceRuntime, AgreesWithTheDetectorOnRandomPrograms) {
  uint64_t conflicts = 0, outsides = 0;
  for (uint64_t seed = 1; seed <= 4000 && !HasFailure(); ++seed)
    runBoth(seed, seed % 2 == 0, conflicts, outsides);
  EXPECT_GT(conflicts, 10000u); // the programs are not all clean
  EXPECT_GT(outsides, 1000u);
}

TEST_F(DeviceRuntime, GenerationsThatRunOutAreCountedPerAccess) {
  DeviceWorkgroup device(1, 64, 2, true);
  auto *record = reinterpret_cast<abi::WaveRecord *>(uint64_t(device.States[0].record));
  record->generation = core::Slot::kMaxGeneration;
  __wavesan_lds_access(device.state(0), 0, abi::accessInfo(abi::kAccessWrite, 4), 1, abi::kNoVariable);
  __wavesan_kernel_end(device.state(0));
  EXPECT_EQ(device.Counters.generationOverflow, 1u);
  EXPECT_EQ(device.Counters.checkedAccesses, 1u);
}

TEST_F(DeviceRuntime, GenericAddressesOutsideLdsAreNotChecked) {
  DeviceWorkgroup device(2, 64, 2, true);
  int global = 0;
  __wavesan_generic_access(device.state(0), &global, abi::accessInfo(abi::kAccessWrite, 4), 1);
  __wavesan_generic_access(device.state(0), reinterpret_cast<void *>(uint64_t(16)),
                           abi::accessInfo(abi::kAccessWrite, 4), 2);
  __wavesan_generic_access(device.state(1), reinterpret_cast<void *>(uint64_t(16)),
                           abi::accessInfo(abi::kAccessRead, 4), 3);
  __wavesan_kernel_end(device.state(0));
  __wavesan_kernel_end(device.state(1));
  EXPECT_EQ(device.Counters.checkedAccesses, 2u);
  EXPECT_EQ(device.races().size(), 1u);
}

} // namespace
} // namespace wavesan
