// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The producer map and the resolved-wait map. The first thirteen cases have the names of rocprofv3's.
#include "event_producers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

using namespace wavesan::hip;

namespace {

Event event(uintptr_t n) { return reinterpret_cast<Event>(n * 64); }

Producer producer(StreamId stream, CorrelationId correlation) {
  Producer p;
  p.clock.stream = stream;
  p.correlation = correlation;
  return p;
}

ResolvedWait resolved(StreamId stream, CorrelationId correlation) {
  ResolvedWait wait;
  wait.state = WaitState::Resolved;
  wait.producer = producer(stream, correlation);
  return wait;
}

} // namespace

TEST(EventProducerMap, lookup_unknown_event_returns_nullopt) {
  EventProducers map;
  EXPECT_EQ(map.lookup(event(1)), std::nullopt);
}

TEST(EventProducerMap, lookup_null_event_returns_nullopt) {
  EventProducers map;
  EXPECT_EQ(map.lookup(nullptr), std::nullopt);
}

TEST(EventProducerMap, record_then_lookup_round_trips) {
  EventProducers map;
  map.record(event(1), producer(7, 42));
  const auto found = map.lookup(event(1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->clock.stream, 7u);
  EXPECT_EQ(found->correlation, 42u);
}

TEST(EventProducerMap, record_overwrites_prior_entry) {
  EventProducers map;
  map.record(event(1), producer(7, 42));
  map.record(event(1), producer(8, 43));
  EXPECT_EQ(map.lookup(event(1))->clock.stream, 8u);
  EXPECT_EQ(map.lookup(event(1))->correlation, 43u);
}

TEST(EventProducerMap, record_null_event_is_silent_noop) {
  EventProducers map;
  EXPECT_EQ(map.record(nullptr, producer(7, 42)), 0u);
  EXPECT_EQ(map.lookup(nullptr), std::nullopt);
  EXPECT_EQ(map.eventCount(), 0u);
}

TEST(EventProducerMap, forget_event_removes_entry) {
  EventProducers map;
  map.record(event(1), producer(7, 42));
  map.forget(event(1));
  EXPECT_EQ(map.lookup(event(1)), std::nullopt);
  EXPECT_EQ(map.eventCount(), 0u);
}

TEST(EventProducerMap, forget_unknown_event_is_silent_noop) {
  EventProducers map;
  map.record(event(1), producer(7, 42));
  map.forget(event(2));
  map.forget(nullptr);
  EXPECT_TRUE(map.lookup(event(1)));
}

TEST(EventProducerMap, distinct_events_are_independent) {
  EventProducers map;
  map.record(event(1), producer(7, 42));
  map.record(event(2), producer(8, 43));
  EXPECT_EQ(map.lookup(event(1))->correlation, 42u);
  EXPECT_EQ(map.lookup(event(2))->correlation, 43u);
  map.forget(event(1));
  EXPECT_EQ(map.lookup(event(2))->correlation, 43u);
}

TEST(EventProducerMap, stash_then_consume_resolved_wait_drains) {
  EventProducers map;
  map.stash(5, resolved(7, 42));
  EXPECT_EQ(map.consume(5), resolved(7, 42));
  EXPECT_EQ(map.consume(5), std::nullopt);
  EXPECT_EQ(map.waitCount(), 0u);
}

TEST(EventProducerMap, consume_unknown_corr_id_returns_nullopt) {
  EventProducers map;
  EXPECT_EQ(map.consume(5), std::nullopt);
}

TEST(EventProducerMap, stash_zero_corr_id_is_silent_noop) {
  EventProducers map;
  map.stash(0, resolved(7, 42));
  EXPECT_EQ(map.consume(0), std::nullopt);
  EXPECT_EQ(map.waitCount(), 0u);
}

TEST(EventProducerMap, clear_all_resets_both_maps) {
  EventProducers map;
  map.record(event(1), producer(7, 42));
  map.stash(5, resolved(7, 42));
  map.clearAll();
  EXPECT_EQ(map.lookup(event(1)), std::nullopt);
  EXPECT_EQ(map.consume(5), std::nullopt);
}

TEST(EventProducerMap, concurrent_record_and_forget_does_not_corrupt) {
  EventProducers map;
  constexpr uint64_t kThreads = 4, kOperations = 1000;
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 1; t <= kThreads; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = 1; i <= kOperations; ++i) {
        const Event own = event(t * 100000 + i), common = event(i % 7 + 1);
        map.record(own, producer(t, i));
        map.record(common, producer(t, i));
        map.stash(t * kOperations + i, resolved(t, i));
        const auto found = map.lookup(own);
        wrong += !found || found->clock.stream != t || found->correlation != i;
        map.forget(common);
        if (i % 2)
          map.forget(own);
        wrong += map.consume(t * kOperations + i) != resolved(t, i);
      }
    });
  for (std::thread &t : threads)
    t.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(map.waitCount(), 0u);
  for (uint64_t i = 1; i <= 7; ++i)
    map.forget(event(i));
  EXPECT_EQ(map.eventCount(), kThreads * kOperations / 2);
}

// Beyond the reference.

TEST(EventProducers, UnknownNeverRecordedAndNoDependencyDiffer) {
  EventProducers map;
  EXPECT_EQ(map.resolve(nullptr).state, WaitState::NoDependency);
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::BeforeAttach);
  map.create(event(1));
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::NeverRecorded);
  map.record(event(1), producer(7, 42));
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::Resolved);
  map.clearAll();
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::BeforeAttach);
}

TEST(EventProducers, GenerationsCountTheRecordsOfOneEvent) {
  EventProducers map;
  map.create(event(1));
  EXPECT_EQ(map.record(event(1), producer(7, 1)), 1u);
  EXPECT_EQ(map.record(event(1), producer(8, 2)), 2u);
  EXPECT_EQ(map.resolve(event(1)).producer.generation, 2u);
  const uint64_t number = map.numberOf(event(1));
  // The same address is another event after it has been created again, with or without a destroy that was seen.
  map.create(event(1));
  EXPECT_NE(map.numberOf(event(1)), number);
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::NeverRecorded);
  EXPECT_EQ(map.record(event(1), producer(7, 3)), 1u);
}

TEST(EventProducers, RefusedDestroyRestores) {
  EventProducers map;
  map.create(event(1));
  map.record(event(1), producer(7, 42));
  auto forgotten = map.take(event(1));
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::BeforeAttach);
  map.restore(std::move(forgotten));
  EXPECT_EQ(map.resolve(event(1)).producer.correlation, 42u);
}

TEST(EventProducers, DestroyDoesNotEraseWhatFollowsIt) {
  EventProducers map;
  map.create(event(1));
  map.record(event(1), producer(7, 42));
  auto forgotten = map.take(event(1)); // hipEventDestroy is entered
  map.create(event(1));                // HIP hands out the address to another thread
  map.record(event(1), producer(8, 43));
  map.restore(std::move(forgotten)); // even if the destroy failed after all
  EXPECT_EQ(map.resolve(event(1)).producer.correlation, 43u);
}

TEST(EventProducers, ACapturedRecordIsNoExecution) {
  EventProducers map;
  map.create(event(1));
  Producer captured = producer(7, 42);
  captured.capture = 1;
  map.recordCaptured(event(1), captured);
  EXPECT_EQ(map.lookup(event(1)), std::nullopt);
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::Captured);
  map.record(event(1), producer(7, 43));
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::Resolved);
  captured.correlation = 44;
  map.recordCaptured(event(1), captured);
  EXPECT_EQ(map.lookup(event(1))->correlation, 43u);
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::Captured);
}

TEST(EventProducers, AnEventOfAGraphHasNoKnownProducer) {
  EventProducers map;
  map.create(event(1));
  map.record(event(1), producer(7, 42));
  map.addToGraph(event(1));
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::GraphRecord);
}

TEST(EventProducers, EventsOfOtherProcesses) {
  EventProducers map;
  map.open(event(1));
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::OtherProcess);
  EXPECT_TRUE(map.resolve(event(1)).shared);
  map.record(event(1), producer(7, 42));
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::Resolved);
  EXPECT_TRUE(map.resolve(event(1)).shared);
  map.create(event(2));
  EXPECT_FALSE(map.resolve(event(2)).shared);
  map.share(event(2));
  EXPECT_TRUE(map.resolve(event(2)).shared);
}

TEST(EventProducers, MemoryIsBounded) {
  EventProducers map(100, 10);
  for (uintptr_t i = 1; i <= 1000; ++i)
    map.create(event(i));
  EXPECT_EQ(map.eventCount(), 100u);
  EXPECT_EQ(map.lost(), 900u);
  // Not "before attach": it was seen, and there was no room.
  EXPECT_EQ(map.resolve(event(1000)).state, WaitState::Lost);
  EXPECT_EQ(map.resolve(event(1)).state, WaitState::NeverRecorded);
  for (CorrelationId i = 1; i <= 20; ++i)
    map.stash(i, resolved(1, 1));
  EXPECT_EQ(map.waitCount(), 10u);
}

TEST(EventProducers, MillionsOfShortLivedEventsLeaveNothing) {
  EventProducers map(1000, 10);
  for (uintptr_t i = 1; i <= 1'000'000; ++i) {
    map.create(event(i));
    map.record(event(i), producer(1, i));
    map.forget(event(i));
  }
  EXPECT_EQ(map.eventCount(), 0u);
  EXPECT_EQ(map.lost(), 0u);
}
