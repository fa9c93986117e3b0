// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan trace`: the program as it is, with libwavesan-hip.so preloaded.
#include "checks.h"
#include "child_process.h"
#include "commands.h"
#include "elf_rpath.h"
#include "environment.h"
#include "layout.h"
#include "message.h"
#include "program_start.h"
#include "run_line.h"
#include "status_memory.h"

#include "wavesan/abi/options.h"

#include <cerrno>
#include <cstring>

#include <unistd.h>

extern char **environ;

namespace fs = std::filesystem;

namespace wavesan::driver {

namespace {

/// One line if files with that prefix cannot be made; empty if they can, or if %p leaves the directory open.
std::string whyNotWritable(const fs::path &prefix) {
  const fs::path directory = prefix.parent_path();
  if (directory.string().find("%p") != std::string::npos)
    return {};
  std::error_code ec;
  if (fs::is_regular_file(directory, ec))
    return "cannot write traces to '" + prefix.string() + ".*': " + directory.string() + " is no directory";
  if (access(directory.c_str(), W_OK | X_OK) == 0)
    return {};
  return "cannot write traces to '" + prefix.string() + ".*': " + directory.string() + ": " + std::strerror(errno);
}

/// The options that name the files. Absolute: the program may change its directory.
std::string fileOptions(const TraceRequest &request, const fs::path &prefix) {
  std::string text;
  auto add = [&](bool wanted, const char *option, const char *extension) {
    if (wanted)
      text += ":" + std::string(option) + "=" + quoteValue(prefix.string() + extension);
  };
  add(request.csv, "trace_csv", ".csv");
  add(request.json, "trace_json", ".json");
  add(request.perfetto, "trace_perfetto", ".pftrace");
  add(request.graph, "trace_graph", ".graph.json");
  add(request.dot, "trace_dot", ".dot");
  return text;
}

} // namespace

int traceCommand(const TraceRequest &request) {
  std::error_code ec;
  const fs::path prefix = fs::absolute(request.prefix, ec);
  if (prefix.string().find('\'') != std::string::npos && prefix.string().find('"') != std::string::npos)
    return fail("trace: -o: a name with both kinds of quotes is not supported");
  if (std::string why = whyNotWritable(prefix); !why.empty())
    return fail("trace: " + why);
  const std::string options = request.options + fileOptions(request, prefix);
  if (!checkedOptions(options))
    return kExitUsage;

  std::string error;
  const Layout layout = layoutOfThisExecutable(error);
  if (!error.empty())
    return fail(error);
  if (Check check = checkHipTool(layout, false); check.isProblem())
    return fail(check.text);
  if (layout.hipTool().string().find_first_of(" :") != std::string::npos)
    return fail("trace: LD_PRELOAD cannot name " + layout.hipTool().string() +
                ": install WaveSan below a path without blanks and colons");
  const std::optional<bool> cpu = chooseCpu(request.device);
  if (!cpu)
    return kExitUsage;
  if (*cpu)
    if (Check check = checkAgent(layout, false); check.isProblem())
      return fail(check.text);
  StatusMemory status(error);
  if (!status.page())
    return fail(error);

  const std::string &program = request.command[0];
  EnvironmentRequest change;
  change.cpuAgent = *cpu;
  change.preloadAgent = request.preloadAgent || hasForcingRpath(findProgram(program));
  change.raceCheck = false;
  change.preloadHip = true;
  change.options = options;
  change.statusFd = status.descriptor();
  std::vector<std::string> base;
  for (char **e = environ; *e; ++e)
    base.emplace_back(*e);

  const ChildEnd end = runChild(request.command, childEnvironment(base, layout, change));
  if (end.startError)
    return couldNotStart(program, end.startError);
  if (status.page()->tracedProcesses.load() == 0)
    say("trace: no HIP call was seen: nothing was written (a program that is linked statically, is set-uid, or looks "
        "up "
        "HIP's functions with dlsym cannot be traced)");
  else if (end.signal)
    say("trace: program ended by signal " + std::to_string(end.signal) + " (" + strsignal(end.signal) +
        "): what was written before lies in files named *.partial");
  if (end.signal) {
    endBySignal(end.signal);
    return 128 + end.signal; // a signal that ends nothing by default
  }
  return end.exitStatus;
}

} // namespace wavesan::driver
