// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hsa_support.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

namespace wavesan::agent::test {
namespace {

class QueueTest : public HsaTest {
protected:
  void SetUp() override {
    HsaTest::SetUp();
    Executable = load("fake_v4.hsaco");
    Append = kernelObject(Executable, "append.kd");
    Log = allocate<uint32_t>(1 << 16);
  }

  /// A dispatch that appends `value` to the log.
  hsa_kernel_dispatch_packet_t append(uint32_t value, hsa_signal_t completion = {0}) {
    Arguments.push_back({Log, value});
    return dispatch(Append, &Arguments.back(), completion);
  }

  hsa_executable_t Executable{};
  uint64_t Append = 0;
  uint32_t *Log = nullptr;

private:
  std::deque<AppendArguments> Arguments; // addresses stay valid
};

TEST_F(QueueTest, ManyPacketsRunInOrderThroughASmallRing) {
  hsa_queue_t *q = queue(8);
  constexpr uint32_t count = 2000;
  for (uint32_t i = 0; i < count; ++i)
    submit(q, append(i));
  hsa_signal_t done = signal(1);
  submit(q, barrier(true, {}, done));
  ASSERT_TRUE(becomes(done, 0));
  ASSERT_EQ(Log[0], count);
  for (uint32_t i = 0; i < count; ++i)
    ASSERT_EQ(Log[1 + i], i);
}

TEST_F(QueueTest, SeveralThreadsFillOneQueue) {
  hsa_queue_t *q = queue(16);
  constexpr uint32_t threads = 4, each = 300;
  std::vector<AppendArguments> arguments(threads * each);
  std::vector<std::thread> producers;
  for (uint32_t t = 0; t < threads; ++t)
    producers.emplace_back([&, t] {
      for (uint32_t i = 0; i < each; ++i) {
        arguments[t * each + i] = {Log, t << 16 | i};
        submit(q, dispatch(Append, &arguments[t * each + i]));
      }
    });
  for (std::thread &p : producers)
    p.join();
  hsa_signal_t done = signal(1);
  submit(q, barrier(true, {}, done));
  ASSERT_TRUE(becomes(done, 0));
  ASSERT_EQ(Log[0], threads * each);
  uint32_t next[threads] = {};
  for (uint32_t i = 0; i < threads * each; ++i) {
    const uint32_t value = Log[1 + i];
    ASSERT_EQ(value & 0xffff, next[value >> 16]++); // in order as seen by each thread
  }
}

TEST_F(QueueTest, NothingRunsBeforeItsHeaderIsWritten) {
  hsa_queue_t *q = queue(8);
  // The first slot is reserved and left invalid; the second is complete and rung.
  const uint64_t first = hsa_queue_add_write_index_relaxed(q, 1);
  submit(q, append(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(Log[0], 0u);
  hsa_kernel_dispatch_packet_t p = append(1);
  char *slot = static_cast<char *>(q->base_address) + first * 64;
  std::memcpy(slot + 2, reinterpret_cast<char *>(&p) + 2, 62);
  __atomic_store_n(reinterpret_cast<uint16_t *>(slot), p.header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(q->doorbell_signal, int64_t(first));
  hsa_signal_t done = signal(1);
  submit(q, barrier(true, {}, done));
  ASSERT_TRUE(becomes(done, 0));
  EXPECT_EQ(Log[0], 2u);
  EXPECT_EQ(Log[1], 1u);
  EXPECT_EQ(Log[2], 2u);
}

TEST_F(QueueTest, BarrierAndWaitsForAll) {
  hsa_queue_t *q = queue(8);
  hsa_signal_t a = signal(1), b = signal(1), passed = signal(1);
  submit(q, barrier(true, {a, b}, passed));
  submit(q, append(1));
  hsa_signal_store_relaxed(a, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(hsa_signal_load_relaxed(passed), 1);
  EXPECT_EQ(Log[0], 0u);
  hsa_signal_store_relaxed(b, 0);
  EXPECT_TRUE(becomes(passed, 0));
  hsa_signal_t done = signal(1);
  submit(q, barrier(true, {}, done));
  ASSERT_TRUE(becomes(done, 0));
  EXPECT_EQ(Log[0], 1u);
}

TEST_F(QueueTest, BarrierOrWaitsForOne) {
  hsa_queue_t *q = queue(8);
  hsa_signal_t a = signal(1), b = signal(1), passed = signal(1);
  submit(q, barrier(false, {a, b}, passed));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(hsa_signal_load_relaxed(passed), 1);
  hsa_signal_store_relaxed(b, 0);
  EXPECT_TRUE(becomes(passed, 0));
}

TEST_F(QueueTest, BarrierValueComparesUnderItsMask) {
  hsa_queue_t *q = queue(8);
  hsa_signal_t s = signal(0x10), passed = signal(1);
  hsa_amd_barrier_value_packet_t p{};
  p.header.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE;
  p.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  p.signal = s;
  p.value = 3;
  p.mask = 0xf;
  p.cond = HSA_SIGNAL_CONDITION_EQ;
  p.completion_signal = passed;
  submit(q, p);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(hsa_signal_load_relaxed(passed), 1);
  hsa_signal_store_relaxed(s, 0x23);
  EXPECT_TRUE(becomes(passed, 0));
}

TEST_F(QueueTest, QueuesOrderEachOtherThroughSignals) {
  hsa_queue_t *first = queue(8), *second = queue(8);
  hsa_signal_t ready = signal(1), done = signal(1);
  submit(second, barrier(true, {ready}, {0}));
  submit(second, append(2, done));
  submit(first, append(1, ready));
  ASSERT_TRUE(becomes(done, 0));
  EXPECT_EQ(Log[0], 2u);
  EXPECT_EQ(Log[1], 1u);
  EXPECT_EQ(Log[2], 2u);
}

TEST_F(QueueTest, CompletionCarriesTimestamps) {
  hsa_queue_t *q = queue(8);
  hsa_signal_t first = signal(1), second = signal(1);
  uint64_t before = 0, after = 0;
  ASSERT_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &before));
  submit(q, append(1, first));
  submit(q, append(2, second));
  ASSERT_TRUE(becomes(second, 0));
  ASSERT_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &after));
  hsa_amd_profiling_dispatch_time_t a{}, b{};
  ASSERT_OK(hsa_amd_profiling_get_dispatch_time(gpu, first, &a));
  ASSERT_OK(hsa_amd_profiling_get_dispatch_time(gpu, second, &b));
  EXPECT_LE(before, a.start);
  EXPECT_LE(a.start, a.end);
  EXPECT_LE(a.end, b.start);
  EXPECT_LE(b.end, after);
}

struct ErrorLog {
  std::atomic<int> calls{0};
  std::atomic<uint32_t> status{0};
  std::atomic<hsa_queue_t *> queue{nullptr};
  std::atomic<int64_t> valueAtCall{-99};
  hsa_signal_t completion{};
};

void recordError(hsa_status_t status, hsa_queue_t *queue, void *data) {
  auto *log = static_cast<ErrorLog *>(data);
  log->status = status;
  log->queue = queue;
  log->valueAtCall = hsa_signal_load_scacquire(log->completion);
  ++log->calls;
}

TEST_F(QueueTest, FailureIsReportedOnceAndNothingRunsAfterIt) {
  struct Case {
    const char *kernel;
    uint32_t status;
  };
  for (Case c : {Case{"unsupported.kd", HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION}, Case{nullptr, 0}}) {
    ErrorLog log;
    log.completion = signal(1);
    hsa_queue_t *q = queue(8, recordError, &log);
    PointerArgument arguments{Log};
    uint64_t kernel = c.kernel ? kernelObject(Executable, c.kernel) : Append + 4; // no kernel lies there
    const uint32_t status = c.kernel ? c.status : uint32_t(HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    Log[0] = 0;
    hsa_signal_t later = signal(1);
    testing::internal::CaptureStderr();
    submit(q, dispatch(kernel, &arguments, log.completion));
    submit(q, append(1, later));
    EXPECT_EQ(hsa_signal_wait_scacquire(later, HSA_SIGNAL_CONDITION_LT, 1, kTenSeconds, HSA_WAIT_STATE_BLOCKED), -1);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(hsa_signal_load_relaxed(log.completion), -1);
    EXPECT_EQ(log.calls, 1);
    EXPECT_EQ(log.status, status);
    EXPECT_EQ(log.queue, q);
    EXPECT_EQ(log.valueAtCall, 1) << "the callback must come before the completion";
    EXPECT_EQ(Log[0], 0u);
    if (c.kernel)
      EXPECT_EQ(text, "wavesan: test.op is not supported by the CPU agent (kernel unsupported, k.c:1)\n");
    else
      EXPECT_EQ(text, "wavesan: a packet names a kernel that is not loaded\n");
  }
}

TEST_F(QueueTest, FailureWithoutCallbackStillCompletes) {
  hsa_queue_t *q = queue(8);
  hsa_signal_t completion = signal(1);
  PointerArgument arguments{Log};
  testing::internal::CaptureStderr();
  submit(q, dispatch(kernelObject(Executable, "unsupported.kd"), &arguments, completion));
  EXPECT_TRUE(becomes(completion, -1));
  testing::internal::GetCapturedStderr();
}

TEST_F(QueueTest, CallbackMayDestroyTheQueue) {
  hsa_queue_t *q = nullptr;
  hsa_signal_t destroyed = signal(1), completion = signal(1);
  auto callback = [](hsa_status_t, hsa_queue_t *queue, void *data) {
    EXPECT_OK(hsa_queue_destroy(queue));
    hsa_signal_store_screlease({reinterpret_cast<uint64_t>(data)}, 0);
  };
  ASSERT_OK(
      hsa_queue_create(gpu, 8, HSA_QUEUE_TYPE_MULTI, callback, reinterpret_cast<void *>(destroyed.handle), 0, 0, &q));
  PointerArgument arguments{Log};
  testing::internal::CaptureStderr();
  submit(q, dispatch(kernelObject(Executable, "unsupported.kd"), &arguments, completion));
  EXPECT_TRUE(becomes(destroyed, 0));
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(hsa_queue_destroy(q), HSA_STATUS_ERROR_INVALID_QUEUE);
}

TEST_F(QueueTest, BarrierOnAFailedCommandFails) {
  hsa_queue_t *bad = queue(8), *good = queue(8);
  hsa_signal_t failed = signal(1), done = signal(1);
  PointerArgument arguments{Log};
  testing::internal::CaptureStderr();
  submit(good, barrier(true, {failed, signal(1)}, done));
  submit(bad, dispatch(kernelObject(Executable, "unsupported.kd"), &arguments, failed));
  EXPECT_TRUE(becomes(done, -1));
  testing::internal::GetCapturedStderr();
}

TEST_F(QueueTest, HardwareLimitsAreErrors) {
  struct Change {
    const char *what;
    void (*apply)(hsa_kernel_dispatch_packet_t &);
    uint32_t status;
  };
  const Change changes[] = {
      {"65537 bytes of LDS", [](auto &p) { p.group_segment_size = 65537; }, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS},
      {"1056 work-items", [](auto &p) { p.workgroup_size_x = 33, p.workgroup_size_y = 32; },
       HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS},
      {"empty workgroup", [](auto &p) { p.workgroup_size_z = 0; }, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS},
      {"empty grid", [](auto &p) { p.grid_size_y = 0; }, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT},
      {"no arguments", [](auto &p) { p.kernarg_address = nullptr; }, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT},
      {"agent dispatch", [](auto &p) { p.header = HSA_PACKET_TYPE_AGENT_DISPATCH; },
       HSA_STATUS_ERROR_INVALID_PACKET_FORMAT},
  };
  for (const Change &c : changes) {
    ErrorLog log;
    log.completion = signal(1);
    hsa_queue_t *q = queue(8, recordError, &log);
    hsa_kernel_dispatch_packet_t p = append(1, log.completion);
    c.apply(p);
    testing::internal::CaptureStderr();
    submit(q, p);
    EXPECT_TRUE(becomes(log.completion, -1)) << c.what;
    EXPECT_NE(testing::internal::GetCapturedStderr(), "") << c.what;
    EXPECT_EQ(log.status, c.status) << c.what;
  }
  EXPECT_EQ(Log[0], 0u);
  hsa_signal_t done = signal(1);
  hsa_kernel_dispatch_packet_t p = append(1, done);
  p.group_segment_size = 65536; // the limit itself is fine
  p.workgroup_size_x = 1024;
  submit(queue(8), p);
  EXPECT_TRUE(becomes(done, 0));
}

TEST_F(QueueTest, SignalsThatDoNotExistAreErrors) {
  hsa_signal_t inside = signal(1), s = signal(1);
  inside.handle += 8; // no record begins there
  for (const hsa_signal_t none : {hsa_signal_t{8}, hsa_signal_t{64}, hsa_signal_t{~uint64_t(0)}, inside}) {
    EXPECT_EQ(hsa_signal_destroy(none), HSA_STATUS_ERROR_INVALID_SIGNAL);
    hsa_amd_barrier_value_packet_t value{};
    value.header.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE;
    value.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
    value.signal = none;
    hsa_amd_barrier_value_packet_t completed{};
    completed.header = value.header;
    completed.completion_signal = none;
    const auto fails = [&](const auto &packet) {
      ErrorLog log;
      log.completion = s;
      hsa_queue_t *q = queue(8, recordError, &log);
      hsa_signal_t later = signal(1);
      testing::internal::CaptureStderr();
      submit(q, packet);
      submit(q, append(1, later));
      EXPECT_TRUE(becomes(later, -1));
      EXPECT_NE(testing::internal::GetCapturedStderr().find("does not exist"), std::string::npos);
      EXPECT_EQ(log.status, uint32_t(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT));
      EXPECT_EQ(log.calls, 1);
    };
    fails(append(1, none));
    fails(barrier(true, {none}, {0}));
    fails(barrier(false, {s, none}, {0}));
    fails(barrier(true, {}, none));
    fails(value);
    fails(completed);
  }
  EXPECT_EQ(Log[0], 0u);
}

TEST_F(QueueTest, PacketsBehindAFailureFailInSilence) {
  ErrorLog log;
  log.completion = signal(1);
  hsa_queue_t *q = queue(8, recordError, &log);
  PointerArgument arguments{Log};
  testing::internal::CaptureStderr();
  submit(q, dispatch(kernelObject(Executable, "unsupported.kd"), &arguments, log.completion));
  hsa_kernel_dispatch_packet_t unknown = append(1, signal(1));
  unknown.header = HSA_PACKET_TYPE_AGENT_DISPATCH;
  submit(q, unknown);
  submit(q, append(1, {64}));
  hsa_signal_t later = signal(1);
  submit(q, barrier(true, {}, later));
  EXPECT_TRUE(becomes(later, -1));
  EXPECT_EQ(hsa_signal_load_relaxed(unknown.completion_signal), -1);
  EXPECT_EQ(log.calls, 1);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(QueueTest, KernelWithoutIrSaysWhatToDo) {
  hsa_executable_t plain = load("fake_no_ir.hsaco");
  ErrorLog log;
  log.completion = signal(1);
  hsa_queue_t *q = queue(8, recordError, &log);
  AppendArguments arguments{Log, 1};
  testing::internal::CaptureStderr();
  submit(q, dispatch(kernelObject(plain, "append.kd"), &arguments, log.completion));
  EXPECT_TRUE(becomes(log.completion, -1));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "wavesan: kernel append carries no WaveSan IR: compile it with `wavesan cc`\n");
  EXPECT_EQ(log.status, uint32_t(HSA_STATUS_ERROR_INVALID_CODE_OBJECT));
}

TEST_F(QueueTest, DestroyEndsARunningKernel) {
  hsa_queue_t *q = nullptr;
  ASSERT_OK(hsa_queue_create(gpu, 8, HSA_QUEUE_TYPE_MULTI, recordError, nullptr, 0, 0, &q));
  PointerArgument arguments{allocate<uint32_t>(1)}; // never set: the kernel spins
  submit(q, dispatch(kernelObject(Executable, "spin.kd"), &arguments));
  submit(q, barrier(true, {signal(1)}, {0}));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_OK(hsa_queue_destroy(q)); // recordError would crash on its null argument: this is no error
}

TEST_F(QueueTest, DestroyEndsAWaitingBarrier) {
  hsa_queue_t *q = nullptr;
  ASSERT_OK(hsa_queue_create(gpu, 8, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &q));
  submit(q, barrier(true, {signal(1)}, {0}));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_OK(hsa_queue_destroy(q));
}

TEST_F(QueueTest, InactiveQueueRunsNothing) {
  hsa_queue_t *q = queue(8);
  ASSERT_OK(hsa_queue_inactivate(q));
  submit(q, append(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(Log[0], 0u);
}

TEST_F(QueueTest, CreationChecksItsArguments) {
  hsa_queue_t *q = nullptr;
  EXPECT_EQ(hsa_queue_create(gpu, 12, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &q),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_queue_create(gpu, 0, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &q),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_queue_create(cpu, 8, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &q),
            HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
  EXPECT_EQ(hsa_queue_create({77}, 8, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &q),
            HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_queue_destroy(nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(QueueTest, VariablesOfTheCodeObjectAreTheKernels) {
  hsa_executable_symbol_t symbol{};
  ASSERT_OK(hsa_executable_get_symbol_by_name(Executable, "Counter", &gpu, &symbol));
  uint64_t address = 0;
  ASSERT_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &address));
  auto *counter = reinterpret_cast<uint32_t *>(address);
  EXPECT_EQ(*counter, 7u);
  *counter = 41;
  PointerArgument arguments{Log};
  hsa_signal_t done = signal(1);
  submit(queue(8), dispatch(kernelObject(Executable, "bumpCounter.kd"), &arguments, done));
  ASSERT_TRUE(becomes(done, 0));
  EXPECT_EQ(Log[0], 42u);
  EXPECT_EQ(*counter, 42u);
}

} // namespace
} // namespace wavesan::agent::test
