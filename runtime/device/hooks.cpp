// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hook bodies for the GPU (abi/hooks.h says when each is called). Compiled to amdgcn bitcode that the pass links into
// every module and inlines into the twins. Ground rules: nothing is allocated, nothing outside is called, and
// nothing that the program computes changes.
#include "divergence.h"
#include "global_check.h"
#include "global_release.h"
#include "lds_order.h"
#include "wavesan/abi/workgroup_number.h"

#define HOOK extern "C" __attribute__((used, always_inline)) void

namespace wavesan::device {
namespace {

/// Work-items of the workgroup along one dimension: less than the dispatch's workgroup size at the grid's edge.
WAVESAN_INLINE uint32_t sizeAlong(const Global<abi::DispatchContext> *ctx, uint32_t dimension, uint32_t workgroup) {
  uint32_t full = ctx->workgroupSize[dimension];
  uint64_t rest = uint64_t(ctx->gridSize[dimension]) - uint64_t(workgroup) * full;
  return rest < full ? uint32_t(rest) : full;
}

WAVESAN_INLINE uint32_t groupsAlong(const Global<abi::DispatchContext> *ctx, uint32_t dimension) {
  return abi::workgroupsAlong(ctx->gridSize[dimension], ctx->workgroupSize[dimension]);
}

/// Takes a free slot of the pool. There are at least as many slots as workgroups can be resident, and each is given
/// back by a running workgroup, so the search ends.
WAVESAN_INLINE uint32_t takeSlot(const Global<abi::DispatchContext> *ctx, uint32_t start) {
  auto *locks = globalAt<uint32_t>(ctx->slotLocks);
  const uint32_t count = ctx->slotCount;
  // A product instead of a remainder, which the GPU has to compute step by step.
  for (uint32_t slot = uint32_t((uint64_t(start * 0x9e3779b9u) * count) >> 32);;
       slot = slot + 1 == count ? 0 : slot + 1) {
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

WAVESAN_INLINE Lds<abi::WaveRecord> *recordOf(const PrivateState *s) { return ldsAt<abi::WaveRecord>(s->record); }

WAVESAN_INLINE void checkAccess(PrivateState *s, uint32_t address, uint32_t size, uint32_t info, uint32_t site,
                                uint32_t variable) {
  const uint32_t operation = Operation(site, info).bits;
  if (!__wavesan_orders_lds(s->record))
    return __wavesan_check(address, 0, size, s->record, operation, variable);
  __wavesan_check_ordered(address, 0, size, s->record, operation, variable);
  if (abi::accessBits(info) & abi::kAccessAtomic)
    __wavesan_lds_begin(s->record);
}

WAVESAN_INLINE void checkGlobal(PrivateState *s, const void *address, uint32_t size, uint32_t info, uint32_t site) {
  __wavesan_global_check(uint64_t(address), 0, size, s->record, Operation::global(site, info).bits);
}

WAVESAN_INLINE bool isLds(const void *address) {
  return __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void *)address);
}
/// Global memory, of a generic address that is not LDS.
WAVESAN_INLINE bool isGlobal(const void *address) {
  return !__builtin_amdgcn_is_private((const __attribute__((address_space(0))) void *)address);
}

/// An atomic that writes may publish something; a compare-exchange only when it has succeeded.
WAVESAN_INLINE void release(PrivateState *s, const void *address, uint32_t info) {
  if ((abi::accessBits(info) & abi::kAccessAtomic) && (abi::accessBits(info) & abi::kAccessWrite))
    __wavesan_global_release(uint64_t(address), s->record, info, (info & abi::kAtomicMayFail) ? kAnnounces : kReleases);
}

/// Longer than LDS is as long as LDS.
WAVESAN_INLINE uint32_t shortened(uint64_t length) { return length > ~0u ? ~0u : uint32_t(length); }

/// The lanes of a wave execute one instruction together: all of them read the old value, then all write the same new
/// one. Choosing a lane first would cost more. Nobody else writes a wave's record.
WAVESAN_INLINE void nextGeneration(PrivateState *s) {
  auto *generation = &recordOf(s)->generation;
  storeShared(generation, loadShared(generation) + 1);
}

} // namespace

HOOK __wavesan_kernel_begin(PrivateState *s, Global<abi::DispatchContext> *context) {
  const Global<abi::DispatchContext> *ctx = context;
  const uint32_t gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y(),
                 gz = __builtin_amdgcn_workgroup_id_z();
  const uint32_t sx = sizeAlong(ctx, 0, gx), sy = sizeAlong(ctx, 1, gy), sz = sizeAlong(ctx, 2, gz);
  const uint32_t tid = __builtin_amdgcn_workitem_id_x() +
                       sx * (__builtin_amdgcn_workitem_id_y() + sy * __builtin_amdgcn_workitem_id_z());
  const uint32_t threads = sx * sy * sz, waveSizeLog2 = __builtin_ctz(ctx->waveSize);
  const uint32_t wave = __builtin_amdgcn_readfirstlane(tid >> waveSizeLog2);
  const uint32_t state = ctx->ldsStateOffset;
  const bool pooled = ctx->slotPool != 0, inLds = !pooled || (ctx->flags & abi::kContextCellsInLds) != 0;
  const uint32_t cellBytes = uint32_t(abi::shadowBytes(ctx->ldsBytes, ctx->granuleLog2));

  // LDS is not cleared between workgroups.
  const uint32_t waves = (threads + ctx->waveSize - 1) >> waveSizeLog2;
  const uint32_t words = (abi::workgroupStateBytes(ctx->wavesPerWorkgroup) + (inLds ? cellBytes : 0)) / 8;
  for (uint32_t i = tid; i < words; i += threads)
    *ldsAt<uint64_t>(state + i * 8) = 0;
  workgroupBarrier();
  auto *head = ldsAt<abi::WorkgroupState>(state);
  if (pooled) {
    if (tid == 0) {
      head->slot = takeSlot(ctx, gx + (gy << 10) + (gz << 20)); // somewhere, different for neighbours
      head->cells = ctx->slotPool + uint64_t(head->slot) * ctx->slotBytes;
      if (ctx->ldsOrder != 0 && ctx->delays == 0)
        head->ldsOrder = head->cells + ctx->ldsOrder - 1;
    }
    workgroupBarrier();
    const uint64_t begin = head->cells;
    const uint32_t bytes =
        (inLds ? 0 : cellBytes) + (ctx->ldsOrder != 0 ? abi::ldsOrderClearedBytes(ctx->wavesPerWorkgroup) : 0);
    for (uint32_t i = tid; i < bytes / 8; i += threads)
      globalAt<uint64_t>(begin)[i] = 0;
    workgroupBarrier();
  }
  s->context = uint64_t(context);
  auto *record = recordOf(state, wave);
  record->shape =
      Shape(ctx->granuleLog2, wave, inLds, state, (ctx->delays | ctx->touchMap) != 0, ctx->wavesPerWorkgroup).bits;
  record->ldsBytes = ctx->ldsBytes;
  s->record = uint32_t((uint64_t)record);
  const uint32_t rest = threads - (wave << waveSizeLog2);
  s->laneCount = rest < ctx->waveSize ? rest : ctx->waveSize;
  // Every wave writes the same.
  head->context = uint64_t(context);
  head->workgroup[0] = gx;
  head->workgroup[1] = gy;
  head->workgroup[2] = gz;
  head->waveCount = waves;
  s->waveCount = waves;
  if (const auto *g = globalAt<const abi::GlobalMemory>(ctx->globalMemory); ctx->globalMemory != 0) {
    const uint32_t number = gx + groupsAlong(ctx, 0) * (gy + groupsAlong(ctx, 1) * gz);
    head->number = number;
    head->shadowPages = g->pages;
    head->order = g->order;
    head->pageCount = g->pageCount;
    head->stamp = g->stamp;
    head->waveBits = g->waveBits;
    head->generationBits = g->generationBits;
    head->rowCount = g->rowCount;
    head->rowEntries = g->rowEntries;
    head->variableCount = g->variableCount;
    head->lockCount = g->lockCount;
    head->firstUnit = g->firstUnit;
    head->lastUnit = g->lastUnit;
    head->shadowKeys = g->keys;
    auto *own = OrderView(s->record).waveAt(number << g->waveBits | wave);
    for (uint32_t i = 0; i < sizeof(abi::GlobalWave) / 4; ++i)
      storeDevice((Global<uint32_t> *)own + i, 0u);
    deviceRelease();
  }
  record->globalComplete = 1; // slot generations begin there
}

HOOK __wavesan_kernel_end(PrivateState *s) {
  // Lanes may return at different places; the wave ends with the last of them.
  const uint32_t active = activeLanes(); // before the branch, in which one lane is active
  if (isFirstActiveLane()) {
    auto *record = recordOf(s);
    const uint32_t before =
        __scoped_atomic_fetch_add(&record->lanesEnded, active, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    if (before + active == s->laneCount) {
      auto *counters = (Global<abi::DispatchCounters> *)contextOf(s->context)->counters;
      addCounter(&counters->checkedAccesses, record->checked + record->globalChecked);
      addCounter(&counters->globalAccesses, record->globalChecked);
      storeShared(&record->endEpoch, loadShared(&record->epoch) + 1);
      ldsFence();
      auto *head = ldsAt<abi::WorkgroupState>(Shape(record->shape).stateOffset());
      const uint32_t finished =
          __scoped_atomic_fetch_add(&head->wavesFinished, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
      if (finished + 1 == s->waveCount)
        __wavesan_global_end(s->record, s->waveCount);
      if (contextOf(s->context)->slotPool != 0 && finished + 1 == s->waveCount) {
        auto *locks = globalAt<uint32_t>(contextOf(s->context)->slotLocks);
        __scoped_atomic_store_n(&locks[head->slot], 0u, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
      }
    }
  }
}

HOOK __wavesan_lds_access(PrivateState *s, uint32_t address, uint32_t info, uint32_t site, uint32_t variable) {
  checkAccess(s, address, abi::accessSize(info), info, site, variable);
}

HOOK __wavesan_lds_range(PrivateState *s, uint32_t address, uint64_t length, uint32_t info, uint32_t site,
                         uint32_t variable) {
  checkAccess(s, address, shortened(length), info, site, variable);
}

HOOK __wavesan_generic_access(PrivateState *s, void *address, uint32_t info, uint32_t site) {
  if (isLds(address)) {
    checkAccess(s, uint32_t(uint64_t((Lds<char> *)address)), abi::accessSize(info), info, site, abi::kNoVariable);
  } else if (isGlobal(address)) {
    checkGlobal(s, address, abi::accessSize(info), info, site);
    release(s, address, info);
  }
}

HOOK __wavesan_generic_range(PrivateState *s, void *address, uint64_t length, uint32_t info, uint32_t site) {
  if (isLds(address))
    checkAccess(s, uint32_t(uint64_t((Lds<char> *)address)), shortened(length), info, site, abi::kNoVariable);
  else if (isGlobal(address))
    checkGlobal(s, address, shortened(length), info, site);
}

HOOK __wavesan_barrier_arrive(PrivateState *s, uint32_t site) {
  auto *record = recordOf(s);
  const Shape shape(record->shape);
  storeShared(arrivedAt(shape.stateOffset(), loadShared(&record->epoch) + 1, shape.wave()), site);
  storeShared(barrierGenerationAt(shape.stateOffset(), loadShared(&record->epoch) + 1, shape.wave()),
              core::barrierGenerationOf(loadShared(&record->generation)));
  const uint32_t generation = loadShared(&record->globalGeneration) + 1;
  storeShared(globalBarrierAt(shape.stateOffset(), loadShared(&record->epoch) + 1, shape.wave()),
              core::GlobalArrival(loadShared(&record->globalComplete), generation).bits());
  storeShared(&record->globalGeneration, generation); // what follows is told from what came before
  // The others read it behind the barrier.
  ldsFence();
}

HOOK __wavesan_barrier_leave(PrivateState *s, uint32_t site) {
  auto *record = recordOf(s);
  const Shape shape(record->shape);
  const uint32_t epoch = loadShared(&record->epoch) + 1;
  storeShared(&record->epoch, epoch);
  const bool lost = core::lostLiveRecord(loadShared(&record->evictedGeneration),
                                         loadShared(barrierGenerationAt(shape.stateOffset(), epoch, shape.wave())));
  const core::GlobalArrival arrival(loadShared(globalBarrierAt(shape.stateOffset(), epoch, shape.wave())));
  const bool lostGlobal = core::lostLiveRecord(loadShared(&record->globalEvicted), arrival.complete());
  if (__builtin_expect(lost || lostGlobal, 0) && isFirstActiveLane()) {
    auto *counters = (Global<abi::DispatchCounters> *)contextOf(s->context)->counters;
    addCounter(&counters->historyOverflow, 1);
  }
  __wavesan_barrier_met(s->record, site, s->waveCount, s->laneCount);
}

HOOK __wavesan_fence(PrivateState *s, uint32_t info) {
  if (core::fenceCompletesLds(info))
    nextGeneration(s);
  constexpr uint32_t kOrders = abi::kFenceAcquire | abi::kFenceRelease | abi::kFenceSeqCst;
  if ((abi::fenceBits(info) & kOrders) == 0 || abi::fenceScope(info) < abi::Scope::Workgroup)
    return;
  if (abi::fenceBits(info) & abi::kFenceGlobal)
    __wavesan_global_fence(s->record, info);
  if ((abi::fenceBits(info) & abi::kFenceImplied) == 0 && __wavesan_orders_lds(s->record))
    __wavesan_lds_fence(s->record, info);
}

HOOK __wavesan_wait(PrivateState *s, uint32_t info) {
  if (info & abi::kWaitLds)
    nextGeneration(s);
  if (info & abi::kWaitVmem) {
    auto *record = recordOf(s);
    const uint32_t generation = loadShared(&record->globalGeneration) + 1;
    storeShared(&record->globalGeneration, generation);
    storeShared(&record->globalComplete, generation + 1);
  }
}

HOOK __wavesan_global_access(PrivateState *s, void *address, uint32_t info, uint32_t site) {
  checkGlobal(s, address, abi::accessSize(info), info, site);
  release(s, address, info);
}
HOOK __wavesan_global_range(PrivateState *s, void *address, uint64_t length, uint32_t info, uint32_t site) {
  checkGlobal(s, address, shortened(length), info, site);
}
HOOK __wavesan_atomic_done(PrivateState *s, void *address, uint32_t info, uint32_t, bool wrote) {
  if (info & abi::kAccessOfCopy) // device free: an atomic's own release is in the hook before it
    release(s, address, info);
  if (isLds(address)) {
    if (__wavesan_orders_lds(s->record))
      __wavesan_lds_done(uint32_t(uint64_t((Lds<char> *)address)), s->record, info, wrote);
  } else if ((abi::accessBits(info) & abi::kAccessRead) && isGlobal(address)) {
    if (info & abi::kAtomicMayFail)
      __wavesan_global_release(uint64_t(address), s->record, info, wrote ? kSucceeded : kFailed);
    __wavesan_global_acquire(uint64_t(address), s->record, info, wrote);
  }
}
HOOK __wavesan_grid_arrive(PrivateState *s, uint32_t) { __wavesan_global_grid(s->record, 0); }
HOOK __wavesan_grid_leave(PrivateState *s, uint32_t) { __wavesan_global_grid(s->record, 1); }

// Asynchronous copies are not checked on a GPU yet, and named barriers not followed: these hooks vanish when they are
// inlined, and the tool says so (DispatchCounters::checkedSpaces stays without kChecksCopies and
// kFollowsNamedBarriers).
HOOK __wavesan_lds_copy(PrivateState *, uint32_t, uint32_t, uint32_t, uint32_t) {}
HOOK __wavesan_vmem_issued(PrivateState *, uint32_t) {}
HOOK __wavesan_named_barrier(PrivateState *, uint32_t, uint32_t, uint32_t) {}

} // namespace wavesan::device
