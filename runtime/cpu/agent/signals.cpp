// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "signals.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace wavesan::agent {
namespace {

/// Hands out 64-byte records from blocks that live as long as the process.
class SignalPool {
public:
  amd_signal_t *take() {
    std::lock_guard lock(Mutex);
    if (Free.empty()) {
      auto *block = static_cast<Block *>(std::aligned_alloc(alignof(Block), sizeof(Block)));
      if (!block)
        return nullptr;
      std::memset(static_cast<void *>(block), 0, sizeof(Block));
      for (size_t i = kBlockSignals; i-- > 0;)
        Free.push_back(&block->signals[i]);
      block->next = Blocks.load(std::memory_order_relaxed);
      Blocks.store(block, std::memory_order_release);
    }
    amd_signal_t *record = Free.back();
    Free.pop_back();
    return record;
  }

  /// False if the record is not in use (destroyed twice).
  bool give(amd_signal_t *record) {
    std::lock_guard lock(Mutex);
    if (record->kind == AMD_SIGNAL_KIND_INVALID)
      return false;
    record->kind = AMD_SIGNAL_KIND_INVALID;
    Free.push_back(record);
    return true;
  }

  bool contains(uint64_t handle) const {
    for (const Block *b = Blocks.load(std::memory_order_acquire); b; b = b->next) {
      const uint64_t offset = handle - reinterpret_cast<uint64_t>(b->signals);
      if (offset < sizeof(b->signals))
        return offset % sizeof(amd_signal_t) == 0;
    }
    return false;
  }

private:
  static constexpr size_t kBlockSignals = 256;
  struct Block {
    amd_signal_t signals[kBlockSignals];
    const Block *next;
  };
  std::mutex Mutex;
  std::vector<amd_signal_t *> Free;
  std::atomic<const Block *> Blocks{nullptr}; ///< each is complete when it gets here
};

SignalPool &signalPool() {
  static SignalPool &pool = *new SignalPool; // never destroyed: threads outlive static destructors
  return pool;
}

void finishSignal(hsa_signal_t s, uint64_t startNs, uint64_t endNs, bool failed) {
  if (!isLiveSignal(s))
    return;
  amd_signal_t *record = signalRecord(s);
  record->start_ts = startNs;
  record->end_ts = endNs;
  // From here on the waiter may destroy the signal.
  if (failed)
    __atomic_store_n(&record->value, kFailedSignalValue, __ATOMIC_RELEASE);
  else
    __atomic_fetch_sub(&record->value, 1, __ATOMIC_RELEASE);
  signalEvents().notify();
}

} // namespace

bool isSignal(hsa_signal_t s) { return s.handle != 0 && signalPool().contains(s.handle); }

EventCount &signalEvents() {
  static EventCount &events = *new EventCount;
  return events;
}

bool signalConditionHolds(hsa_signal_condition32_t condition, int64_t value, int64_t compare) {
  switch (condition) {
  case HSA_SIGNAL_CONDITION_EQ:
    return value == compare;
  case HSA_SIGNAL_CONDITION_NE:
    return value != compare;
  case HSA_SIGNAL_CONDITION_LT:
    return value < compare;
  case HSA_SIGNAL_CONDITION_GTE:
    return value >= compare;
  default:
    return false;
  }
}

hsa_signal_t createSignal(int64_t initialValue) {
  amd_signal_t *record = signalPool().take();
  if (!record)
    return {0};
  std::memset(static_cast<void *>(record), 0, sizeof(*record));
  record->value = initialValue;
  record->kind = AMD_SIGNAL_KIND_USER;
  return {reinterpret_cast<uint64_t>(record)};
}

hsa_signal_t createDoorbell(amd_queue_t *queue) {
  hsa_signal_t s = createSignal(0);
  if (s.handle) {
    signalRecord(s)->queue_ptr = queue;
    signalRecord(s)->kind = AMD_SIGNAL_KIND_DOORBELL;
  }
  return s;
}

void destroySignal(hsa_signal_t s) {
  if (!s.handle)
    return;
  removeAsyncHandlers(s);
  signalPool().give(signalRecord(s));
}

void completeSignal(hsa_signal_t s, uint64_t startNs, uint64_t endNs) { finishSignal(s, startNs, endNs, false); }
void failSignal(hsa_signal_t s, uint64_t startNs, uint64_t endNs) { finishSignal(s, startNs, endNs, true); }

} // namespace wavesan::agent
