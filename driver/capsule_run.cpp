// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "capsule_run.h"

#include "child_process.h"
#include "environment.h"
#include "run_line.h"
#include "status_memory.h"
#include "temporary_directory.h"

#include "wavesan/abi/options.h"
#include "wavesan/abi/replay.h"
#include "wavesan/report/document_reader.h"
#include "wavesan/report/merge.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unistd.h>

extern char **environ;

namespace wavesan::driver {

namespace {

/// What a capsule may set: it may come from anybody, and other options name files.
constexpr const char *kRecorded[] = {"seed", "hooks", "wave_order", "early_exit", "max_races", "stuck_limit"};

/// Empty, or why the capsule's options cannot be taken.
std::string optionsOf(const CapsuleSetting &setting, const capsule::Capsule &capsule, std::string &text) {
  abi::Options scratch;
  abi::OptionErrors errors;
  const auto add = [&](const std::string &name, const std::string &value) {
    abi::setOption(scratch, name, value, errors);
    text += (text.empty() ? "" : ":") + name + "=" + quoteValue(value);
  };
  for (const auto &[name, value] : capsule.options) {
    if (std::none_of(std::begin(kRecorded), std::end(kRecorded), [&](const char *known) { return name == known; }))
      return "it sets the option " + abi::detail::quotedText(name) + ", which no capsule may";
    if (name != "seed" || !setting.seed)
      add(name, value);
  }
  if (setting.seed)
    add("seed", std::to_string(*setting.seed));
  if (setting.cpu)
    add("gpu", capsule.target);
  return errors.empty() ? std::string() : (errors.values.empty() ? errors.names : errors.values)[0];
}

/// As wavesan-replay writes them. False: they are not known.
bool readAccesses(const std::string &path, CapsuleRun &run) {
  std::ifstream file(path);
  std::vector<abi::AccessRun> runs;
  for (std::string kind; file >> kind;) {
    uint64_t begin = 0, end = 0, bits = 0;
    if (kind == "known") {
      streams::addTouched(run.touched, runs.data(), runs.size());
      std::sort(run.places.begin(), run.places.end(),
                [](const auto &a, const auto &b) { return a.address < b.address; });
      return true;
    }
    if (kind != "r" && kind != "p")
      return false;
    if (!(file >> begin >> end >> bits))
      return false;
    if (kind == "r")
      runs.push_back({begin, end, 0, uint8_t(bits), abi::Scope::System});
    else
      run.places.push_back({begin, end != 0, false, bits != 0});
  }
  return false;
}

std::set<std::string> keysOf(const report::Document &document) {
  std::set<std::string> keys;
  for (const report::Race &race : document.races)
    keys.insert(report::raceKey(race));
  return keys;
}

} // namespace

uint64_t capsuleBytesLimit() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? uint64_t(pages) * uint64_t(page) / 2 : UINT64_MAX;
}

std::optional<std::set<std::string>> recordedRaces(const capsule::Capsule &capsule, std::string &error) {
  const std::optional<report::Document> document = report::parseDocument(capsule.signature, error);
  if (!document)
    return std::nullopt;
  return keysOf(*document);
}

CapsuleRun runCapsule(const CapsuleSetting &setting, const std::string &file, const capsule::Capsule &capsule,
                      bool quiet) {
  CapsuleRun run;
  EnvironmentRequest change;
  if (run.problem = optionsOf(setting, capsule, change.options); !run.problem.empty())
    return run;
  TemporaryDirectory directory;
  if (directory.path().empty()) {
    run.problem = "cannot make a temporary directory";
    return run;
  }
  const std::string report = directory.path() + "/report.json", result = directory.path() + "/result";
  // What the environment says about other runs does not hold here.
  change.options += ":kernels=:suppressions=:tool=:capsule=:confirm=0:record=:check_waits=0:sarif_path=:junit_path="
                    ":check_streams=" +
                    std::string(setting.accesses ? "1" : "0") +
                    ":max_reports=1000000:json_path=" +
                    quoteValue(report) + (quiet ? ":log_path=/dev/null" : "");
  StatusMemory status(run.problem);
  if (!status.page())
    return run;
  change.cpuAgent = setting.cpu;
  change.statusFd = status.descriptor();
  std::vector<std::string> base;
  for (char **e = environ; *e; ++e)
    base.emplace_back(*e);
  std::vector<std::string> command = {setting.layout.replayer().string(), file, result};
  const std::string accesses = directory.path() + "/accesses";
  if (setting.accesses)
    command.push_back(accesses);
  if (quiet)
    command.insert(command.begin(), {"/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/null 2>&1"});
  const ChildEnd end = runChild(command, childEnvironment(base, setting.layout, change));
  std::string line, error;
  if (end.startError)
    run.problem = "cannot execute " + command[0] + ": " + std::strerror(end.startError);
  else if (end.signal)
    run.problem = "its execution ended by signal " + std::to_string(end.signal) + " (" + strsignal(end.signal) + ")";
  else if (end.exitStatus == int(abi::ReplayExit::CannotRun))
    run.problem = "it cannot be run here: see above";
  else if (end.exitStatus != int(abi::ReplayExit::Ran) || !std::getline(std::ifstream(result) >> std::ws, line))
    run.problem = "its execution ended with status " + std::to_string(end.exitStatus);
  else if (!setting.accesses && status.page()->checkedAccesses.load() == 0 && status.page()->races.load() == 0)
    run.problem = "nothing was checked";
  if (!run.problem.empty())
    return run;
  run.failed = !abi::detail::parseOption(line, run.digest);
  if (const std::optional<report::Document> document = report::readDocument(report, error))
    run.races = keysOf(*document);
  else
    run.problem = error;
  if (setting.accesses && run.problem.empty() && !readAccesses(accesses, run))
    run.problem = "what it touched is not known";
  return run;
}

} // namespace wavesan::driver
