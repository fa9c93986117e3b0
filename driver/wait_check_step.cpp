// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wait_check_step.h"

#include "child_process.h"
#include "environment.h"
#include "message.h"

#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace wavesan::driver {

namespace fs = std::filesystem;

std::optional<WaitCheck> parseWaitCheck(const std::string &word) {
  if (word == "off")
    return WaitCheck::Off;
  if (word == "warn")
    return WaitCheck::Warn;
  if (word == "error")
    return WaitCheck::Error;
  return std::nullopt;
}

WaitCheck chooseWaitCheck(const Machine &machine, const std::string &chosen, std::string &error) {
  std::string word = chosen, from = "--wait-check";
  if (word.empty()) {
    from = "WAVESAN_WAIT_CHECK";
    word = machine.environment("WAVESAN_WAIT_CHECK").value_or("");
  }
  if (word.empty())
    return WaitCheck::Warn;
  if (std::optional<WaitCheck> mode = parseWaitCheck(word))
    return *mode;
  error = from + " is off, warn or error, not '" + word + "'";
  return WaitCheck::Off;
}

std::vector<std::string> deviceCodeOutputs(const CompileLine &line) {
  // Without machine code there is nothing to check; what is linked without HIP sources was checked when it was
  // compiled.
  if (!line.hasHipSource() || line.hostOnly || line.assemblyOnly || line.phase == CompilePhase::Preprocess)
    return {};
  std::string named;
  bool deviceOnly = false;
  for (size_t i = 0; i < line.args.size(); ++i) {
    const std::string &a = line.args[i];
    if (a == "-o" && i + 1 < line.args.size())
      named = line.args[++i];
    else if (a.size() > 2 && a.starts_with("-o") && !a.starts_with("-object") && !a.starts_with("-objc"))
      named = a.substr(2);
    else if (a == "--cuda-device-only" || a == "--offload-device-only")
      deviceOnly = true;
  }
  if (!named.empty())
    return {named};
  if (line.phase == CompilePhase::Link && !deviceOnly)
    return {"a.out"};
  std::vector<std::string> files;
  for (const CompileInput &input : line.inputs) {
    if (!input.isHip)
      continue;
    const std::string stem = fs::path(input.path).stem().string();
    files.push_back(deviceOnly ? stem + "-hip-amdgcn-amd-amdhsa.o" : stem + ".o"); // one file for several targets
    if (deviceOnly)
      for (const std::string &arch : line.offloadArchs)
        files.push_back(stem + "-hip-amdgcn-amd-amdhsa-" + arch + ".o");
  }
  return files;
}

int checkWaitsOf(const std::vector<std::string> &files, const Layout &layout, WaitCheck mode) {
  std::vector<std::string> command = {layout.waitChecker().string(),
                                      mode == WaitCheck::Error ? "--format=errors" : "--format=warnings", "-q",
                                      "--host-files-too", "--"};
  const size_t words = command.size();
  std::error_code ignored;
  for (const std::string &f : files)
    if (fs::is_regular_file(f, ignored))
      command.push_back(f);
  if (command.size() == words) // -o /dev/null and the like
    return 0;
  std::vector<std::string> environment;
  for (char **e = environ; *e; ++e)
    environment.push_back(*e);
  const ChildEnd end = runChild(command, environment);
  if (end.startError != 0 || end.signal != 0 || end.exitStatus > 2) {
    // Not checked is not clean.
    say("the wait check did not run: " + command[0] + ": " +
        (end.startError ? std::strerror(end.startError)
         : end.signal   ? "ended by signal " + std::to_string(end.signal)
                        : "failed"));
    return mode == WaitCheck::Error ? 1 : 0;
  }
  if (end.exitStatus != 1 || mode != WaitCheck::Error)
    return 0;
  for (size_t i = words; i < command.size(); ++i)
    fs::remove(command[i], ignored);
  return 1;
}

} // namespace wavesan::driver
