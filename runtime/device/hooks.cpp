// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hook bodies for the GPU (abi/hooks.h says when each is called). Compiled to amdgcn bitcode that the pass links into
// every module and inlines into the twins. Ground rules: nothing is allocated, nothing outside is called, and
// nothing that the program computes changes.
#include "platform_amdgcn.h"

using namespace wavesan;
using namespace wavesan::device;

#define HOOK extern "C" __attribute__((used, always_inline)) void

namespace {

template <class T> WAVESAN_INLINE T atLeast1(T v) { return v == 0 ? 1 : v; }

/// Work-items of the workgroup along one dimension: less than the dispatch's workgroup size at the grid's edge.
WAVESAN_INLINE uint32_t sizeAlong(const Global<abi::DispatchContext> *ctx, uint32_t dimension, uint32_t workgroup) {
  uint32_t full = ctx->workgroupSize[dimension];
  uint64_t rest = uint64_t(ctx->gridSize[dimension]) - uint64_t(workgroup) * full;
  return rest < full ? uint32_t(rest) : full;
}

/// Takes a free slot of the pool. There are at least as many slots as workgroups can be resident, and each is given
/// back by a running workgroup, so the search ends.
WAVESAN_INLINE uint32_t takeSlot(const Global<abi::DispatchContext> *ctx, uint32_t start) {
  auto *locks = globalAt<uint32_t>(ctx->slotLocks);
  const uint32_t count = ctx->slotCount;
  for (uint32_t slot = start % count;; slot = slot + 1 == count ? 0 : slot + 1) {
    uint32_t expected = 0;
    if (__scoped_atomic_compare_exchange_n(&locks[slot], &expected, 1u, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED,
                                           __MEMORY_SCOPE_DEVICE))
      return slot;
    __builtin_amdgcn_s_sleep(1);
  }
}

WAVESAN_INLINE void workgroupBarrier() {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}

enum CheckOutcome : uint32_t { kOverflowed = 1, kOutside = 2 };

/// The check of one access, out of line: one copy per module instead of one per site, which keeps the twins small and
/// quick to compile. A leaf function that takes everything by value, so that neither it nor its callers need scratch.
__attribute__((noinline)) uint32_t check(uint64_t context, uint64_t cells, uint32_t cellsInLds, uint32_t stateOffset,
                                         uint32_t ldsBytes, uint32_t granuleLog2, uint32_t wave, uint32_t address,
                                         uint64_t size, uint32_t info, uint32_t site, uint32_t variable) {
  auto *record = recordOf(stateOffset, wave);
  core::MergingPlatform<Amdgcn> p;
  p.cells = {cells, cellsInLds != 0};
  p.context = context;
  p.stateOffset = stateOffset;
  p.wave = wave;
  p.lane = laneId();
  p.site = site;
  p.access = abi::accessBits(info);
  p.epoch = loadShared(&record->epoch);
  p.variable = variable;
  const core::Accessor a{wave,
                         p.lane,
                         site,
                         core::slotGeneration(loadShared(&record->generation)),
                         p.epoch,
                         (abi::accessBits(info) & abi::kAccessWrite) != 0,
                         (abi::accessBits(info) & abi::kAccessAtomic) != 0};
  core::AccessResult r = core::accessBytes(p, core::Shadow{granuleLog2, ldsBytes}, a, address, size);
  return (r.generationOverflow ? kOverflowed : 0u) | (r.outsideShadow ? kOutside : 0u);
}

WAVESAN_INLINE void checkAccess(PrivateState *s, uint32_t address, uint64_t size, uint32_t info, uint32_t site,
                                uint32_t variable) {
  const uint32_t outcome = check(s->context, s->cells, s->cellsInLds, s->stateOffset, s->ldsBytes, s->granuleLog2,
                                 s->wave, address, size, info, site, variable);
  s->overflowed += outcome & kOverflowed;
  s->outside += (outcome & kOutside) >> 1;
}

WAVESAN_INLINE void countOperation(PrivateState *s) { s->checked += isFirstActiveLane(); }

WAVESAN_INLINE void nextGeneration(PrivateState *s) {
  if (isFirstActiveLane())
    __scoped_atomic_fetch_add(&recordOf(s->stateOffset, s->wave)->generation, 1u, __ATOMIC_RELAXED,
                              __MEMORY_SCOPE_WRKGRP);
}

} // namespace

HOOK __wavesan_kernel_begin(PrivateState *s, Global<abi::DispatchContext> *context) {
  const Global<abi::DispatchContext> *ctx = context;
  const uint32_t gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y(),
                 gz = __builtin_amdgcn_workgroup_id_z();
  const uint32_t sx = sizeAlong(ctx, 0, gx), sy = sizeAlong(ctx, 1, gy), sz = sizeAlong(ctx, 2, gz);
  const uint32_t tid = __builtin_amdgcn_workitem_id_x() +
                       sx * (__builtin_amdgcn_workitem_id_y() + sy * __builtin_amdgcn_workitem_id_z());
  const uint32_t threads = sx * sy * sz, waveSize = ctx->waveSize;
  const uint32_t wave = __builtin_amdgcn_readfirstlane(tid / waveSize);
  const uint32_t state = ctx->ldsStateOffset;
  const bool inLds = ctx->slotPool == 0;
  const uint32_t cellBytes = uint32_t(abi::shadowBytes(ctx->ldsBytes, ctx->granuleLog2));

  // LDS is not cleared between workgroups.
  const uint32_t words = (uint32_t(sizeof(abi::WorkgroupState)) + (inLds ? cellBytes : 0)) / 8;
  for (uint32_t i = tid; i < words; i += threads)
    *ldsAt<uint64_t>(state + i * 8) = 0;
  workgroupBarrier();
  auto *head = ldsAt<abi::WorkgroupState>(state);
  uint64_t cells = state + uint32_t(sizeof(abi::WorkgroupState));
  if (!inLds) {
    if (tid == 0) {
      const uint32_t groupsX = (ctx->gridSize[0] + ctx->workgroupSize[0] - 1) / atLeast1(ctx->workgroupSize[0]);
      head->slot = takeSlot(ctx, gx + groupsX * gy);
      head->cells = ctx->slotPool + uint64_t(head->slot) * ctx->slotBytes;
    }
    workgroupBarrier();
    cells = head->cells;
    for (uint32_t i = tid; i < cellBytes / 8; i += threads)
      globalAt<uint64_t>(cells)[i] = 0;
    workgroupBarrier();
  }
  s->context = uint64_t(context);
  s->cells = cells;
  s->cellsInLds = inLds;
  s->stateOffset = state;
  s->ldsBytes = ctx->ldsBytes;
  s->granuleLog2 = ctx->granuleLog2;
  s->wave = wave;
  s->laneCount = threads - wave * waveSize < waveSize ? threads - wave * waveSize : waveSize;
  s->waveCount = (threads + waveSize - 1) / waveSize;
  s->checked = 0;
  s->overflowed = 0;
  s->outside = 0;
}

HOOK __wavesan_kernel_end(PrivateState *s) {
  auto *counters = (Global<abi::DispatchCounters> *)contextOf(s->context)->counters;
  if (s->checked)
    addCounter(&counters->checkedAccesses, s->checked);
  if (s->overflowed)
    addCounter(&counters->generationOverflow, s->overflowed);
  if (s->outside)
    addCounter(&counters->outsideShadow, s->outside);
  // Lanes may return at different places; the wave ends with the last of them.
  const uint32_t active = activeLanes(); // before the branch, in which one lane is active
  if (isFirstActiveLane()) {
    auto *record = recordOf(s->stateOffset, s->wave);
    const uint32_t before =
        __scoped_atomic_fetch_add(&record->lanesEnded, active, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    if (before + active == s->laneCount) {
      storeShared(&record->endEpoch, loadShared(&record->epoch) + 1);
      ldsFence();
      auto *head = ldsAt<abi::WorkgroupState>(s->stateOffset);
      const uint32_t finished =
          __scoped_atomic_fetch_add(&head->wavesFinished, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
      if (!s->cellsInLds && finished + 1 == s->waveCount) {
        auto *locks = globalAt<uint32_t>(contextOf(s->context)->slotLocks);
        __scoped_atomic_store_n(&locks[head->slot], 0u, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
      }
    }
  }
}

HOOK __wavesan_lds_access(PrivateState *s, uint32_t address, uint32_t info, uint32_t site, uint32_t variable) {
  countOperation(s);
  checkAccess(s, address, abi::accessSize(info), info, site, variable);
}

HOOK __wavesan_lds_range(PrivateState *s, uint32_t address, uint64_t length, uint32_t info, uint32_t site,
                         uint32_t variable) {
  countOperation(s);
  checkAccess(s, address, length, info, site, variable);
}

WAVESAN_INLINE bool isLds(const void *address) {
  return __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void *)address);
}

HOOK __wavesan_generic_access(PrivateState *s, void *address, uint32_t info, uint32_t site) {
  if (!isLds(address))
    return;
  countOperation(s);
  checkAccess(s, uint32_t(uint64_t((Lds<char> *)address)), abi::accessSize(info), info, site, abi::kNoVariable);
}

HOOK __wavesan_generic_range(PrivateState *s, void *address, uint64_t length, uint32_t info, uint32_t site) {
  if (!isLds(address))
    return;
  countOperation(s);
  checkAccess(s, uint32_t(uint64_t((Lds<char> *)address)), length, info, site, abi::kNoVariable);
}

HOOK __wavesan_barrier_arrive(PrivateState *s, uint32_t) {
  if (isFirstActiveLane()) {
    auto *record = recordOf(s->stateOffset, s->wave);
    storeShared(barrierGenerationAt(s->stateOffset, loadShared(&record->epoch) + 1, s->wave),
                core::barrierGenerationOf(loadShared(&record->generation)));
  }
  // The others read it behind the barrier.
  ldsFence();
}

HOOK __wavesan_barrier_leave(PrivateState *s, uint32_t) {
  if (isFirstActiveLane()) {
    auto *record = recordOf(s->stateOffset, s->wave);
    const uint32_t epoch = loadShared(&record->epoch) + 1;
    storeShared(&record->epoch, epoch);
    if (core::lostLiveRecord(loadShared(&record->evictedGeneration),
                             loadShared(barrierGenerationAt(s->stateOffset, epoch, s->wave)))) {
      auto *counters = (Global<abi::DispatchCounters> *)contextOf(s->context)->counters;
      addCounter(&counters->historyOverflow, 1);
    }
  }
}

HOOK __wavesan_fence(PrivateState *s, uint32_t info) {
  if (core::fenceCompletesLds(info))
    nextGeneration(s);
}

HOOK __wavesan_wait(PrivateState *s, uint32_t completed) {
  if (completed & abi::kWaitLds)
    nextGeneration(s);
}

// Global memory is not checked on a GPU yet: these hooks vanish when they are inlined, and the tool says so
// (DispatchCounters::checkedSpaces stays without kChecksGlobal).
HOOK __wavesan_global_access(PrivateState *, void *, uint32_t, uint32_t) {}
HOOK __wavesan_global_range(PrivateState *, void *, uint64_t, uint32_t, uint32_t) {}
HOOK __wavesan_atomic_done(PrivateState *, void *, uint32_t, uint32_t, bool) {}
