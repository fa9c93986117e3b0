// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native hooks driven as the engine drives them, wave by wave.
#ifndef WAVESAN_TEST_NATIVE_HOOKS_FIXTURE_H
#define WAVESAN_TEST_NATIVE_HOOKS_FIXTURE_H

#include "native_hooks.h"

#include <gtest/gtest.h>
#include <vector>

namespace wavesan::cpu {

class NativeHooksTest : public testing::Test {
protected:
  static constexpr uint32_t LdsBytes = 512;
  uint32_t Capacity = 16; ///< of the race table
  void start(uint32_t waves, uint32_t granuleLog2 = 2) {
    Waves = waves;
    Table.assign(sizeof(abi::RaceTable) + Capacity * sizeof(abi::RaceRecord), 0);
    head()->capacity = Capacity;
    Context = {};
    Context.raceTable = reinterpret_cast<uint64_t>(Table.data());
    Context.counters = reinterpret_cast<uint64_t>(&Counters);
    Context.ldsBytes = LdsBytes;
    Context.granuleLog2 = granuleLog2;
    Context.flags = Flags;
    Context.shadowBudget = Budget;
    const uint32_t size[3] = {64 * waves, 1, 1}, grid[3] = {640 * waves, 10, 10};
    for (int i = 0; i < 3; ++i) {
      Context.workgroupSize[i] = size[i];
      Context.gridSize[i] = grid[i];
    }
    Counters = {};
    begin();
  }
  void begin() {
    Data = nullptr;
    for (uint32_t w = 0; w < Waves; ++w)
      with(w, [&](WaveView &v) { Hooks->kernelBegin(v, ~0ull, &Context); });
  }
  void finish() {
    for (uint32_t w = 0; w < Waves; ++w)
      with(w, [&](WaveView &v) { Hooks->kernelEnd(v, ~0ull); });
    Hooks->workgroupEnd(Data);
  }
  void TearDown() override { Hooks->dispatchEnd(Dispatch); }
  void nextGroup() {
    finish();
    ++Group;
    begin();
  }
  void global(uint32_t wave, uint32_t bits, uint32_t site, const void *at, uint32_t stride = 4) {
    uint64_t address[64];
    for (uint32_t i = 0; i < 64; ++i)
      address[i] = reinterpret_cast<uint64_t>(at) + i * stride;
    with(wave, [&](WaveView &v) { Hooks->globalAccess(v, ~0ull, address, abi::accessInfo(bits, 4), site); });
  }
  void atomic(uint32_t wave, uint32_t bits, uint32_t site, const void *at, bool acquire, bool release,
              abi::Scope scope = abi::Scope::Agent) {
    uint64_t address[64] = {reinterpret_cast<uint64_t>(at)};
    const uint32_t info = abi::atomicInfo(bits | abi::kAccessAtomic, 4, scope, acquire, release);
    const uint32_t both = abi::kFenceLds | abi::kFenceGlobal | abi::kFenceImplied;
    with(wave, [&](WaveView &v) {
      if (release)
        Hooks->fence(v, 1, abi::fenceInfo(abi::kFenceRelease | both, scope));
      Hooks->globalAccess(v, 1, address, info, site);
      Hooks->atomicDone(v, 1, address, info, site, (bits & abi::kAccessWrite) ? 1 : 0);
    });
  }
  template <class F> void with(uint32_t wave, F f) {
    WaveView v{Lds.data(), uint32_t(Lds.size()), {Group, 8, 9}, wave, 64, Waves, 0, 0, Data, Dispatch};
    f(v);
  }
  void access(uint32_t wave, uint32_t bits, uint32_t site, uint32_t stride = 4, LaneMask exec = ~0ull,
              uint32_t base = 0) {
    uint32_t address[64];
    for (uint32_t i = 0; i < 64; ++i)
      address[i] = base + i * stride;
    with(wave, [&](WaveView &v) { Hooks->ldsAccess(v, exec, address, abi::accessInfo(bits, 4), site, 0); });
  }
  void ldsAtomic(uint32_t wave, uint32_t bits, uint32_t site, abi::Scope scope, bool acquire, bool release,
                 uint32_t base = 0) {
    uint32_t address[64] = {base};
    uint64_t flat[64] = {reinterpret_cast<uint64_t>(Lds.data()) + base};
    const uint32_t info = abi::atomicInfo(bits | abi::kAccessAtomic, 4, scope, acquire, release);
    const uint32_t both = abi::kFenceLds | abi::kFenceGlobal | abi::kFenceImplied;
    with(wave, [&](WaveView &v) {
      if (release)
        Hooks->fence(v, 1, abi::fenceInfo(abi::kFenceRelease | both, scope));
      Hooks->ldsAccess(v, 1, address, info, site, 0);
      Hooks->atomicDone(v, 1, flat, info, site, (bits & abi::kAccessWrite) ? 1 : 0);
      if (acquire)
        Hooks->fence(v, 1, abi::fenceInfo(abi::kFenceAcquire | both, scope));
    });
  }
  void sync() {
    const uint32_t info = abi::fenceInfo(abi::kFenceRelease | abi::kFenceLds, abi::Scope::Workgroup);
    for (uint32_t w = 0; w < Waves; ++w)
      with(w, [&](WaveView &v) {
        Hooks->fence(v, ~0ull, info);
        Hooks->barrierArrive(v, ~0ull, 0);
      });
    for (uint32_t w = 0; w < Waves; ++w)
      with(w, [&](WaveView &v) {
        Hooks->barrierLeave(v, ~0ull, 0);
        Hooks->fence(v, ~0ull, info);
      });
  }
  abi::RaceTable *head() { return reinterpret_cast<abi::RaceTable *>(Table.data()); }
  std::vector<abi::RaceRecord> races() {
    auto *records = reinterpret_cast<abi::RaceRecord *>(head() + 1);
    std::vector<abi::RaceRecord> out;
    for (uint32_t i = 0; i < Capacity; ++i)
      if (records[i].key)
        out.push_back(records[i]);
    return out;
  }

  std::unique_ptr<HookHandler> Hooks = makeNativeHooks();
  std::vector<uint8_t> Lds = std::vector<uint8_t>(4096);
  std::vector<uint8_t> Table;
  abi::DispatchContext Context;
  abi::DispatchCounters Counters;
  void *Data = nullptr, *Dispatch = nullptr;
  uint32_t Waves = 0, Group = 7;
  uint32_t Flags = 0;  ///< of contexts that start() makes
  uint64_t Budget = 0; ///< the same
};

} // namespace wavesan::cpu

#endif // WAVESAN_TEST_NATIVE_HOOKS_FIXTURE_H
