// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan replay`: execute capsules, compare what they show with what was recorded.
#include "capsule_minimise.h"
#include "capsule_run.h"
#include "checks.h"
#include "commands.h"
#include "graph_capsule.h"
#include "message.h"
#include "program_start.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace fs = std::filesystem;

namespace wavesan::driver {

namespace {

// In the order of what the whole command answers with.
enum Verdict : int { kReproduced = 0, kNotReproduced = 1, kBroken = 2 };

bool isGraph(const std::string &path) { return path.ends_with(kGraphSuffix); }

/// The files that `path` names: graphs, then other capsules, in the order of their names. Capsules that are nodes of one of
/// the graphs are not among them. Empty, after one line, if there is none.
std::vector<std::string> capsulesAt(const std::string &path) {
  std::error_code ec;
  if (!fs::is_directory(path, ec))
    return {path};
  std::vector<std::string> files;
  for (const fs::directory_entry &entry : fs::directory_iterator(path, ec))
    if (entry.path().extension() == capsule::kFileSuffix || isGraph(entry.path().string()))
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end(), [](const std::string &a, const std::string &b) {
    return std::pair(!isGraph(a), a) < std::pair(!isGraph(b), b);
  });
  std::set<std::string> nodes;
  for (const std::string &file : files)
    if (std::string error; isGraph(file))
      if (const std::optional<GraphCapsule> graph = readGraphCapsule(file, error))
        for (const auto &[_, node] : graph->files)
          nodes.insert(fs::weakly_canonical(node, ec).string());
  std::erase_if(files, [&](const std::string &file) { return nodes.contains(fs::weakly_canonical(file, ec).string()); });
  if (files.empty())
    fail("replay: no capsule in " + path + (ec ? ": " + ec.message() : ""));
  return files;
}

std::string racesText(size_t shown, size_t recorded) {
  return std::to_string(shown) + " of " + std::to_string(recorded) + " recorded " + (recorded == 1 ? "race" : "races");
}

Verdict broken(const std::string &file, const std::string &why) {
  fail("replay " + file + ": " + why, kBroken);
  return kBroken;
}

/// Each kernel from the memory that it found, and then what they touched against one another.
Verdict replayGraph(CapsuleSetting setting, const ReplayRequest &request, const std::string &file) {
  std::string error;
  std::optional<GraphCapsule> graph = readGraphCapsule(file, error);
  if (!graph)
    return broken(file, error);
  if (request.minimise)
    return broken(file, "--minimise is for capsules of one dispatch");
  setting.accesses = true;
  size_t recorded = graph->conflicts.size(), shown = 0, same = 0;
  for (const auto &[id, path] : graph->files) {
    const std::string what = "node " + std::to_string(id) + ": ";
    const std::optional<capsule::Capsule> capsule = capsule::readCapsule(path, capsuleBytesLimit(), error);
    const auto races = capsule ? recordedRaces(*capsule, error) : std::nullopt;
    if (!races)
      return broken(file, what + error);
    streams::GraphNode &node = graph->nodes[id - 1];
    if (capsule->dispatch.number != node.dispatch)
      return broken(file, what + path + " is of another dispatch");
    CapsuleRun run = runCapsule(setting, path, *capsule, false);
    if (run.failed && run.problem.empty())
      run.problem = "the dispatch failed";
    if (!run.problem.empty())
      return broken(file, what + run.problem);
    recorded += races->size();
    shown += size_t(std::count_if(races->begin(), races->end(),
                                  [&](const std::string &key) { return run.races.contains(key); }));
    same += run.digest == capsule->expectedDigest;
    node.touched = std::move(run.touched);
    node.places = std::move(run.places);
    node.seenInRun = true;
  }
  const streams::Conflicts conflicts = streams::findConflicts(graph->nodes);
  if (!conflicts.looked)
    return broken(file, "it has too many nodes or accesses to be compared");
  for (const streams::NodeConflict &c : conflicts.found) {
    shown += graph->conflicts.contains({c.first, c.second});
    const auto name = [&](streams::NodeId id) {
      const streams::GraphNode &node = graph->nodes[id - 1];
      return "node " + std::to_string(id) + " (" + node.kind + " " + node.name + ")";
    };
    say("replay " + file + ": " + name(c.first) + " and " + name(c.second) + " both touch " + std::to_string(c.bytes) +
        " bytes, and no path of edges orders them: missing edge " + std::to_string(c.first) + " -> " +
        std::to_string(c.second));
  }
  const bool reproduced = recorded != 0 && shown == recorded;
  say("replay " + file + ": " + (reproduced ? "reproduced" : "not reproduced") + ": " +
      (recorded ? racesText(shown, recorded)
                : "no race was recorded, " + std::to_string(conflicts.found.size()) + " found between nodes") +
      ", output of " + std::to_string(same) + " of " + std::to_string(graph->files.size()) + " kernels as recorded");
  return reproduced ? kReproduced : kNotReproduced;
}

Verdict replay(const CapsuleSetting &setting, const ReplayRequest &request, const std::string &file) {
  if (isGraph(file))
    return replayGraph(setting, request, file);
  std::string error;
  std::optional<capsule::Capsule> capsule = capsule::readCapsule(file, capsuleBytesLimit(), error);
  if (!capsule) {
    fail("replay: " + error, kBroken);
    return kBroken;
  }
  const std::optional<std::set<std::string>> recorded = recordedRaces(*capsule, error);
  if (!recorded)
    return broken(file, "the races in it cannot be read: " + error);
  const CapsuleRun run = runCapsule(setting, file, *capsule, false);
  if (!run.problem.empty())
    return broken(file, run.problem);
  const size_t shown = size_t(std::count_if(recorded->begin(), recorded->end(),
                                            [&](const std::string &key) { return run.races.contains(key); }));
  const bool same = !recorded->empty() && shown == recorded->size();
  if (!same && run.failed)
    return broken(file, "the dispatch failed");
  const std::string output = run.failed                              ? "the dispatch failed"
                             : run.digest == capsule->expectedDigest ? "output as recorded"
                                                                     : "output differs from the recorded one";
  say("replay " + file + ": " + (same ? "reproduced" : "not reproduced") + ": " +
      (recorded->empty() ? "no race was recorded, " + std::to_string(run.races.size()) + " found"
                         : racesText(shown, recorded->size())) +
      ", " + output);
  if (!same)
    return kNotReproduced;
  if (request.minimise)
    if (std::string why = minimiseCapsule(setting, *capsule, *recorded, file, request.trials); !why.empty())
      return broken(file, why);
  return kReproduced;
}

} // namespace

int replayCommand(const ReplayRequest &request) {
  std::string error;
  const Layout layout = layoutOfThisExecutable(error);
  if (!error.empty())
    return fail(error);
  const std::optional<bool> cpu = chooseCpu(request.device);
  if (!cpu)
    return kExitUsage;
  for (const Check &check : {checkHsaTool(layout, false), checkReplayer(layout)})
    if (check.isProblem())
      return fail(check.text);
  if (*cpu)
    if (Check check = checkAgent(layout, false); check.isProblem())
      return fail(check.text);
  const CapsuleSetting setting{layout, *cpu, request.seed};
  int worst = kReproduced;
  for (const std::string &path : request.paths) {
    const std::vector<std::string> files = capsulesAt(path);
    worst = std::max<int>(worst, files.empty() ? kBroken : kReproduced);
    for (const std::string &file : files)
      worst = std::max<int>(worst, replay(setting, request, file));
  }
  return worst;
}

} // namespace wavesan::driver
