// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hsa_support.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace wavesan::agent::test {
namespace {

using SignalTest = HsaTest;

TEST_F(SignalTest, UpdatesFollowTheirNames) {
  hsa_signal_t s = signal(12);
  hsa_signal_add_relaxed(s, 5);
  EXPECT_EQ(hsa_signal_load_relaxed(s), 17);
  hsa_signal_subtract_scacq_screl(s, 7);
  EXPECT_EQ(hsa_signal_load_scacquire(s), 10);
  hsa_signal_and_relaxed(s, 6);
  EXPECT_EQ(hsa_signal_load_relaxed(s), 2);
  hsa_signal_or_screlease(s, 5);
  EXPECT_EQ(hsa_signal_load_relaxed(s), 7);
  hsa_signal_xor_scacquire(s, 1);
  EXPECT_EQ(hsa_signal_load_relaxed(s), 6);
  EXPECT_EQ(hsa_signal_exchange_scacq_screl(s, 30), 6);
  EXPECT_EQ(hsa_signal_cas_scacq_screl(s, 31, 1), 30); // does not match
  EXPECT_EQ(hsa_signal_cas_scacq_screl(s, 30, 1), 30);
  EXPECT_EQ(hsa_signal_load_relaxed(s), 1);
  hsa_signal_silent_store_relaxed(s, -4);
  EXPECT_EQ(hsa_signal_load_relaxed(s), -4);
}

TEST_F(SignalTest, RecordHasAmdLayout) {
  hsa_signal_t s = signal(99);
  auto *record = reinterpret_cast<amd_signal_t *>(s.handle);
  EXPECT_EQ(record->kind, AMD_SIGNAL_KIND_USER);
  EXPECT_EQ(record->value, 99);
  volatile hsa_signal_value_t *value = nullptr;
  ASSERT_OK(hsa_amd_signal_value_pointer(s, &value));
  EXPECT_EQ(value, &record->value);
}

TEST_F(SignalTest, WaitEndsAtItsTimeout) {
  hsa_signal_t s = signal(1);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 1, 30'000'000, HSA_WAIT_STATE_BLOCKED), 1);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(30));
}

TEST_F(SignalTest, WaitSeesEveryKindOfChange) {
  // The last one is a plain store through the value's address, as kernels do it.
  for (int way = 0; way < 4; ++way) {
    hsa_signal_t s = signal(1);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      switch (way) {
      case 0:
        hsa_signal_store_screlease(s, 0);
        break;
      case 1:
        hsa_signal_subtract_relaxed(s, 1);
        break;
      case 2:
        hsa_signal_silent_store_relaxed(s, 0);
        break;
      default:
        __atomic_store_n(&reinterpret_cast<amd_signal_t *>(s.handle)->value, 0, __ATOMIC_RELEASE);
      }
    });
    EXPECT_TRUE(becomes(s, 0)) << way;
    other.join();
  }
}

TEST_F(SignalTest, ConditionsAreSigned) {
  hsa_signal_t s = signal(-1);
  EXPECT_EQ(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_LT, 0, kTenSeconds, HSA_WAIT_STATE_ACTIVE), -1);
  EXPECT_EQ(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_GTE, -1, kTenSeconds, HSA_WAIT_STATE_ACTIVE), -1);
  EXPECT_EQ(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_NE, 0, kTenSeconds, HSA_WAIT_STATE_ACTIVE), -1);
}

TEST_F(SignalTest, WaitAnyNamesTheOne) {
  hsa_signal_t signals[] = {signal(1), signal(1), signal(1)};
  hsa_signal_condition_t conditions[] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ};
  hsa_signal_value_t values[] = {0, 0, 0}, found = -7;
  EXPECT_EQ(hsa_amd_signal_wait_any(3, signals, conditions, values, 1'000'000, HSA_WAIT_STATE_BLOCKED, &found),
            UINT32_MAX);
  std::thread other([&] { hsa_signal_store_relaxed(signals[2], 0); });
  EXPECT_EQ(hsa_amd_signal_wait_any(3, signals, conditions, values, kTenSeconds, HSA_WAIT_STATE_BLOCKED, &found), 2u);
  EXPECT_EQ(found, 0);
  other.join();
}

struct HandlerLog {
  std::atomic<int> calls{0};
  std::atomic<int64_t> lastValue{0};
  int repeat = 0;
  hsa_signal_t done{};
};

bool countCall(hsa_signal_value_t value, void *argument) {
  auto *log = static_cast<HandlerLog *>(argument);
  log->lastValue = value;
  const bool again = ++log->calls < log->repeat;
  if (!again)
    hsa_signal_store_relaxed(log->done, 0);
  return again;
}

TEST_F(SignalTest, HandlerIsCalledUntilItReturnsFalse) {
  hsa_signal_t s = signal(5);
  HandlerLog log;
  log.repeat = 3;
  log.done = signal(1);
  ASSERT_OK(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_LT, 5, countCall, &log));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(log.calls, 0);
  hsa_signal_store_relaxed(s, 4);
  EXPECT_TRUE(becomes(log.done, 0));
  EXPECT_EQ(log.calls, 3);
  EXPECT_EQ(log.lastValue, 4);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(log.calls, 3);
}

TEST_F(SignalTest, HandlersOfADestroyedSignalAreDropped) {
  hsa_signal_t s{};
  ASSERT_OK(hsa_signal_create(5, 0, nullptr, &s));
  HandlerLog log;
  log.repeat = 1;
  log.done = signal(1);
  ASSERT_OK(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_EQ, 0, countCall, &log));
  ASSERT_OK(hsa_signal_destroy(s));
  hsa_signal_t reused = signal(0); // likely the same record
  EXPECT_EQ(hsa_signal_wait_scacquire(log.done, HSA_SIGNAL_CONDITION_EQ, 0, 20'000'000, HSA_WAIT_STATE_BLOCKED), 1);
  EXPECT_EQ(hsa_signal_load_relaxed(reused), 0);
}

TEST_F(SignalTest, AsyncFunctionRuns) {
  hsa_signal_t done = signal(1);
  ASSERT_OK(hsa_amd_async_function([](void *s) { hsa_signal_store_relaxed({reinterpret_cast<uint64_t>(s)}, 0); },
                                   reinterpret_cast<void *>(done.handle)));
  EXPECT_TRUE(becomes(done, 0));
}

TEST_F(SignalTest, MisuseIsAnError) {
  EXPECT_EQ(hsa_signal_destroy({0}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  hsa_signal_t s{};
  ASSERT_OK(hsa_signal_create(0, 0, nullptr, &s));
  ASSERT_OK(hsa_signal_destroy(s));
  EXPECT_EQ(hsa_signal_destroy(s), HSA_STATUS_ERROR_INVALID_SIGNAL);
  EXPECT_EQ(hsa_amd_signal_async_handler({0}, HSA_SIGNAL_CONDITION_EQ, 0, countCall, nullptr),
            HSA_STATUS_ERROR_INVALID_SIGNAL);
  EXPECT_EQ(hsa_signal_create(0, 1, nullptr, &s), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_signal_create(0, 0, nullptr, HSA_AMD_SIGNAL_IPC, &s), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

} // namespace
} // namespace wavesan::agent::test
