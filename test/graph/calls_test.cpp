// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each call of graph.h, and each of its errors.
#include "graph_fixture.h"

#include <chrono>

extern "C" uint32_t wavesan_graph_version_from_c(void);

namespace wavesan::graph {

namespace {
const auto kNullHandle = WAVESAN_GRAPH_ERROR_INVALID_NULL_HANDLE;
const auto kNullPointer = WAVESAN_GRAPH_ERROR_INVALID_NULL_POINTER;
const auto kInvalidGraph = WAVESAN_GRAPH_ERROR_INVALID_GRAPH;
const auto kInvalidArgument = WAVESAN_GRAPH_ERROR_INVALID_ARGUMENT;
const auto kUnsupported = WAVESAN_GRAPH_ERROR_UNSUPPORTED_FEATURE;
const auto kSuccess = WAVESAN_GRAPH_SUCCESS;

using Calls = GraphTest;
} // namespace

TEST_F(Calls, HeaderIsC) { EXPECT_EQ(wavesan_graph_version_from_c(), WAVESAN_GRAPH_API_VERSION); }

TEST_F(Calls, Properties) {
  wavesan_graph_properties_t properties{};
  EXPECT_GRAPH(wavesan_graph_get_properties(nullptr), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_graph_get_properties(&properties), kInvalidArgument, 0);
  properties.size = sizeof properties;
  EXPECT_GRAPH(wavesan_graph_get_properties(&properties), kSuccess, 0);
  EXPECT_EQ(properties.flags, WAVESAN_GRAPH_FLAG_IMMUTABLE_GRAPH | WAVESAN_GRAPH_FLAG_MUTABLE_GRAPH);
  EXPECT_EQ(properties.recording, 1u);
  EXPECT_EQ(properties.external_events, 1u);
}

TEST_F(Calls, CreateAndDestroy) {
  wavesan_graph_t graph = nullptr;
  EXPECT_GRAPH(wavesan_graph_create(nullptr), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_graph_create(&graph), kSuccess, 0);
  EXPECT_EQ(fakeHipGraphCounts().graphs, Before.graphs + 1);
  EXPECT_GRAPH(wavesan_graph_destroy(nullptr), kNullHandle, 0);
  EXPECT_GRAPH(wavesan_graph_destroy(graph), kSuccess, 0);
  EXPECT_GRAPH(wavesan_graph_destroy(graph), kInvalidGraph, kHipErrorInvalidValue);
}

TEST_F(Calls, AGraphThatIsBeingRecordedIsInUse) {
  const Stream s = stream();
  wavesan_graph_t graph = nullptr;
  ASSERT_EQ(wavesan_graph_begin_capture(s, WAVESAN_GRAPH_CAPTURE_GLOBAL), kSuccess);
  ASSERT_EQ(wavesan_graph_of_stream(s, &graph), kSuccess);
  EXPECT_GRAPH(wavesan_graph_destroy(graph), WAVESAN_GRAPH_ERROR_IN_USE, kHipErrorCaptureUnsupported);
  wavesan_executable_graph_t executable = nullptr;
  EXPECT_GRAPH(wavesan_graph_instantiate(graph, nullptr, &executable), kInvalidGraph, kHipErrorCaptureUnsupported);
  ASSERT_EQ(wavesan_graph_end_capture(s, &graph), kSuccess);
  destroy(graph);
}

TEST_F(Calls, DestructionCallback) {
  wavesan_graph_t graph = nullptr;
  ASSERT_EQ(wavesan_graph_create(&graph), kSuccess);
  struct Seen {
    wavesan_graph_t graph;
    int calls = 0;
    wavesan_graph_result_t inside = kSuccess;
  } seen{graph}, replaced{graph};
  const auto callback = [](void *data) {
    auto &s = *static_cast<Seen *>(data);
    ++s.calls;
    s.inside = wavesan_graph_is_empty(s.graph); // calls are allowed; the graph is gone
  };
  EXPECT_GRAPH(wavesan_graph_set_destruction_callback(nullptr, callback, &seen), kNullHandle, 0);
  EXPECT_GRAPH(wavesan_graph_set_destruction_callback(graph, callback, &replaced), kSuccess, 0);
  EXPECT_GRAPH(wavesan_graph_set_destruction_callback(graph, callback, &seen), kSuccess, 0);
  EXPECT_GRAPH(wavesan_graph_destroy(graph), kSuccess, 0);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(replaced.calls, 0);
  EXPECT_EQ(seen.inside, kInvalidGraph);
  EXPECT_GRAPH(wavesan_graph_set_destruction_callback(graph, callback, &seen), kInvalidGraph, kHipErrorInvalidValue);
  ASSERT_EQ(wavesan_graph_create(&graph), kSuccess);
  EXPECT_EQ(wavesan_graph_set_destruction_callback(graph, callback, &seen), kSuccess);
  EXPECT_EQ(wavesan_graph_set_destruction_callback(graph, nullptr, nullptr), kSuccess);
  destroy(graph);
  EXPECT_EQ(seen.calls, 1);
}

TEST_F(Calls, BeginCapture) {
  const Stream s = stream();
  EXPECT_GRAPH(wavesan_graph_begin_capture(s, wavesan_graph_capture_mode_t(3)), kInvalidArgument, 0);
  EXPECT_GRAPH(wavesan_graph_begin_capture(nullptr, WAVESAN_GRAPH_CAPTURE_GLOBAL), kUnsupported,
               kHipErrorCaptureUnsupported);
  EXPECT_GRAPH(wavesan_graph_begin_capture(s, WAVESAN_GRAPH_CAPTURE_GLOBAL), kSuccess, 0);
  EXPECT_GRAPH(wavesan_graph_begin_capture(s, WAVESAN_GRAPH_CAPTURE_GLOBAL), WAVESAN_GRAPH_ERROR_HIP,
               kHipErrorIllegalState);
  wavesan_graph_t graph = nullptr;
  EXPECT_GRAPH(wavesan_graph_end_capture(s, nullptr), kNullPointer, 0); // and it goes on
  EXPECT_EQ(wavesan_graph_is_capturing(s), WAVESAN_GRAPH_QUERY_TRUE);
  EXPECT_GRAPH(wavesan_graph_end_capture(s, &graph), kSuccess, 0);
  EXPECT_GRAPH(wavesan_graph_end_capture(s, &graph), kInvalidGraph, kHipErrorCaptureUnmatched);
  destroy(graph);
}

TEST_F(Calls, BeginCaptureInto) {
  const Stream s = stream();
  std::vector<long> data = {1};
  wavesan_graph_t graph = nullptr, same = nullptr;
  EXPECT_GRAPH(wavesan_graph_begin_capture_into(s, nullptr, WAVESAN_GRAPH_CAPTURE_GLOBAL), kNullHandle, 0);
  ASSERT_EQ(wavesan_graph_create(&graph), kSuccess);
  EXPECT_GRAPH(wavesan_graph_begin_capture_into(s, graph, wavesan_graph_capture_mode_t(-1)), kInvalidArgument, 0);
  EXPECT_GRAPH(wavesan_graph_begin_capture_into(s, graph, WAVESAN_GRAPH_CAPTURE_GLOBAL), kSuccess, 0);
  EXPECT_EQ(launch(s, data, 1, 1), hip::kHipSuccess);
  EXPECT_GRAPH(wavesan_graph_end_capture(s, &same), kSuccess, 0);
  EXPECT_EQ(same, graph);
  EXPECT_GRAPH(wavesan_graph_begin_capture_into(s, graph, WAVESAN_GRAPH_CAPTURE_GLOBAL), kInvalidGraph,
               kHipErrorInvalidValue); // not empty
  destroy(graph);
  EXPECT_GRAPH(wavesan_graph_begin_capture_into(s, graph, WAVESAN_GRAPH_CAPTURE_GLOBAL), kInvalidGraph,
               kHipErrorInvalidValue);
}

TEST_F(Calls, CapturingQueriesAndTheGraphOfAStream) {
  const Stream s = stream(), other = stream();
  wavesan_graph_t graph = nullptr, same = nullptr;
  EXPECT_GRAPH(wavesan_graph_is_capturing(s), WAVESAN_GRAPH_QUERY_FALSE, 0);
  EXPECT_GRAPH(wavesan_graph_of_stream(s, nullptr), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_graph_of_stream(s, &graph), kInvalidGraph, kHipErrorCaptureUnmatched);
  ASSERT_EQ(wavesan_graph_begin_capture(s, WAVESAN_GRAPH_CAPTURE_RELAXED), kSuccess);
  EXPECT_GRAPH(wavesan_graph_is_capturing(s), WAVESAN_GRAPH_QUERY_TRUE, 0);
  EXPECT_GRAPH(wavesan_graph_is_capturing(other), WAVESAN_GRAPH_QUERY_FALSE, 0);
  EXPECT_GRAPH(wavesan_graph_of_stream(s, &graph), kSuccess, 0);
  int status = 0;
  unsigned long long id = 0;
  uint64_t graphId = 0;
  EXPECT_EQ(hipStreamIsCapturing(s, &status), hip::kHipSuccess);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(hipStreamIsCapturing(other, &status), hip::kHipSuccess);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(hipStreamGetCaptureInfo(s, &status, &id), hip::kHipSuccess);
  EXPECT_EQ(wavesan_graph_id(graph, &graphId), kSuccess);
  EXPECT_EQ(id, graphId);
  EXPECT_GRAPH(wavesan_graph_end_capture(s, &same), kSuccess, 0);
  EXPECT_EQ(graph, same);
  destroy(graph);
}

TEST_F(Calls, IsEmptyPrimaryStreamAndId) {
  const Stream s = stream();
  std::vector<long> data = {1};
  wavesan_graph_stream_t primary = &data;
  uint64_t first = 0, second = 0;
  wavesan_graph_t empty = nullptr;
  ASSERT_EQ(wavesan_graph_create(&empty), kSuccess);
  const wavesan_graph_t graph = recorded(s, [&] { launch(s, data, 1, 1); });
  EXPECT_GRAPH(wavesan_graph_is_empty(nullptr), kNullHandle, 0);
  EXPECT_GRAPH(wavesan_graph_is_empty(empty), WAVESAN_GRAPH_QUERY_TRUE, 0);
  EXPECT_GRAPH(wavesan_graph_is_empty(graph), WAVESAN_GRAPH_QUERY_FALSE, 0);
  EXPECT_GRAPH(wavesan_graph_primary_stream(nullptr, &primary), kNullHandle, 0);
  EXPECT_GRAPH(wavesan_graph_primary_stream(graph, nullptr), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_graph_primary_stream(empty, &primary), kSuccess, 0);
  EXPECT_EQ(primary, nullptr);
  EXPECT_GRAPH(wavesan_graph_primary_stream(graph, &primary), kSuccess, 0);
  EXPECT_EQ(primary, s);
  EXPECT_GRAPH(wavesan_graph_id(nullptr, &first), kNullHandle, 0);
  EXPECT_GRAPH(wavesan_graph_id(graph, nullptr), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_graph_id(graph, &first), kSuccess, 0);
  EXPECT_GRAPH(wavesan_graph_id(empty, &second), kSuccess, 0);
  EXPECT_NE(first, second);
  destroy(empty);
  EXPECT_GRAPH(wavesan_graph_is_empty(empty), kInvalidGraph, kHipErrorInvalidValue);
  EXPECT_GRAPH(wavesan_graph_primary_stream(empty, &primary), kInvalidGraph, kHipErrorInvalidValue);
  EXPECT_GRAPH(wavesan_graph_id(empty, &first), kInvalidGraph, kHipErrorInvalidValue);
  destroy(graph);
}

TEST_F(Calls, Instantiate) {
  const Stream s = stream();
  std::vector<long> data = {1};
  wavesan_executable_graph_t executable = nullptr;
  wavesan_graph_instantiate_desc_t desc = {};
  const wavesan_graph_t graph = recorded(s, [&] { launch(s, data, 1, 1); });
  EXPECT_GRAPH(wavesan_graph_instantiate(nullptr, nullptr, &executable), kNullHandle, 0);
  EXPECT_GRAPH(wavesan_graph_instantiate(graph, nullptr, nullptr), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_graph_instantiate(graph, &desc, &executable), kInvalidArgument, 0);
  desc = {sizeof desc, 64};
  EXPECT_GRAPH(wavesan_graph_instantiate(graph, &desc, &executable), kInvalidArgument, 0);
  fakeHipFailGraphs(719);
  EXPECT_GRAPH(wavesan_graph_instantiate(graph, nullptr, &executable), WAVESAN_GRAPH_ERROR_HIP, 719);
  fakeHipFailGraphs(0);
  EXPECT_EQ(executable, nullptr);
  desc.flags = WAVESAN_GRAPH_FLAG_IMMUTABLE_GRAPH;
  EXPECT_GRAPH(wavesan_graph_instantiate(graph, &desc, &executable), kSuccess, 0);
  destroy(executable);
  destroy(graph);
  EXPECT_GRAPH(wavesan_graph_instantiate(graph, nullptr, &executable), kInvalidGraph, kHipErrorInvalidValue);
}

TEST_F(Calls, ChangesOfAnExecutableGraph) {
  const Stream s = stream();
  std::vector<long> data = {1, 1}, other = {10, 20}, from = {7, 8};
  // 1: data = data * 2; 2: data[1] = 7; 3: data[0] = 0; 4: a copy of two rows; 5: a host function;
  // 6: a fill of two rows; 7: as 2.
  const wavesan_graph_t graph = recorded(s, [&] {
    launch(s, data, 2, 0);
    EXPECT_EQ(hipMemcpyAsync(&data[1], from.data(), 8, 3, s), hip::kHipSuccess);
    EXPECT_EQ(hipMemsetAsync(data.data(), 0, 8, s), hip::kHipSuccess);
    EXPECT_EQ(hipMemcpy2DAsync(data.data(), 8, data.data(), 8, 4, 2, 3, s), hip::kHipSuccess);
    EXPECT_EQ(hipLaunchHostFunc(s, [](void *) {}, nullptr), hip::kHipSuccess);
    EXPECT_EQ(hipMemset2DAsync(data.data(), 8, 1, 1, 2, s), hip::kHipSuccess);
    EXPECT_EQ(hipMemcpyAsync(&data[1], from.data(), 8, 3, s), hip::kHipSuccess);
  });
  const wavesan_graph_instantiate_desc_t desc = {sizeof desc, WAVESAN_GRAPH_FLAG_MUTABLE_GRAPH};
  wavesan_executable_graph_t executable = nullptr;
  EXPECT_GRAPH(wavesan_graph_instantiate(graph, &desc, &executable), kSuccess, 0);
  const wavesan_executable_graph_t immutable = instantiated(graph), unchanged = instantiated(graph);

  void *to = other.data();
  unsigned long count = 2;
  long factor = 3, add = 5;
  void *arguments[] = {&to, &count, &factor, &add};
  wavesan_graph_kernel_params_t kernel = {sizeof kernel, {4, 1, 1}, {4, 1, 1}, 0, arguments};
  wavesan_graph_copy_params_t copy = {sizeof copy, data.data(), &from[1], 8, 3};
  wavesan_graph_fill_params_t fill = {sizeof fill, &data[1], 9, 4, 2};

  EXPECT_GRAPH(wavesan_executable_graph_set_kernel(nullptr, 1, &kernel), kNullHandle, 0);
  EXPECT_GRAPH(wavesan_executable_graph_set_copy(nullptr, 2, &copy), kNullHandle, 0);
  EXPECT_GRAPH(wavesan_executable_graph_set_fill(nullptr, 3, &fill), kNullHandle, 0);
  EXPECT_GRAPH(wavesan_executable_graph_set_kernel(executable, 1, nullptr), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_executable_graph_set_copy(executable, 2, nullptr), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_executable_graph_set_fill(executable, 3, nullptr), kNullPointer, 0);
  for (const uint64_t wrong : {0, 2, 3, 4, 5, 6, 7, 8})
    EXPECT_GRAPH(wavesan_executable_graph_set_kernel(executable, wrong, &kernel), kInvalidArgument, 0);
  for (const uint64_t wrong : {0, 1, 3, 5, 6, 8})
    EXPECT_GRAPH(wavesan_executable_graph_set_copy(executable, wrong, &copy), kInvalidArgument, 0);
  for (const uint64_t wrong : {0, 1, 2, 4, 5, 7, 8})
    EXPECT_GRAPH(wavesan_executable_graph_set_fill(executable, wrong, &fill), kInvalidArgument, 0);
  EXPECT_GRAPH(wavesan_executable_graph_set_copy(executable, 4, &copy), kUnsupported, hip::kHipErrorNotSupported);
  EXPECT_GRAPH(wavesan_executable_graph_set_fill(executable, 6, &fill), kUnsupported, hip::kHipErrorNotSupported);
  EXPECT_GRAPH(wavesan_executable_graph_set_kernel(immutable, 1, &kernel), kUnsupported, hip::kHipErrorNotSupported);
  EXPECT_GRAPH(wavesan_executable_graph_set_copy(immutable, 2, &copy), kUnsupported, hip::kHipErrorNotSupported);
  EXPECT_GRAPH(wavesan_executable_graph_set_fill(immutable, 3, &fill), kUnsupported, hip::kHipErrorNotSupported);
  const auto wrongKernel = [&](auto change, wavesan_graph_result_t result) {
    wavesan_graph_kernel_params_t k = kernel;
    change(k);
    EXPECT_GRAPH(wavesan_executable_graph_set_kernel(executable, 1, &k), result, 0);
  };
  wrongKernel([](auto &k) { k.size = 8; }, kInvalidArgument);
  wrongKernel([](auto &k) { k.grid_size[0] = 6; }, kInvalidArgument);
  wrongKernel([](auto &k) { k.workgroup_size[1] = 0; }, kInvalidArgument);
  wrongKernel([](auto &k) { k.arguments = nullptr; }, kNullPointer);
  const auto wrongFill = [&](auto change, wavesan_graph_result_t result) {
    wavesan_graph_fill_params_t f = fill;
    change(f);
    EXPECT_GRAPH(wavesan_executable_graph_set_fill(executable, 3, &f), result, 0);
  };
  wrongFill([](auto &f) { f.size = 8; }, kInvalidArgument);
  wrongFill([](auto &f) { f.element_bytes = 3; }, kInvalidArgument);
  wrongFill([](auto &f) { f.count = 0; }, kInvalidArgument);
  wrongFill([](auto &f) { f.element_bytes = 4, f.count = uint64_t(1) << 62; }, kInvalidArgument); // 2^64 bytes
  wrongFill([](auto &f) { f.destination = nullptr; }, kNullPointer);
  const auto kind = copy.kind;
  copy.kind = 99;
  EXPECT_GRAPH(wavesan_executable_graph_set_copy(executable, 2, &copy), kInvalidArgument, 0);
  copy.kind = kind;
  copy.source = nullptr;
  EXPECT_GRAPH(wavesan_executable_graph_set_copy(executable, 2, &copy), kNullPointer, 0);
  copy.source = &from[1];
  fakeHipFailGraphs(719);
  EXPECT_GRAPH(wavesan_executable_graph_set_kernel(executable, 1, &kernel), WAVESAN_GRAPH_ERROR_HIP, 719);
  EXPECT_GRAPH(wavesan_executable_graph_set_copy(executable, 2, &copy), WAVESAN_GRAPH_ERROR_HIP, 719);
  EXPECT_GRAPH(wavesan_executable_graph_set_fill(executable, 3, &fill), WAVESAN_GRAPH_ERROR_HIP, 719);
  fakeHipFailGraphs(0);
  kernel.group_segment_bytes = kFakeMaxGroupBytes + 1;
  EXPECT_GRAPH(wavesan_executable_graph_set_kernel(executable, 1, &kernel), WAVESAN_GRAPH_ERROR_HIP,
               kHipErrorOutOfMemory);
  kernel.group_segment_bytes = 0;
  // All that has changed nothing.
  EXPECT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(data, (std::vector<long>{1, 7}));
  EXPECT_EQ(other, (std::vector<long>{10, 20}));

  destroy(graph); // what is needed of it stays
  EXPECT_GRAPH(wavesan_executable_graph_set_kernel(executable, 1, &kernel), kSuccess, 0);
  EXPECT_GRAPH(wavesan_executable_graph_set_copy(executable, 2, &copy), kSuccess, 0);
  EXPECT_GRAPH(wavesan_executable_graph_set_fill(executable, 3, &fill), kSuccess, 0);
  wavesan_graph_copy_params_t last = {sizeof last, other.data(), other.data(), 8, 3};
  EXPECT_GRAPH(wavesan_executable_graph_set_copy(executable, 7, &last), kSuccess, 0);
  EXPECT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(other, (std::vector<long>{35, 65}));
  EXPECT_EQ(data, (std::vector<long>{1, 0x900000001})); // the second fill has changed the first bytes
  EXPECT_EQ(wavesan_graph_append(s, unchanged, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(other, (std::vector<long>{35, 65}));
  EXPECT_EQ(data, (std::vector<long>{1, 7}));
  destroy(executable);
  destroy(immutable);
  destroy(unchanged);
  EXPECT_GRAPH(wavesan_executable_graph_set_kernel(executable, 1, &kernel), kInvalidGraph, kHipErrorInvalidValue);
  EXPECT_GRAPH(wavesan_executable_graph_set_copy(executable, 2, &copy), kInvalidGraph, kHipErrorInvalidValue);
  EXPECT_GRAPH(wavesan_executable_graph_set_fill(executable, 3, &fill), kInvalidGraph, kHipErrorInvalidValue);
}

TEST_F(Calls, AppendAndDestroyWhileItRuns) {
  const Stream s = stream(), other = stream();
  const Event before = event(), after = event();
  std::vector<long> data = {1};
  const wavesan_graph_t graph = recorded(s, [&] { launch(s, data, 2, 0); });
  EXPECT_EQ(data[0], 1); // recorded, not executed
  const wavesan_executable_graph_t executable = instantiated(graph);
  EXPECT_GRAPH(wavesan_graph_append(s, nullptr, nullptr, 0, nullptr), kNullHandle, 0);
  EXPECT_GRAPH(wavesan_graph_append(s, executable, nullptr, 1, nullptr), kNullPointer, 0);
  const wavesan_graph_event_t waits[] = {before, nullptr};
  EXPECT_GRAPH(wavesan_graph_append(s, executable, nullptr, 2, waits), WAVESAN_GRAPH_ERROR_HIP,
               kFakeErrorInvalidHandle); // a null event
  EXPECT_EQ(data[0], 1);
  EXPECT_GRAPH(wavesan_graph_append(s, executable, after, 1, waits), kSuccess, 0);
  EXPECT_GRAPH(wavesan_graph_append(other, executable, nullptr, 0, nullptr), kSuccess, 0);
  EXPECT_EQ(data[0], 4);
  EXPECT_EQ(hipEventQuery(after), hip::kHipSuccess);
  fakeHipHold(true);
  EXPECT_EQ(hipEventQuery(after), hip::kHipErrorNotReady);
  EXPECT_GRAPH(wavesan_executable_graph_destroy(executable), WAVESAN_GRAPH_ERROR_IN_USE, hip::kHipErrorNotReady);
  fakeHipHold(false);
  EXPECT_GRAPH(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess, 0); // still there
  EXPECT_EQ(data[0], 8);
  EXPECT_GRAPH(wavesan_executable_graph_destroy(nullptr), kNullHandle, 0);
  EXPECT_GRAPH(wavesan_executable_graph_destroy(executable), kSuccess, 0);
  EXPECT_GRAPH(wavesan_executable_graph_destroy(executable), kInvalidGraph, kHipErrorInvalidValue);
  EXPECT_GRAPH(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kInvalidGraph, kHipErrorInvalidValue);
  destroy(graph);
}

TEST_F(Calls, AStreamCanEndBeforeAnExecutableGraphThatRanInIt) {
  const Stream s = stream();
  std::vector<long> data = {1};
  Stream brief = nullptr;
  const wavesan_graph_t graph = recorded(s, [&] { launch(s, data, 2, 0); });
  const wavesan_executable_graph_t executable = instantiated(graph);
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(hipStreamCreateWithFlags(&brief, hip::kStreamNonBlocking), hip::kHipSuccess);
    EXPECT_EQ(wavesan_graph_append(brief, executable, nullptr, 0, nullptr), kSuccess);
    ASSERT_EQ(hipStreamDestroy(brief),
              hip::kHipSuccess); // the fabricated library refuses destroyed streams from here on
    if (round == 0) {
      EXPECT_GRAPH(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess, 0);
    }
  }
  EXPECT_EQ(data[0], 8);
  fakeHipHold(true);
  EXPECT_GRAPH(wavesan_executable_graph_destroy(executable), WAVESAN_GRAPH_ERROR_IN_USE, hip::kHipErrorNotReady);
  fakeHipHold(false);
  destroy(executable);
  destroy(graph);
}

TEST_F(Calls, AnExecutableGraphOutlivesItsSource) {
  const Stream s = stream();
  std::vector<long> data = {1};
  const wavesan_graph_t graph = recorded(s, [&] { launch(s, data, 3, 1); });
  const wavesan_executable_graph_t executable = instantiated(graph);
  wavesan_graph_t source = nullptr;
  EXPECT_GRAPH(wavesan_executable_graph_source(nullptr, &source), kNullHandle, 0);
  EXPECT_GRAPH(wavesan_executable_graph_source(executable, nullptr), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_executable_graph_source(executable, &source), kSuccess, 0);
  EXPECT_EQ(source, graph);
  destroy(graph);
  EXPECT_GRAPH(wavesan_executable_graph_source(executable, &source), kInvalidGraph, kHipErrorInvalidValue);
  EXPECT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(data[0], 4);
  destroy(executable);
  EXPECT_GRAPH(wavesan_executable_graph_source(executable, &source), kInvalidGraph, kHipErrorInvalidValue);
}

TEST_F(Calls, PauseAndResume) {
  const Stream s = stream();
  std::vector<long> data = {1};
  EXPECT_GRAPH(wavesan_graph_pause_capture(s), kInvalidGraph, kHipErrorCaptureUnmatched);
  EXPECT_GRAPH(wavesan_graph_resume_capture(s), kInvalidGraph, kHipErrorCaptureUnmatched);
  const wavesan_graph_t graph = recorded(s, [&] {
    launch(s, data, 1, 10);
    EXPECT_GRAPH(wavesan_graph_resume_capture(s), kInvalidGraph, kHipErrorIllegalState);
    EXPECT_GRAPH(wavesan_graph_pause_capture(s), kSuccess, 0);
    EXPECT_GRAPH(wavesan_graph_pause_capture(s), kInvalidGraph, kHipErrorIllegalState);
    EXPECT_EQ(launch(s, data, 1, 100), hip::kHipSuccess);
    EXPECT_EQ(data[0], 101); // executed
    EXPECT_EQ(hipStreamSynchronize(s), hip::kHipSuccess);
    EXPECT_EQ(wavesan_graph_is_capturing(s), WAVESAN_GRAPH_QUERY_TRUE);
    EXPECT_GRAPH(wavesan_graph_resume_capture(s), kSuccess, 0);
    launch(s, data, 1, 20);
  });
  EXPECT_EQ(data[0], 101);
  const wavesan_executable_graph_t executable = instantiated(graph);
  EXPECT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(data[0], 131);
  destroy(executable);
  destroy(graph);
}

TEST_F(Calls, Events) {
  const Stream s = stream();
  wavesan_graph_event_t external = nullptr;
  EXPECT_GRAPH(wavesan_graph_event_create(0, nullptr), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_graph_event_create(2, &external), kInvalidArgument, 0);
  EXPECT_GRAPH(wavesan_graph_event_create(WAVESAN_GRAPH_EVENT_EXTERNAL, &external), kSuccess, 0);
  EXPECT_GRAPH(wavesan_graph_append_wait(s, nullptr, 0), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_graph_append_wait(s, external, 2), kInvalidArgument, 0);
  EXPECT_GRAPH(wavesan_graph_append_wait(s, external, 0), kSuccess, 0);
  EXPECT_GRAPH(wavesan_graph_append_signal(s, nullptr, 0), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_graph_append_signal(s, external, 2), kInvalidArgument, 0);
  EXPECT_GRAPH(wavesan_graph_append_signal(s, external, WAVESAN_GRAPH_EVENT_EXTERNAL), kSuccess, 0);
  EXPECT_EQ(hipEventQuery(static_cast<Event>(external)), hip::kHipSuccess); // nothing is recorded: it was
  EXPECT_GRAPH(wavesan_graph_event_destroy(nullptr), kNullPointer, 0);
  EXPECT_GRAPH(wavesan_graph_event_destroy(external), kSuccess, 0);
}

TEST_F(Calls, AThousandNodesAndAThousandAppendsWithoutGrowth) {
  const Stream s = stream();
  std::vector<long> data = {0};
  const wavesan_graph_t graph = recorded(s, [&] {
    for (int i = 0; i < 1000; ++i)
      EXPECT_EQ(launch(s, data, 1, 1), hip::kHipSuccess);
  });
  size_t nodes = 0;
  EXPECT_EQ(wavesan_graph_visit(
                graph,
                [](const wavesan_graph_node_info_t *, void *count) {
                  ++*static_cast<size_t *>(count);
                  return 0;
                },
                &nodes),
            kSuccess);
  EXPECT_EQ(nodes, 1000u);
  const wavesan_executable_graph_t executable = instantiated(graph);
  EXPECT_EQ(wavesan_graph_append(s, executable, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(data[0], 1000);
  destroy(executable);
  destroy(graph);
  const wavesan_graph_t one = recorded(s, [&] { launch(s, data, 1, 1); });
  const wavesan_executable_graph_t again = instantiated(one);
  const FakeGraphCounts before = fakeHipGraphCounts();
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(wavesan_graph_append(s, again, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(data[0], 2000);
  EXPECT_EQ(fakeHipGraphCounts().nodes, before.nodes);
  EXPECT_EQ(fakeHipGraphCounts().launches, before.launches + 1000);
  destroy(again);
  destroy(one);
}

} // namespace wavesan::graph
