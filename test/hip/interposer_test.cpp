// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interposed functions, which are part of this executable, in front of a fabricated HIP library.
#include "fake_hip.h"
#include "trace_session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include <dlfcn.h>

using namespace wavesan::hip;

extern "C" {
void wavesan_region_begin(const char *);
void wavesan_region_end();
int roctxRangePushA(const char *);
int roctxRangePop();
uint64_t roctxRangeStartA(const char *);
void roctxRangeStop(uint64_t);
uint64_t fakeRoctxStopped();
}

namespace {

std::vector<CallRecord> calls;

class KeepingSink : public TraceSink {
public:
  void stream(const StreamInfo &) override {}
  void call(const CallRecord &c) override { calls.push_back(c); }
  void finish(const TraceSummary &) override {}
  void abandon() override {}
  std::string takeError() override { return {}; }
};

/// Tracing from here to the end of the scope.
struct Tracing {
  Tracing() {
    calls.clear();
    processTracer().attach(
        [] {
          std::vector<std::unique_ptr<TraceSink>> sinks;
          sinks.push_back(std::make_unique<KeepingSink>());
          return sinks;
        },
        nullptr);
    setTracing(true);
  }
  ~Tracing() {
    setTracing(false);
    processTracer().detach();
  }
};

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const CallRecord &c : calls)
    out.emplace_back(infoOf(c.id).name);
  return out;
}

void useEverythingByValue() {
  EXPECT_EQ(hipMemset3D({nullptr, 1, 2, 4}, 8, {16, 32, 64}), kHipSuccess);
  EXPECT_EQ(fakeHipLastSum(), 127u);
  EXPECT_EQ(hipLaunchKernel(nullptr, {1, 2, 4}, {8, 16, 32}, nullptr, 64, nullptr), kHipSuccess);
  EXPECT_EQ(fakeHipLastSum(), 127u);
}

} // namespace

TEST(Interposer, StandsInFrontOfTheLibrary) {
  // The executable's own definitions, not the fabricated library's.
  Dl_info info{};
  ASSERT_TRUE(dladdr(dlsym(RTLD_DEFAULT, "hipEventRecord"), &info));
  EXPECT_EQ(std::string(info.dli_fname).find("libfake_hip"), std::string::npos);
}

TEST(Interposer, PassesArgumentsAndResultsWithAndWithoutTracing) {
  useEverythingByValue();
  EXPECT_EQ(hipEventDestroy(nullptr), kFakeErrorInvalidHandle);
  Tracing tracing;
  useEverythingByValue();
  EXPECT_EQ(hipEventDestroy(nullptr), kFakeErrorInvalidHandle);
  Event event = nullptr;
  ASSERT_EQ(hipEventCreate(&event), kHipSuccess);
  EXPECT_EQ(hipEventQuery(event), kHipErrorNotReady);
  EXPECT_EQ(hipEventDestroy(event), kHipSuccess);
  EXPECT_EQ(names(), (std::vector<std::string>{"hipMemset3D", "hipLaunchKernel", "hipEventDestroy", "hipEventCreate",
                                               "hipEventQuery", "hipEventDestroy"}));
  EXPECT_EQ(calls[2].result, kFakeErrorInvalidHandle);
  EXPECT_EQ(calls[4].result, kHipErrorNotReady);
}

TEST(Interposer, AFunctionThatHipLacksIsNotSupported) {
  EXPECT_EQ(hipEventRecordWithFlags(nullptr, nullptr, 0), kHipErrorNotSupported);
  Tracing tracing;
  EXPECT_EQ(hipEventRecordWithFlags(nullptr, nullptr, 0), kHipErrorNotSupported);
  EXPECT_TRUE(calls.empty()); // it never happened
}

TEST(Interposer, CallsInsideHipAreHipsOwnBusiness) {
  Tracing tracing;
  int from = 5, to = 0;
  EXPECT_EQ(hipMemcpy(&to, &from, sizeof to, 0), kHipSuccess);
  EXPECT_EQ(to, 5);
  EXPECT_EQ(names(), std::vector<std::string>{"hipMemcpy"});
  hipMemcpyAsync(&to, &from, sizeof to, 0, nullptr);
  EXPECT_EQ(calls.size(), 2u);
}

TEST(Interposer, AnEventFromBeforeTheTraceIsTheSameOneInItsRecordAndInTheWait) {
  Stream stream = nullptr;
  Event event = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), kHipSuccess);
  ASSERT_EQ(hipEventCreate(&event), kHipSuccess);
  Tracing tracing;
  EXPECT_EQ(hipEventRecord(event, stream), kHipSuccess);
  EXPECT_EQ(hipStreamWaitEvent(stream, event, 0), kHipSuccess);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_NE(calls[0].event, 0u);
  EXPECT_EQ(calls[0].event, calls[1].event);
  EXPECT_EQ(calls[0].event, calls[1].wait.event);
  EXPECT_EQ(hipEventDestroy(event), kHipSuccess);
  EXPECT_EQ(hipStreamDestroy(stream), kHipSuccess);
}

// Each stream's events are recorded and waited for by its own thread, and by the next one through a shared event.
TEST(Interposer, FourThreadsAndAThousandStreams) {
  constexpr int kThreads = 4, kStreams = 250;
  Event shared[kThreads];
  for (Event &e : shared)
    ASSERT_EQ(hipEventCreate(&e), kHipSuccess);
  {
    Tracing tracing;
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        std::vector<Stream> streams(kStreams);
        for (Stream &s : streams)
          failures += hipStreamCreate(&s) != kHipSuccess;
        for (int i = 0; i < kStreams; ++i) {
          Event event = nullptr;
          failures += hipEventCreate(&event) != kHipSuccess;
          failures += hipLaunchKernel(nullptr, {1, 1, 1}, {1, 1, 1}, nullptr, 0, streams[size_t(i)]) != kHipSuccess;
          failures += hipEventRecord(event, streams[size_t(i)]) != kHipSuccess;
          failures += hipEventRecord(shared[t], streams[size_t(i)]) != kHipSuccess;
          failures += hipStreamWaitEvent(streams[size_t((i + 1) % kStreams)], event, 0) != kHipSuccess;
          failures += hipStreamWaitEvent(streams[size_t(i)], shared[(t + 1) % kThreads], 0) != kHipSuccess;
          failures += hipEventSynchronize(event) != kHipSuccess;
          failures += hipEventDestroy(event) != kHipSuccess; // its address is handed out again at once
        }
        for (Stream s : streams)
          failures += hipStreamDestroy(s) != kHipSuccess;
      });
    for (std::thread &t : threads)
      t.join();
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(processTracer().streams().streamCount(), 0u);
    EXPECT_EQ(processTracer().producers().waitCount(), 0u);
  }
  EXPECT_EQ(calls.size(), size_t(kThreads * kStreams * 10));
  std::map<CorrelationId, const CallRecord *> records;
  int own = 0, sync = 0, unknown = 0;
  for (const CallRecord &c : calls) {
    if (c.id == CallId::hipEventRecord)
      records[c.correlation] = &c;
    if (c.waitKind == WaitKind::None)
      continue;
    if (c.wait.state != WaitState::Resolved) {
      // The shared events were created before the trace; their first waits may precede every record.
      EXPECT_EQ(c.wait.state, WaitState::BeforeAttach);
      ++unknown;
      continue;
    }
    const auto found = records.find(c.wait.producer.correlation);
    ASSERT_NE(found, records.end());
    EXPECT_EQ(found->second->clock, c.wait.producer.clock);
    EXPECT_EQ(found->second->event, c.wait.event);
    own += c.id == CallId::hipStreamWaitEvent && found->second->thread == c.thread;
    sync += c.id == CallId::hipEventSynchronize;
  }
  EXPECT_EQ(own, kThreads * kStreams);
  EXPECT_EQ(sync, kThreads * kStreams);
  EXPECT_LT(unknown, kThreads * kStreams);
  for (Event e : shared)
    hipEventDestroy(e);
}

// What an interposed call costs where nothing is traced. Prints the figure; the limit is generous, machines are busy.
TEST(Interposer, CostWithTracingOff) {
  using Clock = std::chrono::steady_clock;
  constexpr int kCalls = 1'000'000;
  void *library = dlopen(WAVESAN_TEST_FAKE_HIP, RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  const auto direct = reinterpret_cast<int (*)(Stream)>(dlsym(library, "hipStreamSynchronize"));
  int (*volatile const functions[2])(Stream) = {direct, hipStreamSynchronize};
  double best[2] = {1e9, 1e9};
  for (int round = 0; round < 5; ++round)
    for (int which = 0; which < 2; ++which) {
      const auto begin = Clock::now();
      for (int i = 0; i < kCalls; ++i)
        functions[which](nullptr);
      const std::chrono::duration<double, std::nano> time = Clock::now() - begin;
      best[which] = std::min(best[which], time.count() / kCalls);
    }
  dlclose(library);
  std::printf("an interposed call costs %.1f ns more (%.1f ns instead of %.1f ns)\n", best[1] - best[0], best[1],
              best[0]);
  EXPECT_LT(best[1] - best[0], WAVESAN_TEST_COST_LIMIT_NS);
}

// Last: from here on streams are watched. ROCTX's library gets its calls, too.
TEST(Interposer, MarkersOfRegions) {
  Stream s = nullptr;
  ASSERT_EQ(hipStreamCreate(&s), kHipSuccess);
  EXPECT_EQ(roctxRangePushA("before"), 46);
  EXPECT_EQ(roctxRangePop(), 40);
  processTracer().watchStreams(1 << 20);
  std::vector<RecordedRegion> regions;
  processTracer().watch()->setRecorder(std::make_unique<RegionRecorder>("step", 0, 1 << 20),
                                       [&](RecordedRegion region) { regions.push_back(std::move(region)); });
  {
    Tracing tracing;
    EXPECT_EQ(roctxRangePushA("step"), 44);
    EXPECT_EQ(hipMemsetAsync(nullptr, 0, 0, s), kHipSuccess);
    EXPECT_EQ(roctxRangePop(), 40);
    EXPECT_EQ(regions.size(), 1u);
    const uint64_t range = roctxRangeStartA("step");
    EXPECT_EQ(hipMemsetAsync(nullptr, 0, 0, s), kHipSuccess);
    std::thread([&] { roctxRangeStop(range); }).join();
    EXPECT_EQ(fakeRoctxStopped(), range);
    EXPECT_EQ(regions.size(), 2u);
    wavesan_region_begin("step");
    EXPECT_EQ(hipMemsetAsync(nullptr, 0, 0, s), kHipSuccess);
    std::thread([] { wavesan_region_end(); }).join(); // ends nothing: regions are of threads
    EXPECT_EQ(hipMemsetAsync(nullptr, 0, 0, s), kHipSuccess);
    wavesan_region_end();
    ASSERT_EQ(regions.size(), 3u);
    EXPECT_EQ(regions[0].nodes.size(), 1u);
    EXPECT_EQ(regions[1].nodes.size(), 1u);
    EXPECT_EQ(regions[2].nodes.size(), 2u);
  }
  EXPECT_EQ(hipStreamDestroy(s), kHipSuccess);
}
