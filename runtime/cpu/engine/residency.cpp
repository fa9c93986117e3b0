// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "residency.h"

#include "diagnostic.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace wavesan::cpu::engine {

Mapping::~Mapping() {
  if (memory)
    munmap(memory, size);
}

bool Mapping::reserve(size_t bytes) {
  if (bytes <= size)
    return true;
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return false;
  if (memory)
    munmap(memory, size);
  memory = static_cast<uint8_t *>(p);
  size = bytes;
  return true;
}

// Generic pointers into LDS must be told from others even where they point just behind a variable.
static constexpr uint32_t kLdsAperture = 64 << 10;

bool Residency::prepare(LaunchState &launch, const Shape &shape, std::string &error) {
  ldsAperture = std::max(kLdsAperture, (launch.launch->groupSegmentBytes + 4095u) & ~4095u);
  if (!lds.reserve(size_t(ldsAperture) + 4096) ||
      !scratch.reserve(size_t(shape.waves) * launch.waveSize * shape.scratchStride + 4096)) {
    error = "not enough memory for the workgroup's waves";
    return false;
  }
  while (group.waves.size() < shape.waves) {
    auto wave = std::make_unique<WaveState>();
    wave->bankMemory = std::make_unique<std::byte[]>(kWaveBankRegisters * kMaxLanes * sizeof(uint32_t) + 64);
    group.waves.push_back(std::move(wave));
    partWaveSize = 0;
  }
  return true;
}

void Residency::setWorkitems(uint32_t lanes, const uint32_t (&size)[3]) {
  if (partWaveSize == lanes && std::equal(size, size + 3, partSize))
    return;
  partWaveSize = lanes;
  std::copy(size, size + 3, partSize);
  uint32_t next[3] = {};
  for (auto &wave : group.waves) {
    auto *ids = reinterpret_cast<uint32_t *>(wave->bankMemory.get());
    for (uint32_t i = 0; i < lanes; ++i) {
      for (uint32_t axis = 0; axis < 3; ++axis)
        ids[axis * lanes + i] = next[axis];
      if (++next[0] == size[0]) {
        next[0] = 0;
        if (++next[1] == size[1]) {
          next[1] = 0;
          ++next[2];
        }
      }
    }
  }
}

void Residency::start(LaunchState &launch, const Shape &shape, uint64_t linearId, WatchPost *watch) {
  const Launch &l = *launch.launch;
  const uint32_t lanes = launch.waveSize;
  group.launch = &launch;
  group.linearId = linearId;
  group.watch = watch;
  group.id[0] = uint32_t(linearId % shape.workgroups[0]);
  group.id[1] = uint32_t(linearId / shape.workgroups[0] % shape.workgroups[1]);
  group.id[2] = uint32_t(linearId / shape.workgroups[0] / shape.workgroups[1]);
  uint32_t size[3];
  for (uint32_t axis = 0; axis < 3; ++axis)
    size[axis] = std::min(l.workgroup[axis], l.grid[axis] - group.id[axis] * l.workgroup[axis]);
  const uint32_t items = size[0] * size[1] * size[2];
  group.waveCount = (items + lanes - 1) / lanes;
  group.hookData = nullptr;
  group.barrierPhase = 0;
  group.barrierArrived = 0;
  group.named.clear();
  group.alive = group.waveCount;
  group.random = Random(l.seed, linearId);
  // Some schedules switch at nearly every operation, some let a wave run ahead.
  group.quantumRange = 1u << (launch.quantumBits + group.random.below(7));
  group.clock = 1000 + linearId;
  runnable = group.waveCount >= 64 ? ~uint64_t(0) : (uint64_t(1) << group.waveCount) - 1;
  waiting = 0;
  isSuspended = false;
  stuck.progress(launch);
  std::memset(lds.data(), 0, l.groupSegmentBytes); // repeatable, whatever ran before

  setWorkitems(lanes, size);
  for (uint32_t k = 0; k < group.waveCount; ++k) {
    WaveState &w = *group.waves[k];
    auto *ids = reinterpret_cast<uint32_t *>(w.bankMemory.get());
    for (uint32_t axis = 0; axis < 3; ++axis)
      std::fill_n(ids + (kWaveBankWorkgroup + axis) * lanes, lanes, group.id[axis]);
    w.group = &group;
    w.index = k;
    w.lanes = lanes;
    w.allLanes = lanes == 64 ? ~LaneMask(0) : (LaneMask(1) << lanes) - 1;
    w.bank[uint32_t(Bank::Wave)] = w.bankMemory.get();
    w.bank[uint32_t(Bank::Launch)] = launch.launchBank;
    w.lds = lds.data();
    w.ldsBytes = l.groupSegmentBytes;
    w.ldsAperture = ldsAperture;
    w.scratchStride = shape.scratchStride;
    w.scratch = scratch.data() + size_t(k) * lanes * shape.scratchStride;
    w.stop = Stop::None;
    w.hold = false;
    w.fuel = 0;
    w.depth = 0;
    w.frame = nullptr;
    w.barrierPhase = 0;
    w.signalled = false;
    w.ended = false;
    w.atBarrier = false;
    w.turns.clear();
    w.copies.clear();
    w.vmemIssued = w.asyncIssued = 0;
    w.m0 = 0;
    w.atGridBarrier = false;
    w.named = {};
    w.touchedGlobal = false;
    w.fault = {};
    w.stack.clear();
    const uint32_t left = items - k * lanes;
    const LaneMask active = left >= lanes ? w.allLanes : (LaneMask(1) << left) - 1;
    w.begun = active;
    w.armOrder.start(active);
    w.arms = launch.launch->hooks && launch.entry->hasContested ? &w.armOrder : nullptr;
    pushFrame(w, *launch.entry, active, nullptr);
  }
}

static void runWave(WaveState &w) {
  // Where an order is forced, who runs next is asked after each operation: an access that one waited for, for instance.
  const int32_t quantum = w.quantum = w.group->launch->forcer.active() ? 1 : w.group->nextQuantum();
  do {
    const Op *op = w.pc++;
    op->run(w, *op);
  } while (w.stop == Stop::None);
  w.spent += uint32_t(quantum - w.quantum);
}

/// ": wave 0 at app.hip:12, wave 1 at app.hip:15"
static std::string linesOf(const Workgroup &group, uint64_t waves) {
  std::string text;
  for (uint64_t rest = waves; rest; rest &= rest - 1) {
    const uint32_t k = uint32_t(__builtin_ctzll(rest));
    const WaveState &w = *group.waves[k];
    std::string line = lineOf(w, w.pc - 1);
    if (line.empty()) // a hook, or an operation of the block's end
      line = lineOf(w, w.pc);
    text += (text.empty() ? ": wave " : ", wave ") + std::to_string(k) + " at " + (line.empty() ? "an unknown line" : line);
    if (w.named.waits())
      text += " (" + group.named.describe(w.named, *group.launch->namedBarriers) + ")";
  }
  return text;
}

void Residency::noteProgress(LaunchState &launch) {
  stuck.progress(launch);
  for (uint32_t k = 0; k < group.waveCount; ++k)
    group.waves[k]->touchedGlobal = false;
}

Outcome Residency::stuckOutcome(const LaunchState &launch) const {
  const WaveState &spinning = *group.waves[uint32_t(__builtin_ctzll(runnable))];
  const std::string what = "stuck: in workgroup (" + std::to_string(group.id[0]) + ", " + std::to_string(group.id[1]) +
                           ", " + std::to_string(group.id[2]) +
                           ") these waves repeat themselves without effect" + linesOf(group, runnable) +
                           "; what they wait for does not happen while these wait at a barrier" +
                           linesOf(group, waiting);
  return {Outcome::Deadlock, locate(launch, spinning, spinning.pc - 1, what)};
}

Outcome Residency::run(LaunchState &launch, uint32_t budget) {
  isSuspended = false;
  for (uint32_t k = 0; k < group.waveCount; ++k) {
    group.waves[k]->spent = 0;
    if (group.waves[k]->stop == Stop::Fault) // when it was started
      return describeFault(launch, *group.waves[k]);
  }
  while (group.alive) {
    if (!runnable) {
      const WaveState &first = *group.waves[uint32_t(__builtin_ctzll(waiting))];
      const std::string what = "deadlock: " + std::to_string(group.alive) + " of " + std::to_string(group.waveCount) +
                               " waves of workgroup (" + std::to_string(group.id[0]) + ", " +
                               std::to_string(group.id[1]) + ", " + std::to_string(group.id[2]) +
                               ") wait for a barrier that cannot complete";
      return {Outcome::Deadlock, locate(launch, first, first.pc - 1, what + linesOf(group, waiting))};
    }
    const uint64_t eligible = launch.forcer.eligible(group, runnable);
    if (!eligible) {
      isSuspended = true;
      return {};
    }
    uint64_t choice = eligible;
    for (uint32_t skip = group.random.below(uint32_t(__builtin_popcountll(eligible))); skip; --skip)
      choice &= choice - 1;
    const uint32_t k = uint32_t(__builtin_ctzll(choice));
    const uint64_t bit = uint64_t(1) << k;
    WaveState &w = *group.waves[k];
    const uint64_t phase = group.barrierPhase, completions = group.named.completions(), spent = w.spent;
    w.stop = Stop::None;
    performSomeCopies(w);
    runWave(w);
    const bool completed = group.barrierPhase != phase || group.named.completions() != completions;
    if (w.stop == Stop::Barrier || w.stop == Stop::Ended || completed)
      noteProgress(launch);
    else if (waiting && stuck.ran(launch, group, w, w.spent - spent))
      return stuckOutcome(launch);
    switch (w.stop) {
    case Stop::None:
    case Stop::Yield: break;
    case Stop::Barrier:
      runnable &= ~bit;
      waiting |= bit;
      break;
    case Stop::Ended:
      performCopies(w, w.copies.size());
      launch.forcer.ended(group, w);
      runnable &= ~bit;
      --group.alive;
      group.completeBarrierIfDone();
      break;
    case Stop::Fault: return describeFault(launch, w);
    case Stop::Cancelled: return {Outcome::Cancelled, locate(launch, w, nullptr, "the dispatch was cancelled")};
    }
    if (completed || group.barrierPhase != phase) // the end of a wave may have completed one, too
      for (uint64_t rest = waiting; rest; rest &= rest - 1) {
        const uint32_t j = uint32_t(__builtin_ctzll(rest));
        if (!group.mustWait(*group.waves[j])) {
          group.waves[j]->named.waiting = false;
          waiting &= ~(uint64_t(1) << j);
          runnable |= uint64_t(1) << j;
        }
      }
    // The wave, not the workgroup, has the budget: where one waits for another workgroup, the others of its workgroup
    // usually wait at a barrier, while in a workgroup at work all waves advance alike.
    if (w.spent > budget && group.alive) {
      if (!waiting) // nobody looks whether it does something new
        launch.progress.fetch_add(1, std::memory_order_relaxed);
      isSuspended = true;
      return {};
    }
  }
  return {};
}

void Residency::finish(LaunchState &launch) {
  if (HookHandler *hooks = launch.launch->hooks)
    hooks->workgroupEnd(group.hookData);
  group.hookData = nullptr;
  isSuspended = false;
}

} // namespace wavesan::cpu::engine
