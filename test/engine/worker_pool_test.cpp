// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>

namespace wavesan::cpu::engine {
namespace {

const auto kNever = [] { ADD_FAILURE() << "nothing has failed"; };

/// Waits until `count` is `goal`: without the help of others for ever, so the test's limit of time would end it.
void waitFor(const std::atomic<uint32_t> &count, uint32_t goal) {
  while (count < goal)
    std::this_thread::yield();
}

TEST(WorkerPool, OneWorkerIsTheCaller) {
  WorkerPool pool;
  std::thread::id who;
  pool.run(1, [&] { who = std::this_thread::get_id(); }, kNever);
  EXPECT_EQ(who, std::this_thread::get_id());
  EXPECT_EQ(pool.threads(), 0u);
}

TEST(WorkerPool, AllWorkAtOnce) {
  WorkerPool pool;
  for (int round = 0; round < 50; ++round) {
    std::atomic<uint32_t> begun{0}, ended{0};
    pool.run(
        4,
        [&] {
          ++begun;
          waitFor(begun, 4);
          ++ended;
        },
        kNever);
    EXPECT_EQ(ended, 4u);
  }
  EXPECT_EQ(pool.threads(), 3u); // reused
}

TEST(WorkerPool, WhoComesTooLateIsNotWaitedFor) {
  WorkerPool pool;
  std::atomic<uint32_t> calls{0};
  for (int round = 0; round < 2000; ++round) {
    const uint32_t before = calls;
    pool.run(8, [&] { ++calls; }, kNever);
    EXPECT_GE(calls, before + 1);
    const uint32_t now = calls;
    std::this_thread::yield();
    ASSERT_EQ(calls, now) << "a call after run()";
  }
}

TEST(WorkerPool, SeveralCallersShareTheThreads) {
  WorkerPool pool;
  std::atomic<uint64_t> sum{0};
  {
    std::vector<std::jthread> callers;
    for (int c = 0; c < 4; ++c)
      callers.emplace_back([&] {
        for (int round = 0; round < 200; ++round) {
          std::atomic<uint32_t> next{0};
          std::atomic<uint64_t> mine{0};
          pool.run(
              3,
              [&] {
                for (uint32_t k; (k = next++) < 100;)
                  mine += k;
              },
              kNever);
          ASSERT_EQ(mine, 4950u);
          sum += mine;
        }
      });
  }
  EXPECT_EQ(sum, uint64_t(4) * 200 * 4950);
  EXPECT_EQ(pool.threads(), 2u);
}

TEST(WorkerPool, AnExceptionReachesTheCaller) {
  WorkerPool pool;
  for (const bool onCaller : {true, false}) {
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<uint32_t> begun{0};
    std::atomic<bool> stop{false};
    const auto work = [&] {
      ++begun;
      waitFor(begun, 3);
      if ((std::this_thread::get_id() == caller) == onCaller)
        throw std::runtime_error("no more memory");
      while (!stop)
        std::this_thread::yield();
    };
    EXPECT_THROW(pool.run(3, work, [&] { stop = true; }), std::runtime_error);
  }
  std::atomic<uint32_t> calls{0};
  pool.run(2, [&] { ++calls; }, kNever);
  EXPECT_GE(calls, 1u);
}

} // namespace
} // namespace wavesan::cpu::engine
