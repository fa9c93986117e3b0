// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which hipEventRecord a wait depends on.
//
// Two maps. The producer map: event -> the call that recorded it last. The resolved-wait map: correlation id of a wait
// that is under way -> what it waits for. A wait is resolved when it is *entered*: HIP waits for the record that is
// the latest at that moment, so a record that another thread makes while the wait lasts must not be taken for it.
//
// What is in the producer map, by what the program does with an event E:
//
//   create E                 E exists, never recorded
//   open E (IPC)             E exists, recorded by somebody else
//   record E in stream S     producer = that call, generation + 1 (entered when the call has succeeded)
//   record E during capture  a node of the graph, not an execution: remembered apart, the producer stays what it was
//   E becomes a graph node   each launch of the graph may record it: from here on nobody can say which one
//   destroy E                forgotten before HIP destroys it: HIP may hand out the same address at once, and
//                            what another thread records under it must not be erased
//
// An event that is not in the map has not been seen being created: if it was recorded, then before this trace began, or
// by a path that is not seen.
#ifndef WAVESAN_HIP_EVENT_PRODUCERS_H
#define WAVESAN_HIP_EVENT_PRODUCERS_H

#include "hip_types.h"

#include "stream_order.h"

#include <optional>
#include <shared_mutex>
#include <unordered_map>

namespace wavesan::hip {

using CorrelationId = uint64_t; ///< of a call; 0: none
using StreamId = uint64_t;      ///< of a stream; 0: none

/// A moment in a stream: the number of commands that had been put into it.
struct StreamClock {
  StreamId stream = 0;
  uint64_t position = 0;
  bool operator==(const StreamClock &) const = default;
};

/// A call that work can be waited for.
struct Producer {
  StreamClock clock; ///< of the call's own command
  CorrelationId correlation = 0;
  uint64_t generation = 0; ///< events: 1 for the first record of this event, and so on; given by record()
  uint64_t capture = 0;    ///< number of the capture that it was recorded into; 0: it was executed
  uint32_t thread = 0;
  uint64_t begin = 0, end = 0; ///< nanoseconds, of the call
  streams::Clock knows;        ///< what follows whoever waits for it; null where order is not followed
  bool operator==(const Producer &) const = default;
};

enum class WaitState : uint8_t {
  NoDependency,  ///< waits for nothing: no wait, a failed one, or nothing was ever put into the stream
  Resolved,      ///< waits for `producer`
  NeverRecorded, ///< the event was created in this trace and never recorded
  BeforeAttach,  ///< the event's creation was not seen: its record lies before the trace or outside of what is seen
  Captured,      ///< the event's only record was captured into a graph (`producer`), which is no execution
  GraphRecord,   ///< launches of a graph record the event; which one is not known
  OtherProcess,  ///< an event of another process, not recorded in this one
  Lost           ///< more events or waits at a time than are followed
};
const char *name(WaitState);

struct ResolvedWait {
  WaitState state = WaitState::NoDependency;
  uint64_t event = 0;  ///< number of the event, counted from 1 in the order of creation; 0: none or unknown
  Producer producer;   ///< Resolved and Captured only
  bool shared = false; ///< other processes can record the event
  bool operator==(const ResolvedWait &) const = default;
};

/// Thread-safe. Memory is bounded: at most kMaxEvents events and kMaxWaits waits at a time; what exceeds that is
/// counted and answered with Lost. May throw std::bad_alloc; the maps stay as they were then.
class EventProducers {
public:
  static constexpr size_t kMaxEvents = 1 << 18, kMaxWaits = 1 << 16;

  explicit EventProducers(size_t maxEvents = kMaxEvents, size_t maxWaits = kMaxWaits)
      : MaxEvents(maxEvents), MaxWaits(maxWaits) {}

  // The producer map. Null events are ignored everywhere.

  /// A new event; whatever was known of the address is forgotten. Returns its number.
  uint64_t create(Event);
  /// A new event that another process made.
  uint64_t open(Event);
  /// Other processes may record it from here on.
  void share(Event);
  /// It is a node of a graph that records it.
  void addToGraph(Event);
  /// Its latest record. Returns the generation, 0 if it could not be remembered.
  uint64_t record(Event, Producer);
  /// Its latest captured record.
  void recordCaptured(Event, Producer);
  /// Its latest record, nothing where there is none.
  std::optional<Producer> lookup(Event) const;
  /// Its number; 0 if unknown.
  uint64_t numberOf(Event) const;
  /// What a wait that is entered now waits for.
  ResolvedWait resolve(Event) const;
  void forget(Event);

  /// What destroying needs: takes the event out; restore() puts it back where HIP refused, unless the address is in use
  /// again.
  class Forgotten;
  Forgotten take(Event);
  void restore(Forgotten &&);

  // The resolved-wait map. Correlation id 0 is ignored.

  void stash(CorrelationId waiter, const ResolvedWait &);
  /// The entry of `waiter`, which is removed.
  std::optional<ResolvedWait> consume(CorrelationId waiter);

  /// Both maps become empty: addresses mean something else in the next trace.
  void clearAll();

  /// Events and waits that found no place, since the beginning.
  uint64_t lost() const;
  size_t eventCount() const;
  size_t waitCount() const;

private:
  struct Entry {
    uint64_t number = 0, generations = 0;
    std::optional<Producer> producer, captured;
    bool created = false, opened = false, shared = false, inGraph = false;
  };
  /// Null when there is no room for another one.
  Entry *entryOf(Event);

  const size_t MaxEvents, MaxWaits;
  mutable std::shared_mutex Mutex;
  std::unordered_map<Event, Entry> Events;
  std::unordered_map<CorrelationId, ResolvedWait> Waits;
  uint64_t NextNumber = 0, LostCount = 0;
  bool EventsLost = false; ///< an unknown event may be one of those that found no place
};

class EventProducers::Forgotten {
  friend class EventProducers;
  std::unordered_map<Event, Entry>::node_type Node;
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_EVENT_PRODUCERS_H
