// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two maps.
#include "event_producers.h"

#include <mutex>

namespace wavesan::hip {

const char *name(WaitState state) {
  switch (state) {
  case WaitState::NoDependency:
    return "no_dependency";
  case WaitState::Resolved:
    return "resolved";
  case WaitState::NeverRecorded:
    return "never_recorded";
  case WaitState::BeforeAttach:
    return "before_attach";
  case WaitState::Captured:
    return "captured";
  case WaitState::GraphRecord:
    return "graph_record";
  case WaitState::OtherProcess:
    return "other_process";
  case WaitState::Lost:
    return "lost";
  }
  return "?";
}

EventProducers::Entry *EventProducers::entryOf(Event event) {
  auto found = Events.find(event);
  if (found != Events.end())
    return &found->second;
  if (Events.size() >= MaxEvents) {
    EventsLost = true;
    ++LostCount;
    return nullptr;
  }
  Entry &entry = Events[event];
  entry.number = ++NextNumber;
  return &entry;
}

uint64_t EventProducers::create(Event event) {
  if (!event)
    return 0;
  std::unique_lock lock(Mutex);
  Events.erase(event); // its end was not seen
  Entry *entry = entryOf(event);
  if (!entry)
    return 0;
  entry->created = true;
  return entry->number;
}

uint64_t EventProducers::open(Event event) {
  const uint64_t number = create(event);
  std::unique_lock lock(Mutex);
  if (auto found = Events.find(event); number && found != Events.end())
    found->second.opened = found->second.shared = true;
  return number;
}

void EventProducers::share(Event event) {
  if (!event)
    return;
  std::unique_lock lock(Mutex);
  if (Entry *entry = entryOf(event))
    entry->shared = true;
}

void EventProducers::addToGraph(Event event) {
  if (!event)
    return;
  std::unique_lock lock(Mutex);
  if (Entry *entry = entryOf(event))
    entry->inGraph = true;
}

uint64_t EventProducers::record(Event event, Producer producer) {
  if (!event)
    return 0;
  std::unique_lock lock(Mutex);
  Entry *entry = entryOf(event);
  if (!entry)
    return 0;
  producer.generation = ++entry->generations;
  entry->producer = producer;
  return producer.generation;
}

void EventProducers::recordCaptured(Event event, Producer producer) {
  if (!event)
    return;
  std::unique_lock lock(Mutex);
  if (Entry *entry = entryOf(event))
    entry->captured = producer;
}

std::optional<Producer> EventProducers::lookup(Event event) const {
  std::shared_lock lock(Mutex);
  auto found = Events.find(event);
  return found == Events.end() ? std::nullopt : found->second.producer;
}

uint64_t EventProducers::numberOf(Event event) const {
  std::shared_lock lock(Mutex);
  auto found = Events.find(event);
  return found == Events.end() ? 0 : found->second.number;
}

ResolvedWait EventProducers::resolve(Event event) const {
  ResolvedWait wait;
  if (!event)
    return wait;
  std::shared_lock lock(Mutex);
  auto found = Events.find(event);
  if (found == Events.end()) {
    wait.state = EventsLost ? WaitState::Lost : WaitState::BeforeAttach;
    return wait;
  }
  const Entry &entry = found->second;
  wait.event = entry.number;
  wait.shared = entry.shared;
  // A captured record that is newer than the last execution is what HIP looks at, too.
  const bool capturedLast =
      entry.captured && (!entry.producer || entry.captured->correlation > entry.producer->correlation);
  if (capturedLast) {
    wait.state = WaitState::Captured;
    wait.producer = *entry.captured;
  } else if (entry.inGraph) {
    wait.state = WaitState::GraphRecord;
  } else if (entry.producer) {
    wait.state = WaitState::Resolved;
    wait.producer = *entry.producer;
  } else {
    wait.state = entry.opened    ? WaitState::OtherProcess
                 : entry.created ? WaitState::NeverRecorded
                                 : WaitState::BeforeAttach;
  }
  return wait;
}

void EventProducers::forget(Event event) { take(event); }

EventProducers::Forgotten EventProducers::take(Event event) {
  Forgotten forgotten;
  std::unique_lock lock(Mutex);
  forgotten.Node = Events.extract(event);
  return forgotten;
}

void EventProducers::restore(Forgotten &&forgotten) {
  if (!forgotten.Node)
    return;
  std::unique_lock lock(Mutex);
  Events.insert(std::move(forgotten.Node)); // keeps what is there
}

void EventProducers::stash(CorrelationId waiter, const ResolvedWait &wait) {
  if (!waiter)
    return;
  std::unique_lock lock(Mutex);
  if (Waits.size() >= MaxWaits) {
    ++LostCount;
    return;
  }
  Waits[waiter] = wait;
}

std::optional<ResolvedWait> EventProducers::consume(CorrelationId waiter) {
  std::unique_lock lock(Mutex);
  auto node = Waits.extract(waiter);
  return node ? std::optional(node.mapped()) : std::nullopt;
}

void EventProducers::clearAll() {
  std::unique_lock lock(Mutex);
  Events.clear();
  Waits.clear();
  EventsLost = false;
}

uint64_t EventProducers::lost() const {
  std::shared_lock lock(Mutex);
  return LostCount;
}

size_t EventProducers::eventCount() const {
  std::shared_lock lock(Mutex);
  return Events.size();
}

size_t EventProducers::waitCount() const {
  std::shared_lock lock(Mutex);
  return Waits.size();
}

} // namespace wavesan::hip
