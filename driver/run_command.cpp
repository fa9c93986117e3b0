// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan run`: choose the device, start the program, wait for it, answer with its status or with the race status.
#include "checks.h"
#include "child_process.h"
#include "commands.h"
#include "elf_rpath.h"
#include "environment.h"
#include "layout.h"
#include "message.h"
#include "program_start.h"
#include "status_memory.h"

#include "wavesan/abi/options.h"

#include <cstring>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

namespace wavesan::driver {

namespace {

/// The program never reached WaveSan: what of the installation can be the cause, in doctor's words. Not asked beforehand,
/// because a program may bring what this machine lacks.
void sayWhatIsWrong(const Layout &layout, bool cpu) {
  const Machine machine = Machine::current();
  std::vector<Check> checks = {checkHsaTool(layout, true),
                               cpu ? checkAgent(layout, true) : checkHsaRuntime(machine, true),
                               checkHipRuntime(machine, findHip(machine, CompileLine(), Version()))};
  for (const Check &check : checks)
    if (check.isProblem())
      say(check.text);
}

/// Whether the result lacks something that could have been a race.
bool isIncomplete(const abi::StatusPage &page) {
  return page.checkedAccesses.load() == 0 || page.errors.load() != 0 || page.dispatchesPending.load() != 0 ||
         page.racesLost.load() != 0;
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
  else if (attached > 1 && summaries == attached && options.summary)
    say(std::to_string(attached) + " processes, all together: " + countsOf(page));
  else if (summaries < attached && options.summary)
    say(std::to_string(attached - summaries) + " of " + std::to_string(attached) +
        " processes ended before their summary; all together: " + countsOf(page));
  if (page.checkedAccesses.load() == 0 && summaries < attached)
    say("nothing was checked: this is no clean result");
  if (uint64_t pending = page.dispatchesPending.load())
    say(std::to_string(pending) + (pending == 1 ? " dispatch was" : " dispatches were") +
        " not evaluated: the process ended first; the result is incomplete");
  if (uint64_t errors = page.errors.load())
    say(std::to_string(errors) + (errors == 1 ? " error" : " errors") +
        " of the tool itself, printed above: the result is incomplete");
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
  if (Check check = checkHsaTool(layout, false); check.isProblem())
    return fail(check.text);
  if (*cpu)
    if (Check check = checkAgent(layout, false); check.isProblem())
      return fail(check.text);
  StatusMemory status(error);
  if (!status.page())
    return fail(error);

  const std::string &program = request.command[0], file = findProgram(program);
  if (std::string why = whyCutShort(file); !why.empty())
    return fail("cannot run " + program + ": " + why, kExitNotExecutable);
  EnvironmentRequest change;
  change.cpuAgent = *cpu;
  change.preloadAgent = request.preloadAgent || hasForcingRpath(file);
  change.options = request.options;
  if (options->check_streams) {
    const Check check = checkHipTool(layout, false);
    const bool nameable = layout.hipTool().string().find_first_of(" :") == std::string::npos;
    change.preloadHip = !check.isProblem() && nameable;
    if (check.isProblem())
      say("note: races between streams are not looked for: " + check.text);
    else if (!nameable)
      say("note: races between streams are not looked for: LD_PRELOAD cannot name " + layout.hipTool().string());
  }
  if (options->help) { // here and not in the program, which may never load the tool; said once
    for (const std::string &line : abi::optionLines(*options))
      say(line);
    change.options += change.options.empty() ? "help=0" : ":help=0";
  }
  change.statusFd = status.descriptor();
  std::vector<std::string> base;
  for (char **e = environ; *e; ++e)
    base.emplace_back(*e);

  ChildEnd end = runChild(request.command, childEnvironment(base, layout, change));
  if (end.startError)
    return couldNotStart(program, end.startError);
  sayWhatIsMissing(*status.page(), end, *options, *cpu);
  if (status.page()->processesAttached.load() == 0)
    sayWhatIsWrong(layout, *cpu);
  const bool found = status.page()->races.load() > 0 || status.page()->waitHazards.load() > 0;
  if (found && options->exitcode != 0)
    return options->exitcode;
  if (end.signal) {
    endBySignal(end.signal);
    return 128 + end.signal; // a signal that ends nothing by default
  }
  if (end.exitStatus == 0 && options->incomplete_exitcode != 0 && !found && isIncomplete(*status.page())) {
    say("incomplete result: exit status " + std::to_string(options->incomplete_exitcode) +
        " (option incomplete_exitcode)");
    return options->incomplete_exitcode;
  }
  return end.exitStatus;
}

} // namespace wavesan::driver
