// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Visiting and dumping.
#include "graph_fixture.h"

#include <fstream>
#include <sstream>

namespace wavesan::graph {

namespace {
using hip::kHipSuccess;
const auto kSuccess = WAVESAN_GRAPH_SUCCESS;

class Dumps : public GraphTest {
protected:
  std::string dumped(wavesan_graph_t graph, wavesan_graph_dump_mode_t mode, wavesan_graph_dump_format_t format) {
    const std::string path = testing::TempDir() + "wavesan_graph_dump";
    const wavesan_graph_dump_desc_t desc = {sizeof desc, mode, format};
    EXPECT_EQ(wavesan_graph_dump(graph, path.c_str(), &desc), kSuccess);
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::remove(path.c_str());
    return text.str();
  }
  /// A fill and a copy into the same bytes in two streams, ordered or not, and a kernel behind both.
  wavesan_graph_t graph(bool ordered) {
    const Stream first = stream(), second = stream();
    const Event fork = event(), join = event();
    return recorded(first, [&] {
      if (!ordered) {
        EXPECT_EQ(hipEventRecord(fork, first), kHipSuccess);
      }
      EXPECT_EQ(hipMemsetAsync(Data.data(), 0, 16, first), kHipSuccess);
      if (ordered) {
        EXPECT_EQ(hipEventRecord(fork, first), kHipSuccess);
      }
      EXPECT_EQ(hipStreamWaitEvent(second, fork, 0), kHipSuccess);
      EXPECT_EQ(hipMemcpyAsync(Data.data() + 1, From.data(), 16, 3, second), kHipSuccess);
      EXPECT_EQ(hipEventRecord(join, second), kHipSuccess);
      EXPECT_EQ(hipStreamWaitEvent(first, join, 0), kHipSuccess);
      EXPECT_EQ(launch(first, Data, 1, 1), kHipSuccess);
    });
  }
  std::vector<long> Data = {1, 2, 3, 4}, From = {5, 6};
};

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }
} // namespace

TEST_F(Dumps, Errors) {
  const wavesan_graph_t g = graph(true);
  wavesan_graph_dump_desc_t desc = {};
  EXPECT_GRAPH(wavesan_graph_dump(nullptr, "x", nullptr), WAVESAN_GRAPH_ERROR_INVALID_NULL_HANDLE, 0);
  EXPECT_GRAPH(wavesan_graph_dump(g, nullptr, nullptr), WAVESAN_GRAPH_ERROR_INVALID_NULL_POINTER, 0);
  EXPECT_GRAPH(wavesan_graph_dump(g, "x", &desc), WAVESAN_GRAPH_ERROR_INVALID_ARGUMENT, 0);
  desc = {sizeof desc, wavesan_graph_dump_mode_t(2), WAVESAN_GRAPH_DUMP_DOT};
  EXPECT_GRAPH(wavesan_graph_dump(g, "x", &desc), WAVESAN_GRAPH_ERROR_INVALID_ARGUMENT, 0);
  desc = {sizeof desc, WAVESAN_GRAPH_DUMP_SIMPLE, wavesan_graph_dump_format_t(2)};
  EXPECT_GRAPH(wavesan_graph_dump(g, "x", &desc), WAVESAN_GRAPH_ERROR_INVALID_ARGUMENT, 0);
  EXPECT_GRAPH(wavesan_graph_dump(g, "/no/such/directory/x", nullptr), WAVESAN_GRAPH_ERROR_FILE, 0);
  destroy(g);
  EXPECT_GRAPH(wavesan_graph_dump(g, "x", nullptr), WAVESAN_GRAPH_ERROR_INVALID_GRAPH, kHipErrorInvalidValue);
}

TEST_F(Dumps, DetailedAndSimple) {
  const wavesan_graph_t g = graph(true);
  const std::string dot = dumped(g, WAVESAN_GRAPH_DUMP_DETAILED, WAVESAN_GRAPH_DUMP_DOT);
  EXPECT_TRUE(contains(dot, "n1 -> n2;")) << dot;
  EXPECT_TRUE(contains(dot, "\"2: copy hipMemcpyAsync\\nstream 1\\nto 0x")) << dot;
  EXPECT_TRUE(contains(dot, "grid 8, 1, 1, workgroup 4, 1, 1, 16 bytes of LDS")) << dot;
  EXPECT_FALSE(contains(dot, "red")) << dot;
  const std::string json = dumped(g, WAVESAN_GRAPH_DUMP_DETAILED, WAVESAN_GRAPH_DUMP_JSON);
  EXPECT_TRUE(contains(json, R"({"id": 1, "kind": "fill", "name": "hipMemsetAsync", "function": "hipMemsetAsync")"))
      << json;
  EXPECT_TRUE(contains(json, R"("workgroup": [4, 1, 1], "groupBytes": 16, "dependencies": [2]})")) << json;
  EXPECT_TRUE(contains(json, "\"conflicts\": [\n]")) << json;
  const std::string simple = dumped(g, WAVESAN_GRAPH_DUMP_SIMPLE, WAVESAN_GRAPH_DUMP_JSON);
  EXPECT_TRUE(contains(simple, R"({"id": 2, "kind": "copy", "name": "hipMemcpyAsync", "dependencies": [1]})"))
      << simple;
  EXPECT_FALSE(contains(dumped(g, WAVESAN_GRAPH_DUMP_SIMPLE, WAVESAN_GRAPH_DUMP_DOT), "bytes"));
  destroy(g);
}

TEST_F(Dumps, ConflictsNameTheMissingEdge) {
  const wavesan_graph_t g = graph(false);
  const std::string json = dumped(g, WAVESAN_GRAPH_DUMP_SIMPLE, WAVESAN_GRAPH_DUMP_JSON);
  EXPECT_TRUE(contains(json, R"({"missingEdge": [1, 2], "address": "0x)")) << json;
  EXPECT_TRUE(contains(json, R"("bytes": 8, "seenInRun": false})")) << json;
  const std::string dot = dumped(g, WAVESAN_GRAPH_DUMP_SIMPLE, WAVESAN_GRAPH_DUMP_DOT);
  EXPECT_TRUE(contains(dot, "n1 -> n2 [style=dashed, color=red, label=\"missing: both touch 8 bytes\"]")) << dot;
  destroy(g);
}

TEST_F(Dumps, VisitConflicts) {
  const wavesan_graph_t g = graph(false), clean = graph(true);
  const auto keep = [](const wavesan_graph_conflict_t *c, void *data) {
    static_cast<std::vector<wavesan_graph_conflict_t> *>(data)->push_back(*c);
    return 1; // enough
  };
  std::vector<wavesan_graph_conflict_t> seen;
  EXPECT_GRAPH(wavesan_graph_visit_conflicts(nullptr, keep, &seen), WAVESAN_GRAPH_ERROR_INVALID_NULL_HANDLE, 0);
  EXPECT_GRAPH(wavesan_graph_visit_conflicts(g, nullptr, &seen), WAVESAN_GRAPH_ERROR_INVALID_NULL_POINTER, 0);
  EXPECT_GRAPH(wavesan_graph_visit_conflicts(clean, keep, &seen), kSuccess, 0);
  EXPECT_TRUE(seen.empty());
  EXPECT_GRAPH(wavesan_graph_visit_conflicts(g, keep, &seen), kSuccess, 0);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].first, 1u);
  EXPECT_EQ(seen[0].second, 2u);
  EXPECT_EQ(seen[0].address, Data.data() + 1);
  EXPECT_EQ(seen[0].bytes, 8u);
  EXPECT_EQ(seen[0].seen_in_run, 0u);
  destroy(clean);
  destroy(g);
  EXPECT_GRAPH(wavesan_graph_visit_conflicts(g, keep, &seen), WAVESAN_GRAPH_ERROR_INVALID_GRAPH, kHipErrorInvalidValue);
  const Stream s = stream();
  const wavesan_graph_t many = recorded(s, [&] {
    for (int n = 0; n < 8193; ++n)
      ASSERT_EQ(hipMemsetAsync(Data.data(), 0, 1, s), kHipSuccess);
  });
  EXPECT_GRAPH(wavesan_graph_visit_conflicts(many, keep, &seen), WAVESAN_GRAPH_ERROR_UNSUPPORTED_FEATURE,
               hip::kHipErrorNotSupported);
  EXPECT_TRUE(
      contains(dumped(many, WAVESAN_GRAPH_DUMP_SIMPLE, WAVESAN_GRAPH_DUMP_JSON), "\"conflictsLookedFor\": false"));
  destroy(many);
}

TEST_F(Dumps, Visit) {
  const wavesan_graph_t g = graph(true);
  const auto count = [](const wavesan_graph_node_info_t *n, void *data) {
    auto &seen = *static_cast<std::vector<wavesan_graph_node_info_t> *>(data);
    seen.push_back(*n);
    return int(seen.size() == 2); // enough
  };
  std::vector<wavesan_graph_node_info_t> seen;
  EXPECT_GRAPH(wavesan_graph_visit(nullptr, count, &seen), WAVESAN_GRAPH_ERROR_INVALID_NULL_HANDLE, 0);
  EXPECT_GRAPH(wavesan_graph_visit(g, nullptr, &seen), WAVESAN_GRAPH_ERROR_INVALID_NULL_POINTER, 0);
  EXPECT_GRAPH(wavesan_graph_visit(g, count, &seen), kSuccess, 0);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].kind, WAVESAN_GRAPH_NODE_FILL);
  EXPECT_EQ(seen[0].bytes, 16u);
  EXPECT_EQ(seen[1].destination, Data.data() + 1);
  EXPECT_EQ(seen[1].source, From.data());
  EXPECT_NE(seen[1].hip_node, nullptr);
  destroy(g);
  EXPECT_GRAPH(wavesan_graph_visit(g, count, &seen), WAVESAN_GRAPH_ERROR_INVALID_GRAPH, kHipErrorInvalidValue);
}

} // namespace wavesan::graph
