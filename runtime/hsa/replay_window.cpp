// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_window.h"

#include <algorithm>

namespace wavesan::hsa {

namespace {
/// How long work waits behind a callback before it is taken for work that the callback waits for.
constexpr std::chrono::milliseconds kGrace(200);
constexpr std::chrono::milliseconds kStep(20);
/// Upper bound of one wait: how late a time limit is noticed.
constexpr uint64_t kWaitNanoseconds = 20'000'000;
} // namespace

bool QueueFences::next(const Api &api, hsa_barrier_and_packet_t &packet) {
  std::lock_guard lock(Mutex);
  while (!Pending.empty() && api.core.hsa_signal_load_scacquire_fn(Pending.front()) < 1) {
    Free.push_back(Pending.front());
    Pending.pop_front();
  }
  hsa_signal_t signal{};
  if (!Free.empty()) {
    signal = Free.back();
    Free.pop_back();
    api.core.hsa_signal_store_relaxed_fn(signal, 1);
  } else if (api.core.hsa_signal_create_fn(1, 0, nullptr, &signal) != HSA_STATUS_SUCCESS) {
    return false;
  }
  packet = {};
  packet.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  packet.completion_signal = signal;
  Pending.push_back(signal);
  Unfenced.store(false, std::memory_order_relaxed);
  return true;
}

bool QueueFences::wait(const Api &api, std::chrono::steady_clock::time_point until) {
  if (Unfenced.load(std::memory_order_relaxed))
    return false;
  hsa_signal_t last{};
  {
    std::lock_guard lock(Mutex);
    if (Pending.empty())
      return true;
    last = Pending.back();
  }
  // Nobody reuses it meanwhile: the window keeps submissions out.
  while (api.core.hsa_signal_wait_scacquire_fn(last, HSA_SIGNAL_CONDITION_LT, 1, kWaitNanoseconds,
                                               HSA_WAIT_STATE_BLOCKED) >= 1)
    if (std::chrono::steady_clock::now() >= until)
      return false;
  return true;
}

bool QueueFences::busy(const Api &api) {
  std::lock_guard lock(Mutex);
  return !Pending.empty() && api.core.hsa_signal_load_scacquire_fn(Pending.back()) >= 1;
}

AgentWindow::Shared AgentWindow::share() {
  Shared lock(Mutex, std::defer_lock);
  const auto begin = std::chrono::steady_clock::now();
  while (!lock.try_lock_for(kStep))
    if (interrupt(begin))
      return {};
  return lock;
}

AgentWindow::Exclusive AgentWindow::take(std::chrono::steady_clock::time_point until) {
  Exclusive lock(Mutex, std::defer_lock);
  const auto begin = std::chrono::steady_clock::now();
  while (!lock.try_lock_for(kStep))
    if (std::chrono::steady_clock::now() >= until || interrupt(begin))
      return {};
  std::lock_guard state(StateMutex);
  Interrupted = false;
  return lock;
}

bool AgentWindow::interrupt(std::chrono::steady_clock::time_point waits) {
  std::lock_guard lock(StateMutex);
  const auto now = std::chrono::steady_clock::now();
  if (passIsStuck(waits, now) || (CallbackSince && now - *CallbackSince >= kGrace))
    return Interrupted = true;
  return false;
}

bool AgentWindow::passIsStuck(std::chrono::steady_clock::time_point waits, std::chrono::steady_clock::time_point now) {
  if (!Current)
    return false;
  if (now >= Current->until)
    return true;
  if (Copies != 0 ||
      std::any_of(Queues.begin(), Queues.end(), [this](QueueFences *queue) { return queue->busy(*Current->api); }))
    Current->lastBusy = now;
  return now - std::max(Current->lastBusy, waits) >= kGrace;
}

void AgentWindow::passBegins(const Api &api, std::chrono::milliseconds limit) {
  std::lock_guard lock(StateMutex);
  const auto now = std::chrono::steady_clock::now();
  Current = Pass{&api, now + limit, now};
}

void AgentWindow::passEnds() {
  std::lock_guard lock(StateMutex);
  Current.reset();
}

void AgentWindow::callbackBegins() {
  std::lock_guard lock(StateMutex);
  CallbackSince = std::chrono::steady_clock::now();
}

void AgentWindow::callbackEnds() {
  std::lock_guard lock(StateMutex);
  CallbackSince.reset();
}

void AgentWindow::letIn() {
  std::lock_guard lock(StateMutex);
  Interrupted = true;
}

bool AgentWindow::interrupted() const {
  std::lock_guard lock(StateMutex);
  return Interrupted;
}

void AgentWindow::addQueue(QueueFences *fences) {
  std::lock_guard lock(StateMutex);
  Queues.push_back(fences);
}

void AgentWindow::removeQueue(QueueFences *fences) {
  std::lock_guard lock(StateMutex);
  std::erase(Queues, fences);
}

bool AgentWindow::hasQueues() const {
  std::lock_guard lock(StateMutex);
  return !Queues.empty();
}

void AgentWindow::copyBegins() {
  std::lock_guard lock(StateMutex);
  ++Copies;
}

void AgentWindow::copyEnds() {
  std::lock_guard lock(StateMutex);
  --Copies;
  CopyEnded.notify_all();
}

bool AgentWindow::waitOthers(const Api &api, const QueueFences *own, std::chrono::steady_clock::time_point until) {
  std::vector<QueueFences *> queues;
  {
    std::unique_lock lock(StateMutex);
    queues = Queues;
    if (!CopyEnded.wait_until(lock, until, [&] { return Copies == 0; }))
      return false;
  }
  return std::all_of(queues.begin(), queues.end(),
                     [&](QueueFences *queue) { return queue == own || queue->wait(api, until); });
}

AgentWindow &WindowTable::of(hsa_agent_t agent) {
  std::lock_guard lock(Mutex);
  std::unique_ptr<AgentWindow> &window = Windows[agent.handle];
  if (!window)
    window = std::make_unique<AgentWindow>();
  return *window;
}

AgentWindow *WindowTable::only(hsa_agent_t &agent) {
  std::lock_guard lock(Mutex);
  AgentWindow *found = nullptr;
  for (auto &[handle, window] : Windows) {
    if (!window->hasQueues())
      continue;
    if (found)
      return nullptr;
    found = window.get();
    agent = {handle};
  }
  return found;
}

std::vector<AgentWindow::Shared> WindowTable::shareAll() {
  std::vector<AgentWindow *> all;
  {
    std::lock_guard lock(Mutex);
    for (auto &[agent, window] : Windows)
      all.push_back(window.get());
  }
  std::vector<AgentWindow::Shared> locks;
  for (AgentWindow *window : all) // in the order of the map: two callers cannot block each other
    locks.push_back(window->share());
  return locks;
}

} // namespace wavesan::hsa
