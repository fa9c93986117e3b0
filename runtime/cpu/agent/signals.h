// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals: amd_signal_t records, whose layout newer HIP versions and device code read directly.
//
// All functions are thread-safe. Records are recycled but never returned to the system, so a late look at a destroyed
// signal reads a record of kind INVALID or of its next owner, never unmapped memory.
#ifndef WAVESAN_CPU_AGENT_SIGNALS_H
#define WAVESAN_CPU_AGENT_SIGNALS_H

#include "event_count.h"
#include "hsa_headers.h"

#include <functional>

namespace wavesan::agent {

/// Value given to the completion signal of a packet or copy that failed: negative, as HSA prescribes, so that no
/// waiter sleeps for ever and none takes the failure for a success.
inline constexpr int64_t kFailedSignalValue = -1;

/// Notified whenever a signal's value changes through this runtime.
EventCount &signalEvents();
/// How often waiters look for values stored by kernels through a pointer.
inline constexpr uint64_t kSignalPollNs = 2'000'000;

inline amd_signal_t *signalRecord(hsa_signal_t s) { return reinterpret_cast<amd_signal_t *>(s.handle); }
inline int64_t signalValue(hsa_signal_t s) { return __atomic_load_n(&signalRecord(s)->value, __ATOMIC_ACQUIRE); }
/// The handle of a signal that this runtime has made, destroyed or not: its record may be looked at. Packets are
/// memory, and anything may stand there.
bool isSignal(hsa_signal_t s);
inline bool isLiveSignal(hsa_signal_t s) { return isSignal(s) && signalRecord(s)->kind != AMD_SIGNAL_KIND_INVALID; }
bool signalConditionHolds(hsa_signal_condition32_t condition, int64_t value, int64_t compare);

/// A new signal of kind USER. Handle 0 when memory is exhausted.
hsa_signal_t createSignal(int64_t initialValue);
/// A new signal of kind DOORBELL: stores to it ring `queue`'s doorbell.
hsa_signal_t createDoorbell(amd_queue_t *queue);
/// Async handlers still registered for the signal are dropped.
void destroySignal(hsa_signal_t s);

/// Records the timestamps, decrements the value and wakes waiters. Does nothing for the null handle.
void completeSignal(hsa_signal_t s, uint64_t startNs, uint64_t endNs);
/// The same for a failed packet or copy: the value becomes kFailedSignalValue.
void failSignal(hsa_signal_t s, uint64_t startNs, uint64_t endNs);

/// Registers `handler(value, arg)`, called on the handler thread each time the condition holds until it returns false.
void addAsyncHandler(hsa_signal_t s, hsa_signal_condition32_t condition, int64_t compare,
                     hsa_amd_signal_handler handler, void *arg);
void removeAsyncHandlers(hsa_signal_t s);
/// Runs `function` on the handler thread.
void callAsync(std::function<void()> function);
/// The handler thread takes up no further work (the process is ending).
void stopAsyncHandlers();

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_SIGNALS_H
