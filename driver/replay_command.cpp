// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan replay`: execute capsules, compare what they show with what was recorded.
#include "capsule_minimise.h"
#include "capsule_run.h"
#include "checks.h"
#include "commands.h"
#include "message.h"
#include "program_start.h"

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace wavesan::driver {

namespace {

// In the order of what the whole command answers with.
enum Verdict : int { kReproduced = 0, kNotReproduced = 1, kBroken = 2 };

/// The files that `path` names, in the order of their names. Empty, after one line, if there is none.
std::vector<std::string> capsulesAt(const std::string &path) {
  std::error_code ec;
  if (!fs::is_directory(path, ec))
    return {path};
  std::vector<std::string> files;
  for (const fs::directory_entry &entry : fs::directory_iterator(path, ec))
    if (entry.path().extension() == capsule::kFileSuffix)
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
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

Verdict replay(const CapsuleSetting &setting, const ReplayRequest &request, const std::string &file) {
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
