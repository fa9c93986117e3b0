// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "signals.h"

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
      constexpr size_t count = 256;
      auto *block =
          static_cast<amd_signal_t *>(std::aligned_alloc(alignof(amd_signal_t), count * sizeof(amd_signal_t)));
      if (!block)
        return nullptr;
      std::memset(static_cast<void *>(block), 0, count * sizeof(amd_signal_t));
      for (size_t i = count; i-- > 0;)
        Free.push_back(&block[i]);
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

private:
  std::mutex Mutex;
  std::vector<amd_signal_t *> Free;
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
