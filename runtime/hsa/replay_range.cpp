// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_range.h"

#include "replay_service.h"
#include "tool.h"

#include "wavesan/abi/option_units.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <system_error>

namespace wavesan::hsa {

namespace {

/// Dispatches that a range may hold. HIP waits after some more for what it has submitted.
constexpr size_t kMost = 256;

/// Marks a barrier packet as WaveSan's own: no other library's object lies there.
const char kMarker = 0;

unsigned typeOf(const void *packet) {
  uint16_t header = 0;
  std::memcpy(&header, packet, sizeof(header));
  return header >> HSA_PACKET_HEADER_TYPE & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

bool isMarker(const void *packet) {
  hsa_barrier_and_packet_t barrier;
  std::memcpy(&barrier, packet, sizeof(barrier));
  return typeOf(packet) == HSA_PACKET_TYPE_BARRIER_AND && barrier.reserved2 == reinterpret_cast<uint64_t>(&kMarker);
}

} // namespace

ReplayRange &ReplayRange::instance() {
  static ReplayRange *range = new ReplayRange;
  return *range;
}

wavesan_replay_status_t ReplayRange::begin() {
  Tool *tool = Tool::current();
  if (insideReplay())
    return WAVESAN_REPLAY_ERROR_RANGE;
  if (!tool || !ReplayService::instance().subscription())
    return WAVESAN_REPLAY_ERROR_NOT_SUBSCRIBED;
  std::lock_guard lock(Mutex);
  if (Now != State::Closed)
    return WAVESAN_REPLAY_ERROR_RANGE;
  Now = State::Open;
  Active.store(true, std::memory_order_release);
  Queue = nullptr;
  Got = 0;
  Outcome = {};
  const auto until = std::chrono::steady_clock::now() + abi::secondsOf(tool->options.replay_drain_seconds);
  sigset_t all, old; // the program's signal handlers must not run on that thread
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  try {
    Watchdog = std::thread([this, serial = ++Serial, until] { watch(serial, until); });
  } catch (const std::system_error &) { // nobody would end a range that the program forgets
    decline(kDeclineRangeThread);
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return WAVESAN_REPLAY_SUCCESS;
}

wavesan_replay_status_t ReplayRange::end(wavesan_replay_range_t *result) {
  if (insideReplay())
    return WAVESAN_REPLAY_ERROR_RANGE;
  if (result && result->size < sizeof(result->size))
    return WAVESAN_REPLAY_ERROR_INVALID_ARGUMENT;
  std::unique_lock lock(Mutex);
  if (Now != State::Open)
    return WAVESAN_REPLAY_ERROR_RANGE;
  if (Got == 0)
    decline(kDeclineRangeEmpty);
  Now = State::Ending;
  if (!Held.empty()) {
    QueueState &queue = *Queue;
    lock.unlock();
    submitMarker(queue);
    lock.lock();
  }
  // Given up meanwhile: until what it held is on its way.
  Changed.wait(lock, [&] { return Now == State::Ran || (Outcome.declined && Held.empty()); });
  wavesan_replay_range_t answer{};
  answer.size = sizeof(answer);
  answer.dispatches = Got;
  answer.passes = Outcome.passes;
  answer.declined = Outcome.declined;
  Now = State::Closed;
  Active.store(false, std::memory_order_release);
  std::thread watchdog = std::move(Watchdog);
  lock.unlock();
  Changed.notify_all();
  if (watchdog.joinable())
    watchdog.join();
  if (result) {
    answer.size = result->size;
    std::memcpy(result, &answer, std::min(result->size, sizeof(answer)));
  }
  return WAVESAN_REPLAY_SUCCESS;
}

void ReplayRange::watch(uint64_t serial, std::chrono::steady_clock::time_point until) {
  {
    std::unique_lock lock(Mutex);
    if (Changed.wait_until(lock, until, [&] { return Now != State::Open || Serial != serial; }))
      return;
  }
  giveUp(kDeclineRangeOpen);
}

ReplayRange::Step ReplayRange::onPacket(Tool &tool, QueueState &queue, const void *packet) {
  Step step;
  if (!Active.load(std::memory_order_acquire)) {
    step.keeps = isMarker(packet); // of a range that was given up otherwise
    return step;
  }
  std::unique_lock lock(Mutex);
  step.keeps = isMarker(packet);
  const bool dispatch = typeOf(packet) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
  const bool here = !Queue || Queue == &queue;
  if (Now == State::Closed || Now == State::Running || Now == State::Ran || (Outcome.declined && Held.empty()))
    return step;
  if (!here) {
    if (!dispatch || Now == State::Ending || Outcome.declined)
      return step;
    // Its own handler has the packets; it is told by a packet of its queue, which another thread may have to submit.
    decline(kDeclineRangeQueues);
    QueueState &other = *Queue;
    const bool holds = !Held.empty();
    lock.unlock();
    if (holds)
      submitMarker(other);
    return step;
  }
  if (step.keeps) {
    step.runs = Now == State::Ending && !Outcome.declined && !Held.empty();
    if (!step.runs && !Outcome.declined) // the watchdog's, which has just been too late
      return step;
  } else if (dispatch && !Outcome.declined) {
    QueuedDispatch held;
    std::memcpy(&held.packet, packet, sizeof(held.packet));
    held.kernel = tool.kernels.find(held.packet.kernel_object);
    if (held.kernel && held.kernel->internal) {
      decline(kDeclineRangeCopy); // HIP copies and fills by kernels of its own, too
    } else if (Held.size() >= kMost) {
      decline(kDeclineRangeLong);
    } else {
      held.number = tool.nextDispatchNumber();
      held.bound = true;
      held.stream = tool.streams.bind(held.packet, held.kernel, held.number);
      Queue = &queue;
      ++Got;
      Held.push_back(std::move(held));
      step.keeps = true;
      return step;
    }
  } else if (Queue) {
    decline(kDeclineRangeBarrier);
  }
  step.dispatches = std::move(Held);
  Held.clear();
  if (step.runs)
    Now = State::Running;
  else
    Changed.notify_all();
  return step;
}

void ReplayRange::ran(const ReplayOutcome &outcome) {
  std::lock_guard lock(Mutex);
  Outcome = outcome;
  Now = State::Ran;
  Changed.notify_all();
}

void ReplayRange::giveUp(const char *why) {
  if (!Active.load(std::memory_order_acquire) || insideReplay())
    return;
  std::unique_lock lock(Mutex);
  if (Now != State::Open || Outcome.declined)
    return;
  decline(why);
  if (Held.empty())
    return;
  QueueState &queue = *Queue;
  lock.unlock();
  submitMarker(queue);
  lock.lock();
  Changed.wait_for(lock, std::chrono::seconds(1), [&] { return Held.empty(); });
}

void ReplayRange::queueGoes(const QueueState &queue) {
  if (!Active.load(std::memory_order_acquire))
    return;
  {
    std::lock_guard lock(Mutex);
    if (Queue != &queue)
      return;
  }
  giveUp(kDeclineRangeOpen);
}

void ReplayRange::submitMarker(const QueueState &queue) {
  const CoreApiTable &core = Tool::current()->api.core;
  hsa_queue_t *to = queue.handle;
  const uint64_t index = core.hsa_queue_add_write_index_screlease_fn(to, 1);
  while (index - core.hsa_queue_load_read_index_scacquire_fn(to) >= to->size)
    std::this_thread::yield();
  hsa_barrier_and_packet_t marker{};
  marker.reserved2 = reinterpret_cast<uint64_t>(&kMarker);
  auto *slot = static_cast<hsa_barrier_and_packet_t *>(to->base_address) + index % to->size;
  std::memcpy(reinterpret_cast<char *>(slot) + sizeof(slot->header),
              reinterpret_cast<char *>(&marker) + sizeof(marker.header), sizeof(marker) - sizeof(marker.header));
  __atomic_store_n(&slot->header, uint16_t(HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE), __ATOMIC_RELEASE);
  core.hsa_signal_store_screlease_fn(to->doorbell_signal, hsa_signal_value_t(index));
}

} // namespace wavesan::hsa
