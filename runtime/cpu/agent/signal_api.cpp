// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HSA signal functions.
#include "api_table.h"
#include "queue.h"
#include "signals.h"

namespace wavesan::agent::impl {
namespace {

/// Doorbells are written with stores only; every other signal is a plain atomic value.
void storeSignal(hsa_signal_t s, int64_t value, int order) {
  amd_signal_t *record = signalRecord(s);
  if (record->kind == AMD_SIGNAL_KIND_DOORBELL) {
    std::atomic_thread_fence(std::memory_order_release);
    ringDoorbell(record->queue_ptr, uint64_t(value));
    return;
  }
  __atomic_store_n(&record->value, value, order);
  signalEvents().notify();
}

} // namespace

hsa_status_t hsa_amd_signal_create(hsa_signal_value_t initial, uint32_t consumerCount, const hsa_agent_t *consumers,
                                   uint64_t attributes, hsa_signal_t *signal) {
  if (!signal || (consumerCount != 0 && !consumers))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (attributes & HSA_AMD_SIGNAL_IPC) // no memory is shared between processes
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *signal = createSignal(initial);
  return signal->handle ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_signal_create(hsa_signal_value_t initial, uint32_t consumerCount, const hsa_agent_t *consumers,
                               hsa_signal_t *signal) {
  return impl::hsa_amd_signal_create(initial, consumerCount, consumers, 0, signal);
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  if (!signal.handle)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!isLiveSignal(signal))
    return HSA_STATUS_ERROR_INVALID_SIGNAL;
  destroySignal(signal);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t **pointer) {
  if (!pointer)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!isLiveSignal(signal) || signalRecord(signal)->kind != AMD_SIGNAL_KIND_USER)
    return HSA_STATUS_ERROR_INVALID_SIGNAL;
  *pointer = &signalRecord(signal)->value;
  return HSA_STATUS_SUCCESS;
}

#define WAVESAN_SIGNAL_LOAD(Suffix, Order)                                                                             \
  hsa_signal_value_t hsa_signal_load_##Suffix(hsa_signal_t s) {                                                        \
    return __atomic_load_n(&signalRecord(s)->value, Order);                                                            \
  }
WAVESAN_SIGNAL_LOAD(relaxed, __ATOMIC_RELAXED)
WAVESAN_SIGNAL_LOAD(scacquire, __ATOMIC_ACQUIRE)

#define WAVESAN_SIGNAL_STORE(Suffix, Order)                                                                            \
  void hsa_signal_store_##Suffix(hsa_signal_t s, hsa_signal_value_t v) { storeSignal(s, v, Order); }                   \
  void hsa_signal_silent_store_##Suffix(hsa_signal_t s, hsa_signal_value_t v) {                                        \
    __atomic_store_n(&signalRecord(s)->value, v, Order);                                                               \
  }
WAVESAN_SIGNAL_STORE(relaxed, __ATOMIC_RELAXED)
WAVESAN_SIGNAL_STORE(screlease, __ATOMIC_RELEASE)

#define WAVESAN_SIGNAL_UPDATE(Name, Builtin, Suffix, Order)                                                            \
  void hsa_signal_##Name##_##Suffix(hsa_signal_t s, hsa_signal_value_t v) {                                            \
    Builtin(&signalRecord(s)->value, v, Order);                                                                        \
    signalEvents().notify();                                                                                           \
  }
#define WAVESAN_SIGNAL_UPDATES(Name, Builtin)                                                                          \
  WAVESAN_SIGNAL_UPDATE(Name, Builtin, relaxed, __ATOMIC_RELAXED)                                                      \
  WAVESAN_SIGNAL_UPDATE(Name, Builtin, scacquire, __ATOMIC_ACQUIRE)                                                    \
  WAVESAN_SIGNAL_UPDATE(Name, Builtin, screlease, __ATOMIC_RELEASE)                                                    \
  WAVESAN_SIGNAL_UPDATE(Name, Builtin, scacq_screl, __ATOMIC_ACQ_REL)
WAVESAN_SIGNAL_UPDATES(add, __atomic_fetch_add)
WAVESAN_SIGNAL_UPDATES(subtract, __atomic_fetch_sub)
WAVESAN_SIGNAL_UPDATES(and, __atomic_fetch_and)
WAVESAN_SIGNAL_UPDATES(or, __atomic_fetch_or)
WAVESAN_SIGNAL_UPDATES(xor, __atomic_fetch_xor)

#define WAVESAN_SIGNAL_EXCHANGE(Suffix, Order, FailureOrder)                                                           \
  hsa_signal_value_t hsa_signal_exchange_##Suffix(hsa_signal_t s, hsa_signal_value_t v) {                              \
    hsa_signal_value_t old = __atomic_exchange_n(&signalRecord(s)->value, v, Order);                                   \
    signalEvents().notify();                                                                                           \
    return old;                                                                                                        \
  }                                                                                                                    \
  hsa_signal_value_t hsa_signal_cas_##Suffix(hsa_signal_t s, hsa_signal_value_t expected, hsa_signal_value_t v) {      \
    __atomic_compare_exchange_n(&signalRecord(s)->value, &expected, v, false, Order, FailureOrder);                    \
    signalEvents().notify();                                                                                           \
    return expected;                                                                                                   \
  }
WAVESAN_SIGNAL_EXCHANGE(relaxed, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
WAVESAN_SIGNAL_EXCHANGE(scacquire, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)
WAVESAN_SIGNAL_EXCHANGE(screlease, __ATOMIC_RELEASE, __ATOMIC_RELAXED)
WAVESAN_SIGNAL_EXCHANGE(scacq_screl, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

hsa_signal_value_t hsa_signal_wait_scacquire(hsa_signal_t s, hsa_signal_condition_t condition,
                                             hsa_signal_value_t compare, uint64_t timeout, hsa_wait_state_t) {
  int64_t value = 0;
  signalEvents().wait(
      [&] {
        value = signalValue(s);
        return signalConditionHolds(condition, value, compare);
      },
      timeout, kSignalPollNs);
  return value;
}

hsa_signal_value_t hsa_signal_wait_relaxed(hsa_signal_t s, hsa_signal_condition_t condition, hsa_signal_value_t compare,
                                           uint64_t timeout, hsa_wait_state_t hint) {
  return impl::hsa_signal_wait_scacquire(s, condition, compare, timeout, hint);
}

uint32_t hsa_amd_signal_wait_any(uint32_t count, hsa_signal_t *signals, hsa_signal_condition_t *conditions,
                                 hsa_signal_value_t *compares, uint64_t timeout, hsa_wait_state_t,
                                 hsa_signal_value_t *satisfying) {
  uint32_t index = UINT32_MAX;
  signalEvents().wait(
      [&] {
        for (uint32_t i = 0; i < count; ++i) {
          const int64_t value = signalValue(signals[i]);
          if (!signalConditionHolds(conditions[i], value, compares[i]))
            continue;
          index = i;
          if (satisfying)
            *satisfying = value;
          return true;
        }
        return false;
      },
      timeout, kSignalPollNs);
  return index;
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
                                          hsa_signal_value_t compare, hsa_amd_signal_handler handler, void *argument) {
  if (!handler)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!isLiveSignal(signal))
    return HSA_STATUS_ERROR_INVALID_SIGNAL;
  addAsyncHandler(signal, condition, compare, handler, argument);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_async_function(void (*callback)(void *), void *argument) {
  if (!callback)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  callAsync([=] { callback(argument); });
  return HSA_STATUS_SUCCESS;
}

} // namespace wavesan::agent::impl
