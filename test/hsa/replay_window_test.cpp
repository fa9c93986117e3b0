// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who waits in front of the window of an agent, and for how long.
#include "replay_window.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace wavesan::hsa {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::atomic<hsa_signal_value_t> Signals[16];
std::atomic<uint64_t> Made{0};

class ReplayWindow : public ::testing::Test {
protected:
  ReplayWindow() {
    Made = 0;
    Runtime.core.hsa_signal_create_fn = [](hsa_signal_value_t value, uint32_t, const hsa_agent_t *, hsa_signal_t *out) {
      out->handle = ++Made;
      Signals[out->handle] = value;
      return HSA_STATUS_SUCCESS;
    };
    Runtime.core.hsa_signal_load_scacquire_fn = [](hsa_signal_t s) { return Signals[s.handle].load(); };
    Runtime.core.hsa_signal_wait_scacquire_fn = [](hsa_signal_t s, hsa_signal_condition_t, hsa_signal_value_t, uint64_t,
                                                   hsa_wait_state_t) { return Signals[s.handle].load(); };
    Runtime.core.hsa_signal_store_relaxed_fn = [](hsa_signal_t s, hsa_signal_value_t value) {
      Signals[s.handle] = value;
    };
    Window.addQueue(&Fences);
    Owned = Window.take(Clock::now() + 1s);
    EXPECT_TRUE(Owned);
  }
  /// The signal of a batch that is under way.
  hsa_signal_t submit() {
    hsa_barrier_and_packet_t packet;
    EXPECT_TRUE(Fences.next(Runtime, packet));
    return packet.completion_signal;
  }
  struct Waiter {
    std::atomic<bool> returned{false};
    bool owns = false;
    Clock::duration waited{};
    std::thread thread;
    explicit Waiter(AgentWindow &window) {
      thread = std::thread([&window, this] {
        const auto begin = Clock::now();
        owns = window.share().owns_lock();
        waited = Clock::now() - begin;
        returned = true;
      });
    }
    void join() { thread.join(); }
  };

  Api Runtime{};
  QueueFences Fences;
  AgentWindow Window;
  AgentWindow::Exclusive Owned;
};

TEST_F(ReplayWindow, WorkWaitsUntilItIsOver) {
  Waiter waiter(Window);
  std::this_thread::sleep_for(400ms);
  EXPECT_FALSE(waiter.returned);
  Owned = {};
  waiter.join();
  EXPECT_TRUE(waiter.owns);
  EXPECT_FALSE(Window.interrupted());
}

TEST_F(ReplayWindow, WorkBehindACallbackIsLetIn) {
  Window.callbackBegins();
  Waiter waiter(Window);
  waiter.join();
  EXPECT_FALSE(waiter.owns);
  EXPECT_TRUE(Window.interrupted());
  EXPECT_GE(waiter.waited, 150ms);
  Window.callbackEnds();
  // Another replay knows nothing of it.
  Owned = {};
  Owned = Window.take(Clock::now() + 1s);
  EXPECT_TRUE(Owned);
  EXPECT_FALSE(Window.interrupted());
}

TEST_F(ReplayWindow, AGraphsPassWithNothingUnderWayWaitsForWhoWaitsHere) {
  Window.passBegins(Runtime, 1h);
  std::this_thread::sleep_for(300ms); // alone it may think as long as it likes
  EXPECT_FALSE(Window.interrupted());
  const auto begin = Clock::now();
  Waiter waiter(Window);
  waiter.join();
  EXPECT_FALSE(waiter.owns);
  EXPECT_TRUE(Window.interrupted());
  EXPECT_GE(Clock::now() - begin, 150ms); // since then
  Window.passEnds();
}

TEST_F(ReplayWindow, WhileSomethingOfItIsUnderWayOthersWait) {
  Window.passBegins(Runtime, 1h);
  const hsa_signal_t batch = submit();
  Waiter waiter(Window);
  std::this_thread::sleep_for(500ms);
  EXPECT_FALSE(waiter.returned);
  Signals[batch.handle] = 0;
  Window.passEnds();
  std::this_thread::sleep_for(300ms); // between the passes, too
  EXPECT_FALSE(waiter.returned);
  Window.copyBegins(); // first: a busy machine may take its time
  Window.passBegins(Runtime, 1h);
  std::this_thread::sleep_for(300ms);
  EXPECT_FALSE(waiter.returned);
  Window.copyEnds();
  waiter.join();
  EXPECT_TRUE(Window.interrupted());
  Window.passEnds();
}

TEST_F(ReplayWindow, WhatWasSubmittedWithoutAFenceIsNotKnownToBeComplete) {
  const auto others = [&] { return Window.waitOthers(Runtime, nullptr, Clock::now() + 10ms); };
  EXPECT_TRUE(others());
  Fences.noteUnfenced();
  EXPECT_FALSE(others());
  const hsa_signal_t batch = submit(); // behind it
  Signals[batch.handle] = 0;
  EXPECT_TRUE(others());
}

TEST_F(ReplayWindow, NotForEver) {
  Window.passBegins(Runtime, 300ms);
  submit();
  Waiter waiter(Window);
  waiter.join();
  EXPECT_GE(waiter.waited, 250ms);
  EXPECT_TRUE(Window.interrupted());
  // Another replay does not get it either.
  EXPECT_FALSE(Window.take(Clock::now() + 1h));
  Window.passEnds();
}

} // namespace
} // namespace wavesan::hsa
