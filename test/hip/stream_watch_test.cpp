// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HIP calls, as the tracer passes them on, and the races that come back. HIP is what the test says it is.
#include "tracer.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace wavesan::hip {
namespace {

Stream stream(uintptr_t n) { return reinterpret_cast<Stream>(0x1000 + n * 64); }
Event event(uintptr_t n) { return reinterpret_cast<Event>(0x900000 + n * 64); }
void *memory(uintptr_t offset) { return reinterpret_cast<void *>(0x10000000 + offset); }

constexpr int kDeviceToDevice = 3, kHostToDevice = 1, kBytes = 64;

struct StreamWatchTest : ::testing::Test {
  Tracer tracer;
  ThreadState thread{11, 0};
  std::vector<std::string> races; ///< "current against previous"
  int untracked = 0;

  StreamWatchTest() {
    tracer.watchStreams(1 << 20);
    tracer.attach([] { return std::vector<std::unique_ptr<TraceSink>>(); }, nullptr);
    const abi::StreamCheckTool tool = {this,
                                       [](void *self, const abi::StreamRace *race) {
                                         static_cast<StreamWatchTest *>(self)->races.push_back(
                                             std::string(race->current.function) +
                                             std::to_string(race->current.stream) + " against " +
                                             race->previous.function + std::to_string(race->previous.stream));
                                       },
                                       nullptr, [](void *self) { ++static_cast<StreamWatchTest *>(self)->untracked; }};
    watch().attach(&tool);
    for (uintptr_t s : {1, 2})
      makeStream(s, kStreamNonBlocking);
  }
  ~StreamWatchTest() override { tracer.detach(); }
  StreamWatch &watch() { return *tracer.watch(); }

  template <class During, class... A> void callWith(CallId id, int result, During during, A... a) {
    CallArguments arguments;
    (arguments.add(a), ...);
    CallState state;
    tracer.begin(state, id, arguments, thread);
    during();
    tracer.end(state, arguments, thread, result);
  }
  template <class... A> void call(CallId id, A... a) {
    callWith(id, kHipSuccess, [] {}, a...);
  }
  void makeStream(uintptr_t n, uint32_t flags) {
    Stream made = stream(n);
    call(CallId::hipStreamCreateWithFlags, &made, flags);
  }
  void fill(uintptr_t s, uintptr_t at = 0) { call(CallId::hipMemsetAsync, memory(at), 0, uint64_t(kBytes), stream(s)); }
  void record(uintptr_t e, uintptr_t s) { call(CallId::hipEventRecord, event(e), stream(s)); }
  void wait(uintptr_t s, uintptr_t e) { call(CallId::hipStreamWaitEvent, stream(s), event(e), 0u); }
  /// A launch with a dispatch of this shape that writes the bytes at `at`. Returns the ticket.
  uint64_t launch(uintptr_t s, uintptr_t at = 0, uint32_t groups = 4, uint32_t seenGroups = 4) {
    uint64_t ticket = 0;
    callWith(
        CallId::hipLaunchKernel, kHipSuccess,
        [&] { ticket = watch().bind({{seenGroups * 64, 1, 1}, {64, 1, 1}}, nullptr, nullptr, 5, 9); }, static_cast<void *>(nullptr),
        Dim3{groups, 1, 1}, Dim3{64, 1, 1}, static_cast<void *>(nullptr), uint64_t(0), stream(s));
    if (ticket) {
      const uint64_t begin = reinterpret_cast<uint64_t>(memory(at));
      const abi::AccessRun run = {begin, begin + kBytes, 1, abi::kAccessWrite, abi::Scope::System};
      const abi::DispatchAccesses all = {&run, 1, nullptr, 0, 0};
      watch().deliver(ticket, 5, 9, &all);
    }
    return ticket;
  }
  abi::StreamCheckCounts counts() {
    abi::StreamCheckCounts c{};
    watch().finish(c);
    return c;
  }
};

} // namespace

TEST_F(StreamWatchTest, TwoStreamsWithoutAnEventRace) {
  fill(1);
  fill(2);
  EXPECT_EQ(races, (std::vector<std::string>{"hipMemsetAsync2 against hipMemsetAsync1"}));
  fill(2, 1024);
  EXPECT_EQ(races.size(), 1u);
}

TEST_F(StreamWatchTest, MappedMemoryIsNotFollowed) {
  void *handle = memory(0);
  callWith(
      CallId::hipMemMap, 801, [] {}, memory(0), uint64_t(4096), uint64_t(0), handle, uint64_t(0)); // not supported
  call(CallId::hipHostRegister, memory(0), uint64_t(4096), 0u);
  EXPECT_EQ(untracked, 0);
  call(CallId::hipMemMap, memory(0), uint64_t(4096), uint64_t(0), handle, uint64_t(0));
  EXPECT_EQ(untracked, 1);
}

TEST_F(StreamWatchTest, AnEventOrdersAndAFailedWaitDoesNot) {
  fill(1);
  record(1, 1);
  wait(2, 1);
  fill(2);
  EXPECT_TRUE(races.empty());
  record(1, 2);
  callWith(CallId::hipStreamWaitEvent, 1, [] {}, stream(1), event(1), 0u);
  fill(1);
  EXPECT_EQ(races.size(), 1u);
}

TEST_F(StreamWatchTest, AWaitIsForTheRecordThatIsTheLatestWhenItIsEntered) {
  record(1, 1);
  fill(1);
  callWith(CallId::hipStreamWaitEvent, kHipSuccess, [&] { record(1, 1); }, stream(2), event(1), 0u);
  fill(2);
  EXPECT_EQ(races.size(), 1u);
}

TEST_F(StreamWatchTest, ADispatchBelongsToTheLaunchThatItsThreadIsInsideOf) {
  fill(1);
  EXPECT_NE(launch(2), 0u);
  EXPECT_EQ(races, (std::vector<std::string>{"hipLaunchKernel2 against hipMemsetAsync1"}));
  EXPECT_EQ(launch(2, 0, 4, 5), 0u);                           // another grid
  EXPECT_EQ(watch().bind({{64, 1, 1}, {64, 1, 1}}, nullptr, nullptr, 5, 9), 0u); // no launch
  const abi::StreamCheckCounts c = counts();
  EXPECT_EQ(c.unbound, 2u);
  EXPECT_EQ(c.unboundLaunches, 1u);
  EXPECT_EQ(c.commands, 2u);
}

TEST_F(StreamWatchTest, WaitsOfTheHostOrder) {
  fill(1);
  call(CallId::hipStreamSynchronize, stream(1));
  fill(2);
  callWith(CallId::hipStreamQuery, kHipErrorNotReady, [] {}, stream(2));
  call(CallId::hipDeviceSynchronize);
  fill(1);
  EXPECT_TRUE(races.empty());
  callWith(CallId::hipStreamQuery, kHipErrorNotReady, [] {}, stream(1)); // says no: orders nothing
  fill(2);
  EXPECT_EQ(races.size(), 1u);
}

TEST_F(StreamWatchTest, BlockingStreamsAndTheDefaultStreamWaitForOneAnother) {
  makeStream(3, 0);
  fill(3);
  call(CallId::hipMemsetAsync, memory(0), 0, uint64_t(kBytes), static_cast<Stream>(nullptr));
  fill(3);
  EXPECT_TRUE(races.empty());
  fill(1);
  EXPECT_EQ(races.size(), 1u);
}

TEST_F(StreamWatchTest, CopiesOfPageableMemoryAreSynchronousAndOfPinnedMemoryNot) {
  void *pinned = memory(1 << 20);
  call(CallId::hipHostMalloc, static_cast<void *>(&pinned), uint64_t(kBytes), 0u);
  call(CallId::hipMemcpyAsync, memory(0), memory(1 << 21), uint64_t(kBytes), kHostToDevice, stream(1));
  fill(2);
  EXPECT_TRUE(races.empty());
  call(CallId::hipStreamSynchronize, stream(2));
  call(CallId::hipMemcpyAsync, memory(0), static_cast<const void *>(pinned), uint64_t(kBytes), kHostToDevice,
       stream(1));
  fill(2);
  EXPECT_EQ(races.size(), 1u);
}

TEST_F(StreamWatchTest, CopiesReadAndWrite) {
  fill(1);
  call(CallId::hipMemcpyAsync, memory(4096), memory(0), uint64_t(kBytes), kDeviceToDevice, stream(2)); // reads it
  EXPECT_EQ(races.size(), 1u);
  call(CallId::hipStreamSynchronize, stream(1));
  call(CallId::hipMemcpyAsync, memory(8192), memory(0), uint64_t(kBytes), kDeviceToDevice, stream(1)); // so does this
  EXPECT_EQ(races.size(), 1u);
  call(CallId::hipMemset2DAsync, memory(4090), uint64_t(128), 0, uint64_t(6), uint64_t(2),
       stream(1)); // rows in front and behind
  EXPECT_EQ(races.size(), 1u);
  call(CallId::hipMemset2DAsync, memory(4090), uint64_t(128), 0, uint64_t(7), uint64_t(2), stream(1));
  EXPECT_EQ(races.size(), 2u);
}

TEST_F(StreamWatchTest, FreesInStreamsAreCommandsAndPlainFreesWaitForTheDevice) {
  void *block = memory(0);
  call(CallId::hipMallocAsync, static_cast<void *>(&block), uint64_t(kBytes), stream(1));
  call(CallId::hipStreamSynchronize, stream(1));
  launch(2);
  call(CallId::hipFreeAsync, block, stream(1));
  EXPECT_EQ(races, (std::vector<std::string>{"hipFreeAsync1 against hipLaunchKernel2"}));
  races.clear();
  call(CallId::hipMalloc, static_cast<void *>(&block), uint64_t(kBytes));
  launch(1);
  call(CallId::hipFree, block);
  call(CallId::hipMalloc, static_cast<void *>(&block), uint64_t(kBytes));
  launch(2);
  EXPECT_TRUE(races.empty());
}

TEST_F(StreamWatchTest, CapturedCommandsAreNotExecuted) {
  call(CallId::hipStreamBeginCapture, stream(1), 0);
  fill(1);
  launch(1);
  void *graph = nullptr;
  call(CallId::hipStreamEndCapture, stream(1), static_cast<void *>(&graph));
  fill(2);
  EXPECT_TRUE(races.empty());
  EXPECT_EQ(counts().commands, 1u);
}

TEST_F(StreamWatchTest, BehindAWaitOfUnknownOriginNothingIsReported) {
  fill(1);
  wait(2, 7); // an event that nobody has seen being created
  fill(2);
  EXPECT_TRUE(races.empty());
  EXPECT_EQ(counts().orderUnknown, 1u);
}

TEST_F(StreamWatchTest, TheHostIsWatchedWhileSomethingIsUnderWay) {
  void *pinned = memory(1 << 20);
  call(CallId::hipHostMalloc, static_cast<void *>(&pinned), uint64_t(kBytes), 0u);
  EXPECT_EQ(*StreamWatch::busy(), 0u);
  call(CallId::hipMemsetAsync, pinned, 0, uint64_t(kBytes), stream(1));
  EXPECT_NE(*StreamWatch::busy(), 0u);
  watch().hostAccess(memory(0), 4, abi::kAccessWrite, 1); // memory that HIP knows nothing of
  watch().hostAccess(pinned, 4, abi::kAccessRead, 1);
  call(CallId::hipStreamSynchronize, stream(1));
  EXPECT_EQ(*StreamWatch::busy(), 0u);
  watch().hostAccess(pinned, 4, abi::kAccessRead, 2);
  const abi::StreamCheckCounts c = counts();
  EXPECT_EQ(races, (std::vector<std::string>{"0 against hipMemsetAsync1"}));
  EXPECT_EQ(c.hostAccesses, 1u);
}

TEST_F(StreamWatchTest, AHostFunctionIsACommandAndTheHostKnowsOnceItRuns) {
  void *pinned = memory(1 << 20);
  call(CallId::hipHostMalloc, static_cast<void *>(&pinned), uint64_t(kBytes), 0u);
  std::shared_ptr<HostCall> given;
  auto launch = [&](uintptr_t s) {
    CallArguments arguments;
    arguments.add(stream(s));
    arguments.add(static_cast<const void *>(&given));
    arguments.add(static_cast<const void *>(nullptr));
    CallState state;
    tracer.begin(state, CallId::hipLaunchHostFunc, arguments, thread);
    given = state.watched.hostCall;
    tracer.end(state, arguments, thread, kHipSuccess);
  };
  // HIP executes what it was given, which stands for the program's function.
  auto run = [&](auto function) {
    using Function = decltype(function);
    struct Bound {
      Function function;
      static void called(void *self) { static_cast<Bound *>(self)->function(); }
    } bound{function};
    given->function = reinterpret_cast<void *>(&Bound::called);
    given->user = &bound;
    const HostFunctionArguments stands = stand(given, false);
    reinterpret_cast<void (*)(void *)>(stands.function)(stands.user);
  };
  auto touch = [&] { watch().hostAccess(pinned, 4, abi::kAccessWrite, 1); };
  call(CallId::hipMemsetAsync, pinned, 0, uint64_t(kBytes), stream(1));
  launch(1);
  call(CallId::hipMemsetAsync, pinned, 0, uint64_t(kBytes), stream(1)); // behind it
  ASSERT_NE(given, nullptr);
  run(touch);
  call(CallId::hipDeviceSynchronize);
  EXPECT_TRUE(races.empty());

  launch(1);
  call(CallId::hipMemsetAsync, pinned, 0, uint64_t(kBytes), stream(2));
  run(touch);
  EXPECT_EQ(races, (std::vector<std::string>{"hipMemsetAsync2 against hipLaunchHostFunc1"}));
  call(CallId::hipDeviceSynchronize);

  // What is submitted once it runs has been submitted by somebody whom it may have told.
  races.clear();
  launch(1);
  run([&] {
    touch();
    call(CallId::hipMemsetAsync, pinned, 0, uint64_t(kBytes), stream(2));
  });
  call(CallId::hipDeviceSynchronize);
  EXPECT_TRUE(races.empty());
}

TEST_F(StreamWatchTest, AHostFunctionMayRunAndWakeOthersBeforeItsCallReturns) {
  void *pinned = memory(1 << 20);
  call(CallId::hipHostMalloc, static_cast<void *>(&pinned), uint64_t(kBytes), 0u);
  call(CallId::hipMemsetAsync, pinned, 0, uint64_t(kBytes), stream(1));
  CallArguments arguments;
  arguments.add(stream(1));
  arguments.add(static_cast<const void *>(&pinned));
  arguments.add(static_cast<const void *>(nullptr));
  CallState state;
  tracer.begin(state, CallId::hipLaunchHostFunc, arguments, thread);
  ASSERT_NE(state.watched.hostCall, nullptr);
  watch().hostFunctionStarts(*state.watched.hostCall);
  watch().hostAccess(pinned, 4, abi::kAccessWrite, 1); // of somebody whom it has told
  call(CallId::hipMemsetAsync, pinned, 0, uint64_t(kBytes), stream(2));
  watch().hostFunctionEnds(*state.watched.hostCall);
  tracer.end(state, arguments, thread, kHipSuccess);
  call(CallId::hipDeviceSynchronize);
  EXPECT_TRUE(races.empty());
}

TEST_F(StreamWatchTest, AHostFunctionThatHipRefusesHoldsUpNobody) {
  callWith(CallId::hipStreamAddCallback, 1, [] {}, stream(1), static_cast<const void *>(this), static_cast<const void *>(nullptr), 0u);
  fill(1);
  fill(2);
  EXPECT_EQ(races.size(), 1u);
}

TEST_F(StreamWatchTest, AThreadSubmitsWhatAnotherOneHasPutIntoItsQueue) {
  static int a, b;
  watch().addKernelName(&a, "a");
  watch().addKernelName(&b, "b");
  const abi::DispatchShapeSeen shape = {{256, 1, 1}, {64, 1, 1}}, larger = {{512, 1, 1}, {64, 1, 1}};
  const auto launchOf = [&](int &kernel, const std::function<void()> &during) {
    callWith(CallId::hipLaunchKernel, kHipSuccess, during, static_cast<void *>(&kernel), Dim3{4, 1, 1}, Dim3{64, 1, 1},
             static_cast<void *>(nullptr), uint64_t(0), stream(1));
  };
  uint64_t first = 0, second = 0;
  launchOf(a, [&] {
    std::thread([&] { // in no launch of its own
      EXPECT_EQ(watch().bind(larger, "a", nullptr, 5, 1), 0u);
      first = watch().bind(shape, "a", nullptr, 5, 2);
    }).join();
    std::thread([&] { // in a launch of another kernel, of the same shape
      ThreadState own{12, 0};
      std::swap(own, thread);
      launchOf(b, [&] {
        EXPECT_EQ(watch().bind(shape, "a", nullptr, 5, 3), first);
        second = watch().bind(shape, "b", nullptr, 6, 4);
        std::thread([&] { EXPECT_EQ(watch().bind(shape, nullptr, nullptr, 7, 5), 0u); }).join(); // one of two
      });
      std::swap(own, thread);
    }).join();
    EXPECT_EQ(watch().bind(shape, "a", nullptr, 5, 6), first);
  });
  EXPECT_NE(first, 0u);
  EXPECT_NE(second, 0u);
  EXPECT_NE(first, second);
  std::thread([&] { EXPECT_EQ(watch().bind(shape, "a", nullptr, 5, 7), 0u); }).join(); // nobody is inside any more
}

TEST_F(StreamWatchTest, AChildBeginsAnew) {
  fill(1);
  watch().beforeFork();
  watch().afterForkInChild();
  EXPECT_EQ(*StreamWatch::busy(), 0u);
  fill(2); // nobody is attached
  EXPECT_TRUE(races.empty());
}

TEST_F(StreamWatchTest, RegisteredMemoryIsOneMemoryAtBothAddresses) {
  call(CallId::hipHostRegister, memory(1 << 20), uint64_t(4096), 0u);
  watch().alias(memory(1 << 20), memory(1 << 24), 4096);
  launch(1, (1 << 24) + 512);
  call(CallId::hipMemcpyAsync, memory(0), memory((1 << 20) + 512), uint64_t(kBytes), kHostToDevice, stream(2));
  EXPECT_EQ(races, (std::vector<std::string>{"hipMemcpyAsync2 against hipLaunchKernel1"}));
  call(CallId::hipDeviceSynchronize);
  races.clear();
  // A copy that names the device's address is one of pinned memory, too: it is not performed synchronously.
  launch(1, (1 << 24) + 512);
  call(CallId::hipMemcpyAsync, memory(0), memory((1 << 24) + 512), uint64_t(kBytes), kHostToDevice, stream(2));
  EXPECT_EQ(counts().repeats, 1u);
  call(CallId::hipDeviceSynchronize);
  races.clear();
  watch().alias(memory(1 << 20), nullptr, 0); // what is there now is something else
  launch(1, (1 << 24) + 512);
  call(CallId::hipMemcpyAsync, memory(0), memory((1 << 20) + 512), uint64_t(kBytes), kHostToDevice, stream(2));
  EXPECT_TRUE(races.empty());
}

TEST_F(StreamWatchTest, WithoutAToolNothingPilesUp) {
  watch().attach(nullptr);
  for (int i = 0; i < 1000; ++i) {
    fill(1);
    fill(2);
  }
  EXPECT_TRUE(races.empty());
  EXPECT_EQ(*StreamWatch::busy(), 0u);
}

} // namespace wavesan::hip
