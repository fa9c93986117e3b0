// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of HIP's calls while streams are recorded: forks and joins, refused calls, threads and modes.
#include "graph_fixture.h"

#include <cstring>

namespace wavesan::graph {

namespace {
using hip::kHipSuccess;
using Capturing = GraphTest;
const auto kSuccess = WAVESAN_GRAPH_SUCCESS;
const auto kInvalidGraph = WAVESAN_GRAPH_ERROR_INVALID_GRAPH;

void begin(Stream s, wavesan_graph_capture_mode_t mode = WAVESAN_GRAPH_CAPTURE_GLOBAL) {
  ASSERT_EQ(wavesan_graph_begin_capture(s, mode), kSuccess);
}
int launchNothing(Stream s) { return hipMemsetAsync(nullptr, 0, 0, s); }
/// It is invalid: everything is refused, and it ends without a graph.
void endInvalid(Stream s) {
  wavesan_graph_t graph = nullptr;
  EXPECT_EQ(launchNothing(s), kHipErrorCaptureInvalidated);
  EXPECT_GRAPH(wavesan_graph_is_capturing(s), WAVESAN_GRAPH_QUERY_TRUE, kHipErrorCaptureInvalidated);
  EXPECT_GRAPH(wavesan_graph_pause_capture(s), kInvalidGraph, kHipErrorCaptureInvalidated);
  EXPECT_GRAPH(wavesan_graph_end_capture(s, &graph), kInvalidGraph, kHipErrorCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_GRAPH(wavesan_graph_is_capturing(s), WAVESAN_GRAPH_QUERY_FALSE, 0);
}
} // namespace

TEST_F(Capturing, EachKindOfNode) {
  const Stream s = stream();
  std::vector<long> data = {1, 2, 3, 4}, copy(4), back(4), flat(4);
  int hostCalls = 0;
  const wavesan_graph_t graph = recorded(s, [&] {
    EXPECT_EQ(hipMemsetAsync(data.data(), 1, sizeof(long), s), kHipSuccess);
    EXPECT_EQ(launch(s, data, 1, 1), kHipSuccess);
    EXPECT_EQ(hipMemcpyAsync(copy.data(), data.data(), 4 * sizeof(long), 3, s), kHipSuccess);
    EXPECT_EQ(hipLaunchHostFunc(s, [](void *calls) { ++*static_cast<int *>(calls); }, &hostCalls), kHipSuccess);
    // The left column of two rows.
    EXPECT_EQ(hipMemcpy2DAsync(back.data(), 16, copy.data(), 16, 8, 2, 3, s), kHipSuccess);
    EXPECT_EQ(hipMemsetD32Async(flat.data(), 7, 3, s), kHipSuccess);
    EXPECT_EQ(hipMemset2DAsync(flat.data() + 2, 8, 2, 1, 2, s), kHipSuccess);
  });
  EXPECT_EQ(data, (std::vector<long>{1, 2, 3, 4}));
  EXPECT_EQ(hostCalls, 0);
  const wavesan_executable_graph_t executable = instantiated(graph);
  for (int run = 1; run <= 2; ++run) {
    EXPECT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
    EXPECT_EQ(data, (std::vector<long>{0x0101010101010102, 2 + run, 3 + run, 4 + run}));
    EXPECT_EQ(copy, data);
    EXPECT_EQ(hostCalls, run);
    EXPECT_EQ(back, (std::vector<long>{copy[0], 0, copy[2], 0}));
    EXPECT_EQ(flat, (std::vector<long>{0x700000007, 7, 2, 2}));
    flat = {0, 0, 0, 0};
  }
  destroy(executable);
  destroy(graph);
}

// Only edges keep the fabricated library from executing the newest node first.
TEST_F(Capturing, ForksAndJoinsBecomeEdges) {
  const Stream first = stream(), second = stream(), third = stream();
  const Event fork = event(), join = event(), otherJoin = event();
  std::vector<long> data = {1}, left = {0}, right = {0};
  const wavesan_graph_t graph = recorded(first, [&] {
    launch(first, data, 10, 0);
    EXPECT_EQ(hipEventRecord(fork, first), kHipSuccess);
    launch(first, data, 10, 1); // not seen by the forks
    EXPECT_EQ(hipStreamWaitEvent(second, fork, 0), kHipSuccess);
    EXPECT_EQ(hipStreamWaitEvent(third, fork, 0), kHipSuccess);
    EXPECT_EQ(wavesan_graph_is_capturing(third), WAVESAN_GRAPH_QUERY_TRUE);
    launch(second, left, 1, 5);
    launch(second, left, 2, 0);
    launch(third, right, 1, 7);
    EXPECT_EQ(hipEventRecord(join, second), kHipSuccess);
    EXPECT_EQ(hipEventRecord(otherJoin, third), kHipSuccess);
    EXPECT_EQ(hipStreamWaitEvent(first, join, 0), kHipSuccess);
    EXPECT_EQ(hipStreamWaitEvent(first, otherJoin, 0), kHipSuccess);
    EXPECT_EQ(hipMemcpyAsync(data.data(), left.data(), sizeof(long), 3, first), kHipSuccess);
  });
  std::vector<std::vector<uint64_t>> dependencies;
  std::vector<uint64_t> streams;
  std::pair<std::vector<std::vector<uint64_t>> *, std::vector<uint64_t> *> both = {&dependencies, &streams};
  EXPECT_EQ(wavesan_graph_visit(
                graph,
                [](const wavesan_graph_node_info_t *n, void *out) {
                  auto &to = *static_cast<decltype(both) *>(out);
                  to.first->emplace_back(n->dependencies, n->dependencies + n->dependency_count);
                  to.second->push_back(n->stream);
                  return 0;
                },
                &both),
            kSuccess);
  EXPECT_EQ(dependencies, (std::vector<std::vector<uint64_t>>{{}, {1}, {1}, {3}, {1}, {2, 4, 5}}));
  EXPECT_EQ(streams, (std::vector<uint64_t>{0, 0, 1, 1, 2, 0}));
  const wavesan_executable_graph_t executable = instantiated(graph);
  EXPECT_EQ(wavesan_graph_append(second, executable, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(left[0], 10);
  EXPECT_EQ(data[0], 10);
  EXPECT_EQ(right[0], 7);
  // The streams are as they were.
  EXPECT_EQ(launch(second, right, 2, 0), kHipSuccess);
  EXPECT_EQ(right[0], 14);
  destroy(executable);
  destroy(graph);
}

TEST_F(Capturing, AForkThatIsNotJoined) {
  const Stream s = stream(), forked = stream();
  const Event fork = event();
  std::vector<long> data = {1};
  wavesan_graph_t graph = nullptr, into = nullptr;
  begin(s);
  launch(s, data, 2, 0);
  ASSERT_EQ(hipEventRecord(fork, s), kHipSuccess);
  ASSERT_EQ(hipStreamWaitEvent(forked, fork, 0), kHipSuccess);
  launch(forked, data, 2, 0);
  EXPECT_GRAPH(wavesan_graph_end_capture(forked, &graph), kInvalidGraph, kHipErrorCaptureUnmatched);
  EXPECT_GRAPH(wavesan_graph_end_capture(s, &graph), kInvalidGraph, kHipErrorCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(launch(forked, data, 5, 0), kHipSuccess); // executed
  EXPECT_EQ(data[0], 5);
  // Into a graph of the program's: it is empty again.
  ASSERT_EQ(wavesan_graph_create(&into), kSuccess);
  ASSERT_EQ(wavesan_graph_begin_capture_into(s, into, WAVESAN_GRAPH_CAPTURE_GLOBAL), kSuccess);
  ASSERT_EQ(hipEventRecord(fork, s), kHipSuccess);
  ASSERT_EQ(hipStreamWaitEvent(forked, fork, 0), kHipSuccess);
  launch(forked, data, 2, 0);
  EXPECT_GRAPH(wavesan_graph_end_capture(s, nullptr), kInvalidGraph, kHipErrorCaptureUnjoined);
  EXPECT_EQ(wavesan_graph_is_empty(into), WAVESAN_GRAPH_QUERY_TRUE);
  ASSERT_EQ(wavesan_graph_begin_capture_into(s, into, WAVESAN_GRAPH_CAPTURE_GLOBAL), kSuccess);
  launch(s, data, 3, 0);
  EXPECT_EQ(wavesan_graph_end_capture(s, nullptr), kSuccess);
  const wavesan_executable_graph_t executable = instantiated(into);
  EXPECT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(data[0], 15);
  destroy(executable);
  destroy(into);
}

TEST_F(Capturing, AForkWithoutWorkNeedsNoJoin) {
  const Stream s = stream(), forked = stream();
  const Event fork = event();
  std::vector<long> data = {1};
  const wavesan_graph_t graph = recorded(s, [&] {
    launch(s, data, 2, 0);
    EXPECT_EQ(hipEventRecord(fork, s), kHipSuccess);
    EXPECT_EQ(hipStreamWaitEvent(forked, fork, 0), kHipSuccess);
  });
  destroy(graph);
}

TEST_F(Capturing, EventsOfOtherCapturesAndOfNone) {
  const Stream a = stream(), b = stream();
  const Event ofA = event(), ofNone = event();
  std::vector<long> data = {1};
  begin(a);
  begin(b);
  launch(a, data, 1, 1);
  ASSERT_EQ(hipEventRecord(ofA, a), kHipSuccess);
  EXPECT_EQ(hipStreamWaitEvent(b, ofA, 0), kHipErrorCaptureMerge);
  endInvalid(b);
  wavesan_graph_t graph = nullptr;
  EXPECT_GRAPH(wavesan_graph_end_capture(a, &graph), kSuccess, 0); // the other one is as it was
  destroy(graph);
  ASSERT_EQ(hipEventRecord(ofNone, a), kHipSuccess);
  for (const Event e : {ofNone, ofA}) { // recorded outside; in a capture that has ended
    begin(b);
    EXPECT_EQ(hipStreamWaitEvent(b, e, 0), kHipErrorCaptureIsolation);
    endInvalid(b);
  }
  // Recorded anew outside, the event is no longer one of the capture.
  begin(a);
  ASSERT_EQ(hipEventRecord(ofA, a), kHipSuccess);
  ASSERT_EQ(hipEventRecord(ofA, b), kHipSuccess);
  EXPECT_EQ(hipStreamWaitEvent(b, ofA, 0), kHipSuccess);
  EXPECT_EQ(wavesan_graph_is_capturing(b), WAVESAN_GRAPH_QUERY_FALSE);
  EXPECT_EQ(wavesan_graph_end_capture(a, &graph), kSuccess);
  destroy(graph);
}

TEST_F(Capturing, SynchronousCallsOnTheStreamMakeItInvalid) {
  const Stream s = stream();
  std::vector<long> data = {1};
  for (const auto &call : std::vector<std::function<int()>>{
           [&] { return hipStreamSynchronize(s); }, [&] { return hipStreamQuery(s); },
           [&] { return hipStreamWaitValue32(s, data.data(), 0, 0, 0); }, [&] { return hipGraphLaunch(nullptr, s); }}) {
    begin(s);
    launch(s, data, 7, 0);
    EXPECT_EQ(call(), kHipErrorCaptureUnsupported);
    endInvalid(s);
  }
  EXPECT_EQ(data[0], 1);
  EXPECT_EQ(hipStreamSynchronize(s), kHipSuccess);
  EXPECT_EQ(launch(s, data, 7, 0), kHipSuccess);
  EXPECT_EQ(data[0], 7);
}

TEST_F(Capturing, ANodeThatHipRefusesMakesItInvalid) {
  const Stream s = stream();
  std::vector<long> data = {1};
  begin(s);
  fakeHipFailGraphs(9);
  EXPECT_EQ(launch(s, data, 7, 0), 9);
  fakeHipFailGraphs(0);
  endInvalid(s);
}

TEST_F(Capturing, OtherRefusedCallsChangeNothing) {
  const Stream s = stream(), blocking = stream(0);
  const Event e = event();
  std::vector<long> data = {1};
  void *memory = nullptr, *hipGraph = nullptr;
  begin(s);
  ASSERT_EQ(hipEventRecord(e, s), kHipSuccess);
  EXPECT_EQ(hipEventQuery(e), kHipErrorCapturedEvent);
  EXPECT_EQ(hipEventSynchronize(e), kHipErrorCapturedEvent);
  EXPECT_EQ(hipStreamBeginCapture(s, 0), kHipErrorIllegalState);
  EXPECT_EQ(hipStreamEndCapture(s, &hipGraph), kHipErrorCaptureUnmatched);
  EXPECT_EQ(hipStreamDestroy(s), kHipErrorCaptureUnsupported);
  EXPECT_EQ(hipMalloc(&memory, 8), kHipErrorCaptureUnsupported);
  EXPECT_EQ(hipFree(data.data()), kHipErrorCaptureUnsupported);
  EXPECT_EQ(hipMemcpy(data.data(), data.data(), 8, 3), kHipErrorCaptureUnsupported);
  EXPECT_EQ(hipDeviceSynchronize(), kHipErrorCaptureUnsupported);
  // A stream that is not blocking has nothing to do with the default stream; a blocking one has.
  EXPECT_EQ(launch(nullptr, data, 1, 0), kHipSuccess);
  begin(blocking);
  EXPECT_EQ(launch(nullptr, data, 1, 0), kHipErrorCaptureImplicit);
  EXPECT_EQ(hipStreamWaitEvent(nullptr, e, 0), kHipErrorCaptureImplicit);
  wavesan_graph_t graph = nullptr;
  EXPECT_GRAPH(wavesan_graph_end_capture(blocking, &graph), kSuccess, 0);
  destroy(graph);
  EXPECT_EQ(launch(s, data, 3, 0), kHipSuccess);
  const wavesan_executable_graph_t none = nullptr;
  EXPECT_EQ(wavesan_graph_append(s, none, nullptr, 0, nullptr), WAVESAN_GRAPH_ERROR_INVALID_NULL_HANDLE);
  EXPECT_GRAPH(wavesan_graph_end_capture(s, &graph), kSuccess, 0);
  const wavesan_executable_graph_t executable = instantiated(graph);
  begin(s);
  EXPECT_GRAPH(wavesan_graph_append(s, executable, nullptr, 0, nullptr), WAVESAN_GRAPH_ERROR_UNSUPPORTED_FEATURE,
               kHipErrorCaptureUnsupported);
  wavesan_graph_t empty = nullptr;
  EXPECT_GRAPH(wavesan_graph_end_capture(s, &empty), kSuccess, 0);
  EXPECT_EQ(wavesan_graph_is_empty(empty), WAVESAN_GRAPH_QUERY_TRUE);
  EXPECT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(data[0], 3);
  destroy(executable);
  destroy(graph);
  destroy(empty);
}

TEST_F(Capturing, ModesAndThreads) {
  const Stream s = stream();
  struct Case {
    wavesan_graph_capture_mode_t mode;
    int ownMode;           ///< of the other thread
    int own, other, ended; ///< hipDeviceSynchronize in the capturing and in the other thread; end in the other
  };
  const int refused = kHipErrorCaptureUnsupported;
  for (const Case &c : {Case{WAVESAN_GRAPH_CAPTURE_GLOBAL, 0, refused, refused, kHipErrorCaptureWrongThread},
                        Case{WAVESAN_GRAPH_CAPTURE_GLOBAL, 1, refused, 0, kHipErrorCaptureWrongThread},
                        Case{WAVESAN_GRAPH_CAPTURE_GLOBAL, 2, refused, 0, kHipErrorCaptureWrongThread},
                        Case{WAVESAN_GRAPH_CAPTURE_THREAD_LOCAL, 0, refused, 0, kHipErrorCaptureWrongThread},
                        Case{WAVESAN_GRAPH_CAPTURE_RELAXED, 0, 0, 0, 0}}) {
    SCOPED_TRACE(testing::Message() << "mode " << c.mode << ", thread's mode " << c.ownMode);
    begin(s, c.mode);
    EXPECT_EQ(hipDeviceSynchronize(), c.own);
    wavesan_graph_t graph = nullptr;
    std::thread([&] {
      int mode = c.ownMode;
      ASSERT_EQ(hipThreadExchangeStreamCaptureMode(&mode), kHipSuccess);
      EXPECT_EQ(hipDeviceSynchronize(), c.other);
      EXPECT_GRAPH(wavesan_graph_end_capture(s, &graph), c.ended ? kInvalidGraph : kSuccess, c.ended);
    }).join();
    if (c.ended) {
      EXPECT_GRAPH(wavesan_graph_end_capture(s, &graph), kSuccess, 0);
    }
    destroy(graph);
  }
  // The thread's own mode, relaxed, lets it do what it wants.
  int mode = 2;
  ASSERT_EQ(hipThreadExchangeStreamCaptureMode(&mode), kHipSuccess);
  begin(s);
  EXPECT_EQ(hipDeviceSynchronize(), kHipSuccess);
  wavesan_graph_t graph = nullptr;
  EXPECT_EQ(wavesan_graph_end_capture(s, &graph), kSuccess);
  destroy(graph);
  ASSERT_EQ(hipThreadExchangeStreamCaptureMode(&mode), kHipSuccess);
  EXPECT_EQ(mode, 2); // recording did not change it
}

TEST_F(Capturing, ADestroyedEventIsForgotten) {
  const Stream s = stream(), other = stream();
  begin(s);
  Event e = nullptr;
  ASSERT_EQ(hipEventCreate(&e), kHipSuccess);
  ASSERT_EQ(hipEventRecord(e, s), kHipSuccess);
  ASSERT_EQ(hipEventDestroy(e), kHipSuccess);
  EXPECT_EQ(hipStreamWaitEvent(other, e, 0), kFakeErrorInvalidHandle); // HIP's own answer
  wavesan_graph_t graph = nullptr;
  EXPECT_EQ(wavesan_graph_end_capture(s, &graph), kSuccess);
  destroy(graph);
}

TEST_F(Capturing, FourThreadsRecordAtATime) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      Stream s = nullptr, forked = nullptr;
      Event fork = nullptr, join = nullptr;
      ASSERT_EQ(hipStreamCreateWithFlags(&s, hip::kStreamNonBlocking), kHipSuccess);
      ASSERT_EQ(hipStreamCreateWithFlags(&forked, hip::kStreamNonBlocking), kHipSuccess);
      ASSERT_EQ(hipEventCreate(&fork), kHipSuccess);
      ASSERT_EQ(hipEventCreate(&join), kHipSuccess);
      for (int round = 0; round < 50; ++round) {
        std::vector<long> data = {1};
        begin(s, WAVESAN_GRAPH_CAPTURE_THREAD_LOCAL);
        ASSERT_EQ(hipEventRecord(fork, s), kHipSuccess);
        ASSERT_EQ(hipStreamWaitEvent(forked, fork, 0), kHipSuccess);
        ASSERT_EQ(launch(forked, data, 2, round), kHipSuccess);
        ASSERT_EQ(hipEventRecord(join, forked), kHipSuccess);
        ASSERT_EQ(hipStreamWaitEvent(s, join, 0), kHipSuccess);
        ASSERT_EQ(launch(s, data, 2, 0), kHipSuccess);
        wavesan_graph_t graph = nullptr;
        ASSERT_EQ(wavesan_graph_end_capture(s, &graph), kSuccess);
        const wavesan_executable_graph_t executable = instantiated(graph);
        ASSERT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
        EXPECT_EQ(data[0], 4 + 2 * round);
        destroy(executable);
        destroy(graph);
      }
      for (const Event e : {fork, join})
        EXPECT_EQ(hipEventDestroy(e), kHipSuccess);
      for (const Stream x : {s, forked})
        EXPECT_EQ(hipStreamDestroy(x), kHipSuccess);
    });
  for (std::thread &t : threads)
    t.join();
}

} // namespace wavesan::graph
