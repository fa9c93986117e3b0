// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dispatch whose accesses to global memory the device runtime checks, compiled for the host with waves of one lane:
// workgroups in a given interleaving.
#ifndef WAVESAN_TEST_GLOBAL_DISPATCH_H
#define WAVESAN_TEST_GLOBAL_DISPATCH_H

#include "device_on_host.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace wavesan::test {

constexpr uint64_t kLdsOfGroup = 1 << 14;

/// A dispatch of workgroups with `waves` waves each.
class Dispatch {
public:
  Dispatch(uint32_t groups, uint32_t waves, uint32_t rows = 256, uint32_t pages = 64, uint32_t stamp = 5,
           std::vector<char> *memory = nullptr, uint32_t firstUnit = 0, uint32_t lastUnit = ~0u,
           const std::function<void(abi::DispatchContext &)> &prepare = {})
      : Waves(waves), States(groups * waves), Table(sizeof(abi::RaceTable) + kCapacity * sizeof(abi::RaceRecord)) {
    raceTable()->capacity = kCapacity;
    Context.raceTable = uint64_t(Table.data());
    Context.counters = uint64_t(&Counters);
    setShape(Context, groups, waves);
    Context.globalMemory = uint64_t(&Global);
    Global.waveBits = uint32_t(std::bit_width(waves - 1));
    Global.generationBits = 20;
    Global.rowEntries = groups << Global.waveBits;
    Global.rowCount = Global.lockCount = rows;
    Global.variableCount = 64;
    Global.pageCount = pages;
    Global.stamp = stamp;
    Global.firstUnit = firstUnit;
    Global.lastUnit = lastUnit;
    const uint64_t pagesAt = pages * 8, orderAt = pagesAt + uint64_t(pages) * abi::kGlobalPageBytes;
    if (!memory) {
      Own.assign(orderAt + 64 * sizeof(abi::GlobalVariable) + rows * 4 +
                     Global.rowEntries * (sizeof(abi::GlobalWave) + 4 * rows),
                 0x5a);
      memory = &Own;
    }
    Global.keys = uint64_t(memory->data());
    Global.pages = Global.keys + pagesAt;
    Global.order = Global.keys + orderAt;
    if (prepare)
      prepare(Context);
    spoilLds();
    for (uint32_t g = 0; g < groups; ++g) {
      DispatchOf(g);
      beginWorkgroup(Context, g, waves, [this, g](uint32_t w) { return state(g, w); });
    }
  }

  struct Wave {
    Dispatch &d;
    uint32_t group, wave;
    device::PrivateState *state() const { return d.state(group, wave); }
    void read(const void *p, uint32_t size = 4) { access(p, abi::accessInfo(abi::kAccessRead, size)); }
    void write(const void *p, uint32_t size = 4) { access(p, abi::accessInfo(abi::kAccessWrite, size)); }
    void access(const void *p, uint32_t info) {
      __wavesan_global_access(state(), const_cast<void *>(p), info, d.Site++);
    }
    void fence(uint32_t bits, abi::Scope scope) {
      __wavesan_fence(state(), abi::fenceInfo(bits | abi::kFenceGlobal | abi::kFenceLds, scope));
    }
    /// __threadfence()
    void threadfence() { fence(abi::kFenceAcquire | abi::kFenceRelease | abi::kFenceSeqCst, abi::Scope::Agent); }
    /// An atomic as the pass instruments it.
    void atomic(const void *p, uint32_t bits, abi::Scope scope, bool acquire, bool release, bool wrote = true) {
      const uint32_t info = abi::atomicInfo(bits | abi::kAccessAtomic, 4, scope, acquire, release);
      if (release)
        fence(abi::kFenceRelease | abi::kFenceImplied, scope);
      access(p, info);
      __wavesan_atomic_done(state(), const_cast<void *>(p), info, d.Site - 1, wrote && (bits & abi::kAccessWrite));
      if (acquire)
        fence(abi::kFenceAcquire | abi::kFenceImplied, scope);
    }
    /// A compare-exchange, and its two halves.
    void exchange(const void *p, bool acquire, bool release, bool wrote, abi::Scope scope = abi::Scope::Agent) {
      begin(p, acquire, release, scope);
      __wavesan_atomic_done(state(), const_cast<void *>(p), exchangeInfo(acquire, release, scope), d.Site - 1, wrote);
      if (acquire)
        fence(abi::kFenceAcquire | abi::kFenceImplied, scope);
    }
    void begin(const void *p, bool acquire, bool release, abi::Scope scope = abi::Scope::Agent) {
      if (release)
        fence(abi::kFenceRelease | abi::kFenceImplied, scope);
      access(p, exchangeInfo(acquire, release, scope));
    }
    static uint32_t exchangeInfo(bool acquire, bool release, abi::Scope scope) {
      constexpr uint32_t kBits = abi::kAccessRead | abi::kAccessWrite | abi::kAccessAtomic;
      return abi::atomicInfo(kBits, 4, scope, acquire, release) | abi::kAtomicMayFail | abi::kAtomicFailureRelaxed;
    }
    void add(const void *p, bool acquire, bool release, abi::Scope scope = abi::Scope::Agent) {
      atomic(p, abi::kAccessRead | abi::kAccessWrite, scope, acquire, release);
    }
    void load(const void *p, bool acquire, abi::Scope scope = abi::Scope::Agent) {
      atomic(p, abi::kAccessRead, scope, acquire, false);
    }
    void store(const void *p, bool release, abi::Scope scope = abi::Scope::Agent) {
      atomic(p, abi::kAccessWrite, scope, false, release);
    }
  };
  Wave wave(uint32_t group, uint32_t w = 0) { return {*this, group, w}; }
  /// All waves of a workgroup; with the fences of __syncthreads() or without.
  void barrier(uint32_t group, bool fences = true) {
    for (uint32_t w = 0; w < Waves; ++w) {
      if (fences)
        wave(group, w).fence(abi::kFenceRelease, abi::Scope::Workgroup);
      __wavesan_barrier_arrive(state(group, w), 0);
    }
    for (uint32_t w = 0; w < Waves; ++w) {
      __wavesan_barrier_leave(state(group, w), 0);
      if (fences)
        wave(group, w).fence(abi::kFenceAcquire, abi::Scope::Workgroup);
    }
  }
  void gridBarrier(uint32_t groups) {
    for (uint32_t g = 0; g < groups; ++g) {
      barrier(g);
      wave(g).threadfence();
      __wavesan_grid_arrive(state(g, 0), 0);
    }
    for (uint32_t g = 0; g < groups; ++g) {
      __wavesan_grid_leave(state(g, 0), 0);
      barrier(g);
    }
  }
  void end(uint32_t group, uint32_t w) { __wavesan_kernel_end(state(group, w)); }
  device::PrivateState *state(uint32_t group, uint32_t w) {
    DispatchOf(group);
    return (device::PrivateState *)&States[group * Waves + w];
  }

  std::vector<abi::RaceRecord> races() {
    std::vector<abi::RaceRecord> found;
    auto *records = reinterpret_cast<abi::RaceRecord *>(raceTable() + 1);
    for (uint32_t i = 0; i < kCapacity; ++i)
      if (records[i].ready)
        found.push_back(records[i]);
    return found;
  }
  uint64_t racesAt(const void *p) {
    uint64_t count = 0;
    for (const abi::RaceRecord &r : races())
      count += r.address == uint64_t(p);
    return count;
  }
  /// Nothing found, and nothing left open.
  void expectClean() {
    EXPECT_EQ(races().size(), 0u);
    EXPECT_EQ(Counters.historyOverflow + Counters.orderUnknown + Counters.outsideBudget + Counters.generationOverflow,
              0u);
  }
  const abi::DispatchCounters &counters() const { return Counters; }
  abi::RaceTable *raceTable() { return reinterpret_cast<abi::RaceTable *>(Table.data()); }

  /// Each workgroup has its own LDS.
  void DispatchOf(uint32_t group) { Context.ldsStateOffset = uint32_t(kLdsAt + group * kLdsOfGroup); }

  static constexpr uint32_t kCapacity = 4096;
  abi::DispatchContext Context{};
  abi::DispatchCounters Counters{};
  abi::GlobalMemory Global{};
  uint32_t Site = 0, Waves;
  std::vector<device::WaveState> States;
  std::vector<char> Own, Table;
};

} // namespace wavesan::test

#endif // WAVESAN_TEST_GLOBAL_DISPATCH_H
