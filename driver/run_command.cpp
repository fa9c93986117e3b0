// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan run`: choose the device, start the program, wait for it, answer with its status or with the race status.
#include "child_process.h"
#include "commands.h"
#include "elf_rpath.h"
#include "environment.h"
#include "gpu_probe.h"
#include "layout.h"
#include "message.h"
#include "status_memory.h"

#include "wavesan/abi/options.h"

#include <cerrno>
#include <cstring>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

namespace wavesan::driver {

namespace {

/// The file that execvp would run; empty if there is none.
std::string findProgram(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return name;
  const char *path = std::getenv("PATH");
  std::string list = path ? path : "/usr/local/bin:/usr/bin:/bin";
  for (size_t begin = 0; begin <= list.size();) {
    size_t end = std::min(list.find(':', begin), list.size());
    std::string file = (end == begin ? "." : list.substr(begin, end - begin)) + "/" + name;
    if (access(file.c_str(), X_OK) == 0)
      return file;
    begin = end + 1;
  }
  return {};
}

/// Options as the program will see them; nothing (after one line) when one of them is wrong.
std::optional<abi::Options> checkedOptions(const std::string &fromFlags) {
  std::vector<std::string> errors;
  abi::Options options = abi::optionsFromEnvironment(errors);
  for (std::string &e : errors)
    e = std::string(abi::kOptionsVariable) + ": " + e;
  abi::parseOptions(options, fromFlags, errors);
  if (errors.empty())
    return options;
  fail(errors[0] + " (all options: wavesan help options)");
  return std::nullopt;
}

/// True: use the CPU agent. Nothing (after one line): a GPU was demanded and there is none.
std::optional<bool> chooseCpu(RunRequest::Device device) {
  if (device == RunRequest::Device::Cpu)
    return true;
  std::string why = whyNoGpu();
  if (why.empty())
    return false;
  if (device == RunRequest::Device::Gpu) {
    fail("no usable AMD GPU (" + why + ")");
    return std::nullopt;
  }
  say("no usable AMD GPU (" + why + "); running on the CPU agent");
  return true;
}

int couldNotStart(const std::string &program, int why) {
  // ENOENT for a file that exists: its interpreter or loader is missing.
  bool missing = why == ENOENT || why == ENOTDIR;
  return fail("cannot run " + program + ": " + std::strerror(why), missing ? kExitNotFound : kExitNotExecutable);
}

/// What the program itself could not say any more.
void sayWhatIsMissing(const abi::StatusPage &page, const ChildEnd &end, const abi::Options &options, bool cpu) {
  uint64_t attached = page.processesAttached.load(), summaries = page.summariesPrinted.load();
  if (attached == 0) {
    say(std::string("nothing was checked: the program did not use an HSA runtime") +
        (cpu ? " (if it brings its own libraries, try --preload)" : ""));
    return;
  }
  if (end.signal)
    say("program ended by signal " + std::to_string(end.signal) + " (" + strsignal(end.signal) + ")" +
        (summaries < attached ? " before its summary; so far: " + countsOf(page) : ""));
  else if (summaries < attached && options.summary)
    say(std::to_string(attached - summaries) + " of " + std::to_string(attached) +
        " processes ended before their summary; all together: " + countsOf(page));
  if (uint64_t errors = page.errors.load())
    say(std::to_string(errors) + " errors of the tool itself, printed above: the result is incomplete");
}

} // namespace

int runCommand(const RunRequest &request) {
  std::optional<abi::Options> options = checkedOptions(request.options);
  if (!options)
    return kExitUsage;
  std::string error;
  Layout layout = layoutOfThisExecutable(error);
  if (!error.empty())
    return fail(error);
  std::optional<bool> cpu = chooseCpu(request.device);
  if (!cpu)
    return kExitUsage;
  if (std::string missing = missingPart(layout.hsaTool, "the HSA tool library"); !missing.empty())
    return fail(missing);
  if (*cpu)
    if (std::string missing = missingPart(layout.agent(), "the CPU agent"); !missing.empty())
      return fail(missing);
  StatusMemory status(error);
  if (!status.page())
    return fail(error);

  const std::string &program = request.command[0];
  EnvironmentRequest change;
  change.cpuAgent = *cpu;
  change.preloadAgent = request.preloadAgent || hasForcingRpath(findProgram(program));
  change.options = request.options;
  change.statusFd = status.descriptor();
  std::vector<std::string> base;
  for (char **e = environ; *e; ++e)
    base.emplace_back(*e);

  ChildEnd end = runChild(request.command, childEnvironment(base, layout, change));
  if (end.startError)
    return couldNotStart(program, end.startError);
  sayWhatIsMissing(*status.page(), end, *options, *cpu);
  if (status.page()->races.load() > 0 && options->exitcode != 0)
    return options->exitcode;
  if (end.signal) {
    endBySignal(end.signal);
    return 128 + end.signal; // a signal that ends nothing by default
  }
  return end.exitStatus;
}

} // namespace wavesan::driver
