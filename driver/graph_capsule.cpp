// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph_capsule.h"

#include "wavesan/capsule/capsule.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace fs = std::filesystem;
using nlohmann::json;

namespace wavesan::driver {

namespace {

constexpr uintmax_t kMaxFileBytes = 256 << 20;

/// The only capsule in the directory of this dispatch of this process. Names in the file never become paths.
std::string capsuleOf(const fs::path &directory, uint64_t process, uint64_t dispatch) {
  const std::string end = "-" + std::to_string(process) + "-" + std::to_string(dispatch) + capsule::kFileSuffix;
  std::string found;
  std::error_code ec;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, ec))
    if (entry.path().filename().string().ends_with(end)) {
      if (!found.empty())
        throw std::runtime_error("two capsules of dispatch " + std::to_string(dispatch));
      found = entry.path().string();
    }
  if (found.empty())
    throw std::runtime_error("the capsule of dispatch " + std::to_string(dispatch) + " is missing");
  return found;
}

void require(bool holds, const char *what) {
  if (!holds)
    throw std::runtime_error(std::string("damaged: ") + what);
}

const char *kindOf(const std::string &text) {
  for (const char *kind : {"kernel", "copy", "fill"})
    if (text == kind)
      return kind;
  return "other";
}

GraphCapsule read(const fs::path &path) {
  std::error_code ec;
  const uintmax_t bytes = fs::is_regular_file(path, ec) ? fs::file_size(path, ec) : 0;
  if (ec || bytes == 0)
    throw std::runtime_error("no file that can be read");
  require(bytes <= kMaxFileBytes, "larger than any graph");
  std::ifstream file(path);
  const json document = json::parse(file); // throws json::exception, as all that follows
  require(document.at("schema") == "wavesan-recorded-graph" && document.at("schemaVersion") == 1, "another schema");
  const uint64_t process = document.at("process").get<uint64_t>();
  const json &nodes = document.at("nodes");
  require(nodes.is_array() && nodes.size() <= streams::Reachability::kMaxNodes, "nodes");
  GraphCapsule graph;
  for (const json &from : nodes) {
    streams::GraphNode node;
    node.id = from.at("id").get<uint64_t>();
    require(node.id == graph.nodes.size() + 1, "the numbers of nodes");
    node.kind = kindOf(from.at("kind").get<std::string>());
    node.name = from.at("name").get<std::string>();
    for (const json &d : from.at("dependencies")) {
      node.dependencies.push_back(d.get<uint64_t>());
      require(node.dependencies.back() >= 1 && node.dependencies.back() < node.id, "a dependency");
    }
    if (from.contains("dispatch")) {
      node.dispatch = from.at("dispatch").get<uint64_t>();
      graph.files[node.id] = capsuleOf(path.parent_path().empty() ? "." : path.parent_path(), process, node.dispatch);
    } else {
      for (const json &t : from.at("touched")) {
        const auto begin = t.at(0).get<uint64_t>(), end = t.at(1).get<uint64_t>(), bits = t.at(2).get<uint64_t>();
        require(begin < end && bits <= 7, "what a node touches");
        node.touched.push_back({begin, end, uint8_t(bits)});
      }
    }
    graph.nodes.push_back(std::move(node));
  }
  for (const json &c : document.at("conflicts")) {
    const auto first = c.at("missingEdge").at(0).get<uint64_t>(), second = c.at("missingEdge").at(1).get<uint64_t>();
    require(first >= 1 && first < second && second <= graph.nodes.size(), "a conflict");
    graph.conflicts.insert({first, second});
  }
  return graph;
}

} // namespace

std::optional<GraphCapsule> readGraphCapsule(const std::string &path, std::string &error) try {
  return read(path);
} catch (const json::exception &) {
  error = "it is no graph, or damaged";
  return std::nullopt;
} catch (const std::runtime_error &e) {
  error = e.what();
  return std::nullopt;
}

} // namespace wavesan::driver
