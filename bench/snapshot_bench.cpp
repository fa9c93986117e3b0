// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A snapshot and a restore of 1 GiB of which some MiB are written, with the CPU agent's notes, next to a memcpy of what
// is written into memory that is as new as the snapshot's. Times are those of the processor: others on the machine
// matter less. docs/benchmarks.md has figures.
#include "../runtime/cpu/order/write_notes.h"
#include "replay_snapshot.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <sys/mman.h>

namespace {

using namespace wavesan;

constexpr uint64_t kTracked = 1ull << 30;

double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) * 1e9 + double(t.tv_nsec);
}

/// Nanoseconds.
template <class F> double timeOf(F f) {
  const double begin = now();
  f();
  return now() - begin;
}

constexpr abi::CpuAgent kAgent{abi::kAbiVersion,        nullptr, nullptr, cpu::WriteNotes::add,
                               cpu::WriteNotes::remove, nullptr};

/// argument: MiB written.
void snapshotAndRestore(benchmark::State &state) {
  const uint64_t written = uint64_t(state.range(0)) << 20;
  auto *memory = static_cast<uint8_t *>(
      mmap(nullptr, kTracked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory == MAP_FAILED)
    return state.SkipWithError("no memory");
  std::memset(memory, 1, written);
  std::atomic<uint64_t> latest{0};
  hsa::MemoryMap map(latest);
  map.add(hsa::MemoryMap::Kind::Allocation, memory, kTracked);
  hsa::TierBudgets budgets(hsa::TierBytes{0, 0, UINT64_MAX, 0});
  const hsa::Api api{};
  double snapshot = 0, restore = 0, copy = 0;
  for (auto _ : state) {
    hsa::MemoryStep step;
    std::string error;
    hsa::Snapshot saved(api, map, budgets, "/nowhere");
    saved.recordWrites(kAgent);
    snapshot += timeOf([&] {
      saved.plan();
      if (saved.save(step, error))
        state.SkipWithError("not saved");
      const cpu::WriteNotes notes;
      cpu::WriteNotes::Known known; // as the operations in front of stores do it, a wave's 256 bytes at once
      for (uint64_t at = 0; at < written; at += 256)
        if (const auto address = reinterpret_cast<uint64_t>(memory + at); !known.holds(address, 256))
          known = notes.note(address, 256);
    });
    std::memset(memory, 2, written);
    restore += timeOf([&] {
      if (!saved.restore(step, error))
        state.SkipWithError("not restored");
    });
    if (step.bytes != written || memory[written - 1] != 1)
      state.SkipWithError("not as it was");
    const std::unique_ptr<uint8_t[]> to(new uint8_t[written]);
    copy += timeOf([&] {
      std::memcpy(to.get(), memory, written);
      benchmark::DoNotOptimize(to[written / 2]);
    });
  }
  const double n = double(state.iterations()) * 1e6;
  state.counters["snapshot_ms"] = snapshot / n;
  state.counters["restore_ms"] = restore / n;
  state.counters["memcpy_ms"] = copy / n;
  state.counters["snapshot/memcpy"] = snapshot / copy;
  state.counters["restore/memcpy"] = restore / copy;
  munmap(memory, kTracked);
}
BENCHMARK(snapshotAndRestore)->Arg(1)->Arg(4)->Arg(16)->Arg(64)->Arg(256)->Iterations(5);

constexpr uint64_t kCopied = 512 << 20;

/// A restore as on a GPU, where all is copied before: by the device runtime's map, its reading included, and without.
/// Arguments: MiB written, in pieces of 4 KiB all over; with the map.
void restoreByMap(benchmark::State &state) {
  const uint64_t written = uint64_t(state.range(0)) << 20, step = kCopied / (written / abi::kTouchChunk);
  auto *memory = static_cast<uint8_t *>(
      mmap(nullptr, kCopied, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory == MAP_FAILED)
    return state.SkipWithError("no memory");
  std::memset(memory, 1, kCopied);
  std::atomic<uint64_t> latest{0};
  hsa::MemoryMap map(latest);
  map.add(hsa::MemoryMap::Kind::Allocation, memory, kCopied);
  hsa::TierBudgets budgets(hsa::TierBytes{0, 0, UINT64_MAX, 0});
  hsa::Api api{};
  api.core.hsa_memory_copy_fn = [](void *to, const void *from, size_t bytes) {
    std::memcpy(to, from, bytes);
    return HSA_STATUS_SUCCESS;
  };
  api.amd.hsa_amd_memory_pool_allocate_fn = [](hsa_amd_memory_pool_t, size_t bytes, uint32_t, void **out) {
    *out = std::malloc(bytes);
    return HSA_STATUS_SUCCESS;
  };
  api.amd.hsa_amd_memory_pool_free_fn = [](void *block) {
    std::free(block);
    return HSA_STATUS_SUCCESS;
  };
  api.amd.hsa_amd_agents_allow_access_fn = [](uint32_t, const hsa_agent_t *, const uint32_t *, const void *) {
    return HSA_STATUS_SUCCESS;
  };
  hsa::Snapshot saved(api, map, budgets, "/nowhere", std::make_shared<const hsa::AgentInfo>());
  hsa::MemoryStep taken;
  std::string error;
  if (state.range(1))
    saved.noteWrites(nullptr);
  saved.plan();
  if (saved.save(taken, error))
    state.SkipWithError("not saved");
  double restore = 0, compared = 0;
  for (auto _ : state) {
    for (uint64_t at = 0; at < kCopied; at += step) {
      std::memset(memory + at, 2, abi::kTouchChunk);
      if (state.range(1)) {
        const auto *head = reinterpret_cast<const abi::TouchMap *>(saved.touchMap());
        const auto *region = reinterpret_cast<const abi::TouchRegion *>(head->regions);
        reinterpret_cast<uint8_t *>(region->chunks)[at / abi::kTouchChunk] = 1;
      }
    }
    restore += timeOf([&] {
      saved.passEnded(true);
      if (!saved.restore(taken, error))
        state.SkipWithError("not restored");
    });
    compared = double(taken.compared);
    if (memory[0] != 1 || memory[kCopied - step] != 1)
      state.SkipWithError("not as it was");
  }
  state.counters["restore_ms"] = restore / double(state.iterations()) / 1e6;
  state.counters["compared_MiB"] = compared / double(1 << 20);
  munmap(memory, kCopied);
}
BENCHMARK(restoreByMap)->ArgsProduct({{1, 4, 16, 64, 512}, {0, 1}})->Iterations(5);

} // namespace
