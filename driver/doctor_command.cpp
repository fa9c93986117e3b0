// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan doctor`: every check, one line each.
#include "checks.h"
#include "commands.h"
#include "message.h"

#include "build_info.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace wavesan::driver {

namespace {

constexpr char kUsage[] =
    "Usage: wavesan doctor [--json] [ARGS...]\n\n"
    "Checks everything that WaveSan needs: one line for each thing, and what to install or change where one is wrong.\n"
    "ARGS are those of `wavesan cc`: the checks are then made for that command line, e.g.\n\n"
    "  wavesan doctor hipcc --offload-arch=gfx942\n\n"
    "  --json   for scripts: {\"schema\":\"wavesan-doctor\",\"version\":1,...}\n\n"
    "Exit status: 0 if nothing is wrong, 1 if something is.\n";

/// Needs another check's answer that is not there.
Check notChecked(const char *name, const char *because) {
  return {name, Check::State::Note, std::string("not checked: ") + because};
}

const char *nameOf(Check::State state) {
  switch (state) {
  case Check::State::Ok:
    return "ok";
  case Check::State::Note:
    return "note";
  case Check::State::Problem:
    return "problem";
  }
  return "problem";
}

void printText(const std::vector<Check> &checks, size_t problems) {
  for (const Check &c : checks)
    std::printf("%-8s %-20s %s\n", nameOf(c.state), c.name.c_str(), c.text.c_str());
  if (problems)
    std::printf("%zu of %zu checks found a problem\n", problems, checks.size());
  else
    std::printf("everything that WaveSan needs is there\n");
}

void printJson(const std::vector<Check> &checks, const std::vector<std::string> &targets, size_t problems) {
  nlohmann::ordered_json document = {
      {"schema", "wavesan-doctor"}, {"version", 1}, {"wavesan", kVersion}, {"ok", problems == 0}};
  document["checks"] = nlohmann::ordered_json::array();
  for (const Check &c : checks)
    document["checks"].push_back({{"name", c.name}, {"state", nameOf(c.state)}, {"text", c.text}});
  document["targets"] = targets;
  // File names need not be UTF-8.
  std::cout << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

} // namespace

int doctorCommand(const std::vector<std::string> &words) {
  std::vector<std::string> args = words;
  if (!args.empty() && (args[0] == "--help" || args[0] == "-h")) {
    std::cout << kUsage;
    return 0;
  }
  const bool json = !args.empty() && args[0] == "--json";
  if (json)
    args.erase(args.begin());

  std::string error, note;
  const CompileLine line = readCompileLine(args, error);
  if (!error.empty())
    return fail(error);
  const Layout layout = layoutOfThisProcess(error);
  if (!error.empty())
    return fail(error);
  const Machine machine = Machine::current();
  std::vector<Check> checks;
  std::vector<std::string> targets;

  std::optional<PluginIdentity> identity;
  checks.push_back(checkPlugin(layout, identity));
  std::optional<Compiler> compiler;
  checks.push_back(checkCompiler(machine, pluginTarget(identity), line.compiler, compiler, note));
  if (compiler) {
    checks.push_back(checkLinker(machine, *compiler));
    checks.push_back(checkBundler(machine, line, *compiler));
  } else {
    checks.push_back(notChecked("linker", "no compiler"));
    checks.push_back(notChecked("bundler", "no compiler"));
  }

  const HipInstall hip = findHip(machine, line, compiler ? compiler->version : Version());
  checks.push_back(checkHip(hip));
  checks.push_back(checkHipRuntime(machine, hip));
  if (compiler) {
    checks.push_back(checkDeviceLibraries(machine, line, hip, *compiler));
    if (const std::string directory = findDeviceLibraries(machine, line, hip, *compiler); !directory.empty())
      targets = targetsOf(machine, directory);
  } else {
    checks.push_back(notChecked("device-libraries", "no compiler"));
  }
  checks.push_back(checkTemporaryDirectory(machine));

  const Check gpu = checkGpu(machine);
  checks.push_back(checkHsaRuntime(machine, gpu.state == Check::State::Ok));
  checks.push_back(checkHsaTool(layout, true));
  checks.push_back(checkAgent(layout, true));
  checks.push_back(checkCompatHeader(layout));
  checks.push_back(checkWaitChecker(layout));
  checks.push_back(gpu);

  const size_t problems =
      size_t(std::count_if(checks.begin(), checks.end(), [](const Check &c) { return c.isProblem(); }));
  if (json)
    printJson(checks, targets, problems);
  else
    printText(checks, problems);
  return problems ? 1 : 0;
}

} // namespace wavesan::driver
