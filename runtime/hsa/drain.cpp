// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "drain.h"

#include "wavesan/abi/workgroup_number.h"

#include <algorithm>
#include <pthread.h>
#include <signal.h>
#include <system_error>

namespace wavesan::hsa {

namespace {
/// Each pending dispatch holds a race table; this bounds their memory, as the size of an HSA queue bounds its packets.
constexpr size_t kMaxPending = 1024;
constexpr std::chrono::seconds kSubmitLimit(10);
/// Upper bound of one wait of the thread: how late an out-of-order completion or a stop is noticed.
constexpr uint64_t kWaitNanoseconds = 1'000'000;
constexpr std::chrono::seconds kStopLimit(2);
/// How long a queue may take from the end of a dispatch to the packet behind it.
constexpr uint64_t kPassNanoseconds = 1'000'000'000;

/// The device names the other side's workgroup by number.
abi::RaceRecord withCoordinates(abi::RaceRecord record, const abi::DispatchContext &context) {
  if (abi::RaceSpace(record.space) != abi::RaceSpace::Global || record.previousWorkgroup[1] != abi::kLinearWorkgroup)
    return record;
  abi::workgroupOf(record.previousWorkgroup[0], context.gridSize, context.workgroupSize, record.previousWorkgroup);
  return record;
}
} // namespace

Drain::Drain(const Api &api, DispatchResources &resources, Findings &findings)
    : Runtime(api), Resources(resources), Found(findings) {}

Drain::~Drain() { stop(); }

bool Drain::submit(const PendingDispatch &dispatch) {
  std::unique_lock lock(Mutex);
  if (!Changed.wait_for(lock, kSubmitLimit, [&] { return Stopping || Pending.size() < kMaxPending; }) || Stopping)
    return false;
  if (!Thread.joinable()) {
    // The program's signal handlers must not run on this thread.
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    Running = true;
    try {
      Thread = std::thread([this] { run(); });
    } catch (const std::system_error &) { // the system gives no thread
      Running = false;
    }
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    if (!Running)
      return false;
    pthread_setname_np(Thread.native_handle(), "wavesan-drain");
  }
  Found.submitted();
  Pending.push_back(dispatch);
  Arrived.notify_one();
  return true;
}

size_t Drain::countOf(uint64_t queue) const {
  if (queue == 0)
    return Pending.size() + (Busy != 0);
  auto of = [&](const PendingDispatch &p) { return p.queue == queue; };
  return size_t(std::count_if(Pending.begin(), Pending.end(), of)) + (Busy == queue);
}

bool Drain::waitIdle(uint64_t queue, std::chrono::milliseconds limit) {
  std::unique_lock lock(Mutex);
  return Changed.wait_for(lock, limit, [&] { return countOf(queue) == 0; });
}

void Drain::abandon(uint64_t queue) {
  std::unique_lock lock(Mutex);
  size_t before = Pending.size();
  size_t reported = 0;
  std::erase_if(Pending, [&](const PendingDispatch &p) {
    reported += p.queue == queue && p.reported;
    return p.queue == queue;
  });
  size_t gone = before - Pending.size();
  Changed.notify_all();
  lock.unlock();
  Found.unfinished(gone - reported);
}

void Drain::salvage(uint64_t queue) {
  // With the lock held the thread cannot complete and recycle what is being read here.
  std::lock_guard lock(Mutex);
  for (PendingDispatch &pending : Pending) {
    if (pending.queue != queue || pending.reported)
      continue;
    hsa_signal_value_t value = 0;
    if (isComplete(pending, value) && value == 0)
      continue; // completed well; the thread will get to it
    report(pending, /*failed=*/true);
    pending.reported = true;
  }
}

size_t Drain::pending() const {
  std::lock_guard lock(Mutex);
  return countOf(0);
}

void Drain::stop() {
  std::unique_lock lock(Mutex);
  Stopping = true;
  Arrived.notify_all();
  Changed.notify_all();
  if (!Thread.joinable())
    return;
  std::thread thread = std::move(Thread);
  // The thread may hang in the runtime when the process is being torn down; leaving it behind is better than never
  // ending.
  bool ended = Changed.wait_for(lock, kStopLimit, [&] { return !Running; });
  lock.unlock();
  if (ended)
    thread.join();
  else
    thread.detach();
}

bool Drain::isComplete(const PendingDispatch &dispatch, hsa_signal_value_t &value) const {
  value = Runtime.core.hsa_signal_load_scacquire_fn(dispatch.memory.signal);
  return value < 1;
}

void Drain::run() {
  std::unique_lock lock(Mutex);
  auto nextScan = std::chrono::steady_clock::now();
  while (true) {
    Arrived.wait(lock, [&] { return Stopping || !Pending.empty(); });
    if (Stopping)
      break;
    // Dispatches mostly complete in the order of their submission, so look at the oldest; look at all of them at most
    // once per wait interval.
    size_t found = Pending.size();
    hsa_signal_value_t value = 0;
    if (isComplete(Pending.front(), value)) {
      found = 0;
    } else if (auto now = std::chrono::steady_clock::now(); now >= nextScan) {
      nextScan = now + std::chrono::nanoseconds(kWaitNanoseconds);
      for (found = 1; found < Pending.size() && !isComplete(Pending[found], value); ++found)
        ;
      if (found < Pending.size())
        nextScan = now; // perhaps there are more
    }
    if (found >= Pending.size()) {
      hsa_signal_t oldest = Pending.front().memory.signal;
      lock.unlock();
      Runtime.core.hsa_signal_wait_scacquire_fn(oldest, HSA_SIGNAL_CONDITION_LT, 1, kWaitNanoseconds,
                                                HSA_WAIT_STATE_BLOCKED);
      lock.lock();
      continue;
    }
    PendingDispatch done = std::move(Pending[found]);
    Pending.erase(Pending.begin() + ptrdiff_t(found));
    Busy = done.queue;
    lock.unlock();
    complete(done, value);
    lock.lock();
    Busy = 0;
    Changed.notify_all();
  }
  Running = false;
  Changed.notify_all();
}

void Drain::report(const PendingDispatch &dispatch, bool failed) {
  if (dispatch.quiet)
    return Found.discarded();
  const DispatchMemory &memory = dispatch.memory;
  try {
    DispatchResult result;
    result.counters = *memory.counters;
    result.failed = failed;
    const abi::RaceRecord *records = memory.records();
    const bool any = memory.table->used != 0 || result.counters.racesSeen != 0;
    for (uint32_t i = 0; any && i < Resources.tableCapacity(); ++i) {
      if (records[i].key == 0)
        continue;
      if (!failed || records[i].ready == 1) // a failed dispatch may have stopped in the middle of one
        result.records.push_back(withCoordinates(records[i], *memory.context));
    }
    if (dispatch.part)
      Found.partDrained(*dispatch.kernel, dispatch.dispatch, result);
    else
      Found.drained(*dispatch.kernel, dispatch.dispatch, result);
  } catch (const std::exception &e) { // out of memory: the program goes on
    Found.error(std::string("a dispatch could not be evaluated: ") + e.what());
  }
}

void Drain::complete(const PendingDispatch &done, hsa_signal_value_t value) {
  const DispatchMemory &memory = done.memory;
  if (!done.reported)
    report(done, value < 0);
  if (done.stream)
    done.stream->deliver();
  if (done.delays)
    *done.delays = *memory.delays;

  // Only now may the program see the completion: it may end or read the time stamps right after.
  if (done.programSignal.handle) {
    const auto *from = reinterpret_cast<const amd_signal_t *>(memory.signal.handle);
    auto *to = reinterpret_cast<amd_signal_t *>(done.programSignal.handle);
    to->start_ts = from->start_ts;
    to->end_ts = from->end_ts;
    if (value < 0)
      Runtime.core.hsa_signal_store_screlease_fn(done.programSignal, value);
    else
      Runtime.core.hsa_signal_subtract_screlease_fn(done.programSignal, 1);
  }
  Runtime.core.hsa_signal_store_screlease_fn(memory.drained, 0);
  // The packet behind the dispatch still looks at `drained`. A queue that never gets there keeps the memory.
  if (Runtime.core.hsa_signal_wait_scacquire_fn(memory.passed, HSA_SIGNAL_CONDITION_LT, 1, kPassNanoseconds,
                                                HSA_WAIT_STATE_BLOCKED) < 1)
    Resources.give(memory);
}

} // namespace wavesan::hsa
