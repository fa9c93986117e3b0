// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of HIP's calls while streams are recorded: forks and joins, refused calls, threads and modes.
#include "graph_fixture.h"

#include <cstring>
#include <tuple>

// Functions that the fabricated library lacks: recorded they need none.
using namespace wavesan::hip;
extern "C" {
int hipMemcpy3DAsync(const Copy3DParams *, Stream);
int hipMemset3DAsync(PitchedPtr, int value, Extent, Stream);
int hipModuleLaunchKernel(const void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
                          void **, void **);
int hipExtLaunchKernel(const void *, Dim3, Dim3, void **, size_t, Stream, Event, Event, int);
int hipLaunchCooperativeKernel(const void *, Dim3, Dim3, void **, unsigned, Stream);
int hipMallocAsync(void **, size_t, Stream);
int hipFreeAsync(void *, Stream);
int hipStreamAddCallback(Stream, void *, void *, unsigned);
}
int hipExtModuleLaunchKernel(const void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, size_t, Stream,
                             void **, void **, Event, Event, unsigned) __asm__("_Z24hipExtModuleLaunchKernelP18"
                                                                               "ihipModuleSymbol_tjjjjjjmP12ihipStream_"
                                                                               "tPPvS4_P11ihipEvent_tS6_j");

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
    EXPECT_EQ(hipMemset2DAsync(flat.data() + 2, 8, 2, 1, 2, s), kHipSuccess); // two nodes of HIP's graph
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
TEST_F(Capturing, ThreeDimensions) {
  const Stream s = stream();
  // Boxes of 2 x 2 x 2 longs in blocks of 3 x 2 x 2, from (1, 0, 0) and from (0, 0, 0).
  std::vector<long> from(12), to(12, -1);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = long(i);
  Copy3DParams copy = {};
  copy.from = {from.data(), 24, 24, 2};
  copy.fromPosition = {8, 0, 0};
  copy.to = {to.data(), 24, 24, 2};
  copy.extent = {16, 2, 2};
  copy.kind = 3;
  const wavesan_graph_t graph = recorded(s, [&] {
    EXPECT_EQ(hipMemset3DAsync({to.data(), 24, 24, 2}, 0, {24, 2, 2}, s), kHipSuccess);
    EXPECT_EQ(hipMemcpy3DAsync(&copy, s), kHipSuccess);
  });
  const wavesan_executable_graph_t executable = instantiated(graph);
  EXPECT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(to, (std::vector<long>{1, 2, 0, 4, 5, 0, 7, 8, 0, 10, 11, 0}));
  destroy(executable);
  destroy(graph);
  begin(s); // slices that are further apart than their rows
  EXPECT_EQ(hipMemset3DAsync({to.data(), 24, 24, 2}, 0, {24, 1, 2}, s), kHipErrorCaptureUnsupported);
  endInvalid(s);
  begin(s);
  EXPECT_EQ(hipMemcpy3DAsync(nullptr, s), kHipErrorInvalidValue);
  endInvalid(s);
}

// The events of a launch stand for what is in front of it and for what ends with it.
TEST_F(Capturing, LaunchesOfEveryKind) {
  const Stream s = stream(), other = stream();
  const Event before = event(), after = event();
  std::vector<long> data = {1}, more = {1};
  void *to = data.data();
  unsigned long count = 1;
  long factor = 2, add = 1;
  void *arguments[] = {&to, &count, &factor, &add};
  const wavesan_graph_t graph = recorded(s, [&] {
    EXPECT_EQ(hipModuleLaunchKernel(&kMulAdd, 2, 1, 1, 4, 1, 1, 16, s, arguments, nullptr), kHipSuccess);
    EXPECT_EQ(hipExtModuleLaunchKernel(&kMulAdd, 8, 1, 1, 4, 1, 1, 16, s, arguments, nullptr, before, after, 0),
              kHipSuccess);
    EXPECT_EQ(hipStreamWaitEvent(other, before, 0), kHipSuccess);
    EXPECT_EQ(launch(other, more, 1, 1), kHipSuccess); // beside the second one
    EXPECT_EQ(hipStreamWaitEvent(other, after, 0), kHipSuccess);
    EXPECT_EQ(hipExtLaunchKernel(&kMulAdd, {2, 1, 1}, {4, 1, 1}, arguments, 0, other, nullptr, after, 0), kHipSuccess);
    EXPECT_EQ(hipStreamWaitEvent(s, after, 0), kHipSuccess);
  });
  std::vector<std::vector<uint64_t>> dependencies;
  std::vector<uint32_t> grids;
  std::pair out(&dependencies, &grids);
  EXPECT_EQ(wavesan_graph_visit(
                graph,
                [](const wavesan_graph_node_info_t *n, void *data) {
                  auto &to = *static_cast<decltype(out) *>(data);
                  to.first->emplace_back(n->dependencies, n->dependencies + n->dependency_count);
                  to.second->push_back(n->grid_size[0]);
                  return 0;
                },
                &out),
            kSuccess);
  EXPECT_EQ(dependencies, (std::vector<std::vector<uint64_t>>{{}, {1}, {1}, {2, 3}}));
  EXPECT_EQ(grids, (std::vector<uint32_t>{8, 8, 8, 8}));
  const wavesan_executable_graph_t executable = instantiated(graph);
  EXPECT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(data[0], 15);
  EXPECT_EQ(more[0], 2);
  destroy(executable);
  destroy(graph);
}

TEST_F(Capturing, WhatHipHasNoNodesForIsRefused) {
  const Stream s = stream();
  void *memory = nullptr;
  void *arguments[] = {&memory};
  for (const auto &call : std::vector<std::function<int()>>{
           [&] { return hipMallocAsync(&memory, 8, s); }, [&] { return hipFreeAsync(memory, s); },
           [&] { return hipLaunchCooperativeKernel(&kMulAdd, {1, 1, 1}, {1, 1, 1}, arguments, 0, s); },
           [&] { return hipExtLaunchKernel(&kMulAdd, {1, 1, 1}, {1, 1, 1}, arguments, 0, s, nullptr, nullptr, 1); },
           [&] {
             return hipExtModuleLaunchKernel(&kMulAdd, 6, 1, 1, 4, 1, 1, 0, s, arguments, nullptr, nullptr, nullptr, 0);
           },
           [&] { return hipStreamAddCallback(s, nullptr, nullptr, 0); }}) {
    begin(s);
    EXPECT_EQ(call(), kHipErrorCaptureUnsupported);
    endInvalid(s);
  }
  EXPECT_EQ(memory, nullptr);
}

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

TEST_F(Capturing, LdsThatTheDeviceDoesNotHave) {
  const Stream s = stream();
  std::vector<long> data = {1};
  void *to = data.data();
  unsigned long count = 1;
  long factor = 7, add = 0;
  void *arguments[] = {&to, &count, &factor, &add};
  begin(s);
  EXPECT_EQ(hipLaunchKernel(&kMulAdd, {1, 1, 1}, {1, 1, 1}, arguments, kFakeMaxGroupBytes, s), kHipSuccess);
  EXPECT_EQ(hipLaunchKernel(&kMulAdd, {1, 1, 1}, {1, 1, 1}, arguments, kFakeMaxGroupBytes + 1, s),
            kHipErrorOutOfMemory);
  endInvalid(s);
}

TEST_F(Capturing, FillsThatHipCannotDoAreRefused) {
  const Stream s = stream();
  alignas(8) char data[64] = {};
  for (const auto &[offset, bytes, right] : {std::tuple(0, 1, true),
                                             {1, 6, false},
                                             {1, 7, true},
                                             {7, 1, true},
                                             {6, 1, false},
                                             {4, 3, false},
                                             {4, 4, true},
                                             {8, 3, true}}) {
    begin(s);
    EXPECT_EQ(hipMemsetAsync(data + offset, 1, size_t(bytes), s),
              right ? int(kHipSuccess) : int(kHipErrorCaptureUnsupported))
        << offset << " " << bytes;
    if (!right) {
      endInvalid(s);
      continue;
    }
    wavesan_graph_t graph = nullptr;
    EXPECT_GRAPH(wavesan_graph_end_capture(s, &graph), kSuccess, 0);
    destroy(graph);
  }
  begin(s); // the second row
  EXPECT_EQ(hipMemset2DAsync(data, 12, 1, 3, 2, s), kHipErrorCaptureUnsupported);
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

TEST_F(Capturing, TheLastErrorKnowsRefusedCalls) {
  const Stream s = stream(), blocking = stream(0);
  std::vector<long> data = {1};
  wavesan_graph_t graph = nullptr;
  hipGetLastError();
  // In the default stream beside the capture: nobody else says so.
  begin(blocking);
  launch(nullptr, data, 7, 0);
  EXPECT_EQ(hipPeekAtLastError(), kHipErrorCaptureImplicit);
  EXPECT_EQ(hipPeekAtLastError(), kHipErrorCaptureImplicit);
  std::thread([] { EXPECT_EQ(hipGetLastError(), kHipSuccess); }).join(); // each thread has its own
  EXPECT_EQ(hipGetLastError(), kHipErrorCaptureImplicit);
  EXPECT_EQ(hipGetLastError(), kHipSuccess);
  // Calls that are recorded leave it alone, and so does the end of the capture.
  launch(nullptr, data, 7, 0);
  EXPECT_EQ(launch(blocking, data, 3, 0), kHipSuccess);
  EXPECT_GRAPH(wavesan_graph_end_capture(blocking, &graph), kSuccess, 0);
  EXPECT_EQ(hipGetLastError(), kHipErrorCaptureImplicit);
  EXPECT_EQ(data[0], 1);
  destroy(graph);
  // What HIP had said before the capture, and what it says behind a refused call.
  fakeHipSetLastError(98);
  begin(s);
  EXPECT_EQ(launch(s, data, 3, 0), kHipSuccess);
  EXPECT_EQ(hipPeekAtLastError(), 98);
  EXPECT_EQ(hipStreamSynchronize(s), kHipErrorCaptureUnsupported);
  EXPECT_EQ(hipPeekAtLastError(), kHipErrorCaptureUnsupported);
  fakeHipSetLastError(99);
  EXPECT_EQ(hipGetLastError(), 99);
  EXPECT_EQ(hipGetLastError(), kHipSuccess);
  endInvalid(s);
  EXPECT_EQ(hipGetLastError(), kHipErrorCaptureInvalidated);
  // A node that HIP refuses: its code, once.
  begin(s);
  fakeHipFailGraphs(9);
  EXPECT_EQ(launch(s, data, 7, 0), 9);
  fakeHipFailGraphs(0);
  EXPECT_EQ(hipGetLastError(), 9);
  EXPECT_EQ(hipGetLastError(), kHipSuccess);
  endInvalid(s);
  EXPECT_EQ(hipGetLastError(), kHipErrorCaptureInvalidated);
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
