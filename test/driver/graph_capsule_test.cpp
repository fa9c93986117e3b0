// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of graph launches, whole and damaged.
#include "graph_capsule.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace wavesan::driver {
namespace {

namespace fs = std::filesystem;

struct GraphCapsuleTest : testing::Test {
  fs::path directory = fs::path(testing::TempDir()) / ("graph_capsule_" + std::to_string(getpid()));
  std::string error;

  GraphCapsuleTest() {
    fs::remove_all(directory);
    fs::create_directories(directory);
    std::ofstream(directory / "set-12-3.capsule") << "x";
    std::ofstream(directory / "add-112-3.capsule") << "of another process";
  }
  ~GraphCapsuleTest() override { fs::remove_all(directory); }

  std::optional<GraphCapsule> read(const std::string &text) {
    const fs::path file = directory / "graph-12-1.graph.json";
    std::ofstream(file) << text;
    error.clear();
    return readGraphCapsule(file.string(), error);
  }
  static std::string graph(const std::string &nodes, const std::string &conflicts = "") {
    return R"({"schema": "wavesan-recorded-graph", "schemaVersion": 1, "id": 1, "process": 12, "nodes": [)" + nodes +
           R"(], "conflicts": [)" + conflicts + "]}";
  }
};

const std::string kFill = R"({"id": 1, "kind": "fill", "name": "f", "touched": [[16, 32, 2]], "dependencies": []})";
const std::string kKernel = R"({"id": 2, "kind": "kernel", "name": "set", "dispatch": 3, "dependencies": [1]})";

} // namespace

TEST_F(GraphCapsuleTest, Whole) {
  const auto read = this->read(graph(kFill + "," + kKernel, R"({"missingEdge": [1, 2]})"));
  ASSERT_TRUE(read) << error;
  ASSERT_EQ(read->nodes.size(), 2u);
  EXPECT_STREQ(read->nodes[0].kind, "fill");
  ASSERT_EQ(read->nodes[0].touched.size(), 1u);
  EXPECT_EQ(read->nodes[0].touched[0].end, 32u);
  EXPECT_EQ(read->nodes[1].dependencies, std::vector<streams::NodeId>{1});
  EXPECT_EQ(read->files.at(2), (directory / "set-12-3.capsule").string());
  EXPECT_EQ(read->files.size(), 1u);
  EXPECT_TRUE(read->conflicts.contains({1, 2}));
}

TEST_F(GraphCapsuleTest, Damaged) {
  for (const std::string &text :
       {std::string(),
        std::string("{"),
        std::string("[]"),
        graph("7"),
        graph("{}"),
        graph(R"({"id": 2, "kind": "fill", "name": "f", "touched": [], "dependencies": []})"),
        graph(R"({"id": 1, "kind": "fill", "name": "f", "touched": [], "dependencies": [1]})"),
        graph(R"({"id": 1, "kind": "fill", "name": "f", "touched": [], "dependencies": [0]})"),
        graph(R"({"id": 1, "kind": "fill", "name": "f", "touched": [[32, 16, 2]], "dependencies": []})"),
        graph(R"({"id": 1, "kind": "fill", "name": "f", "touched": [[16, 32, 8]], "dependencies": []})"),
        graph(R"({"id": 1, "kind": "fill", "name": "f", "touched": [[16]], "dependencies": []})"),
        graph(R"({"id": 1, "kind": "fill", "name": "f", "dependencies": []})"),
        graph(R"({"id": 1, "kind": 5, "name": "f", "touched": [], "dependencies": []})"),
        graph(R"({"id": 1, "kind": "kernel", "name": "f", "dispatch": "x", "dependencies": []})"),
        graph(kFill, R"({"missingEdge": [1, 2]})"),
        graph(kFill + "," + kKernel, R"({"missingEdge": [2, 1]})"),
        graph(kFill, R"({"missingEdge": 1})"),
        std::string(R"({"schema": "other", "schemaVersion": 1, "process": 12, "nodes": [], "conflicts": []})"),
        std::string(R"({"schema": "wavesan-recorded-graph", "schemaVersion": 2, "process": 12, "nodes": []})"),
        graph(kFill).substr(0, 150)}) {
    EXPECT_FALSE(read(text)) << text;
    EXPECT_FALSE(error.empty()) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(readGraphCapsule((directory / "none.graph.json").string(), error));
  EXPECT_FALSE(readGraphCapsule(directory.string(), error));
}

TEST_F(GraphCapsuleTest, ACapsuleThatIsMissingOrThereTwice) {
  EXPECT_FALSE(read(graph(R"({"id": 1, "kind": "kernel", "name": "k", "dispatch": 4, "dependencies": []})")));
  EXPECT_EQ(error, "the capsule of dispatch 4 is missing");
  std::ofstream(directory / "sub-12-3.capsule") << "x";
  EXPECT_FALSE(read(graph(kFill + "," + kKernel)));
  EXPECT_EQ(error, "two capsules of dispatch 3");
}

} // namespace wavesan::driver
