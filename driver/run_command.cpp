// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan run`: choose the device, start the program, wait for it, answer with its status or with the race status.
#include "checks.h"
#include "child_process.h"
#include "code_targets.h"
#include "commands.h"
#include "elf_rpath.h"
#include "environment.h"
#include "layout.h"
#include "message.h"
#include "program_start.h"
#include "run_line.h"
#include "status_memory.h"
#include "target_comparison.h"
#include "temporary_directory.h"

#include "wavesan/abi/options.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

namespace fs = std::filesystem;

namespace wavesan::driver {

namespace {

/// The program never reached WaveSan: what of the installation can be the cause, in doctor's words. Not asked
/// beforehand, because a program may bring what this machine lacks.
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
  const bool checked =
      page.checkedAccesses.load() != 0 || (page.onlyCommands.load() != 0 && page.dispatchesUnchecked.load() == 0);
  return !checked || page.errors.load() != 0 || page.dispatchesPending.load() != 0 || page.racesLost.load() != 0;
}

/// What all runs of one command share.
struct Setting {
  const RunRequest &request;
  const abi::Options &options;
  const Layout &layout;
  bool cpu;
  bool preloadHip;
};

/// What the program itself could not say any more.
void sayWhatIsMissing(const abi::StatusPage &page, const ChildEnd &end, const Setting &setting) {
  const abi::Options &options = setting.options;
  const bool cpu = setting.cpu;
  uint64_t attached = page.processesAttached.load(), summaries = page.summariesPrinted.load();
  if (attached == 0) {
    say(std::string(setting.request.record ? "nothing was recorded" : "nothing was checked") +
        ": the program did not use an HSA runtime" + (cpu ? " (if it brings its own libraries, try --preload)" : ""));
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
  if (page.checkedAccesses.load() == 0 && summaries < attached && !setting.request.record)
    say("nothing was checked: this is no clean result");
  if (uint64_t pending = page.dispatchesPending.load())
    say(std::to_string(pending) + (pending == 1 ? " dispatch was" : " dispatches were") +
        " not evaluated: the process ended first; the result is incomplete");
  if (uint64_t errors = page.errors.load())
    say(std::to_string(errors) + (errors == 1 ? " error" : " errors") +
        " of the tool itself, printed above: the result is incomplete");
}

uint32_t waveSizeOf(const std::string &target) {
#define WAVESAN_AGENT_TARGET(Name, ElfMachine, WaveSize, Features, ChipId)                                             \
  if (target == Name)                                                                                                  \
    return WaveSize;
#include "wavesan/abi/agent_targets.def"
  return 0;
}

/// The end of one run.
struct RunEnd {
  int status = 0; ///< to end with
  int signal = 0; ///< ended the program, and is to end this process; else 0
  bool found = false, incomplete = false;
};

std::string whyNotRecorded(const abi::Options &options, const abi::StatusPage &page) {
  if (page.traceErrors.load())
    return "see the error above";
  if (options.record_region == "all")
    return "no command was put into a stream, or the program ended without running its exit handlers";
  return (options.record_region == "first"
              ? std::string("the program began no region")
              : "the program began no region of the name '" + options.record_region + "'") +
         " (wavesan_region_begin, roctxRangePush or roctxRangeStart; --region=all records the whole program), or ended "
         "without running its exit handlers";
}

std::string withOption(const std::string &options, const std::string &name, const std::string &value) {
  return options + (options.empty() ? "" : ":") + name + "=" + quoteValue(value);
}

RunEnd runOnce(const Setting &setting, const std::string &optionsText) {
  const RunRequest &request = setting.request;
  std::string error;
  StatusMemory status(error);
  if (!status.page())
    return {fail(error)};
  const std::string &program = request.command[0];
  EnvironmentRequest change;
  change.cpuAgent = setting.cpu;
  change.preloadAgent = request.preloadAgent || hasForcingRpath(findProgram(program));
  change.preloadHip = setting.preloadHip;
  change.options = optionsText;
  change.statusFd = status.descriptor();
  std::vector<std::string> base;
  for (char **e = environ; *e; ++e)
    base.emplace_back(*e);

  ChildEnd end = runChild(request.command, childEnvironment(base, setting.layout, change));
  if (end.startError)
    return {couldNotStart(program, end.startError)};
  const abi::Options &options = setting.options;
  sayWhatIsMissing(*status.page(), end, setting);
  if (status.page()->processesAttached.load() == 0)
    sayWhatIsWrong(setting.layout, setting.cpu);
  RunEnd result;
  result.found = status.page()->races.load() > 0 || status.page()->waitHazards.load() > 0;
  result.incomplete = end.signal || isIncomplete(*status.page());
  if (result.found && options.exitcode != 0)
    result.status = options.exitcode;
  else if (end.signal) {
    result.signal = end.signal;
    result.status = 128 + end.signal; // a signal that ends nothing by default
  } else if (end.exitStatus == 0 && options.incomplete_exitcode != 0 && !result.found && result.incomplete) {
    say("incomplete result: exit status " + std::to_string(options.incomplete_exitcode) +
        " (option incomplete_exitcode)");
    result.status = options.incomplete_exitcode;
  } else
    result.status = end.exitStatus;
  if (request.record && !status.page()->graphsRecorded.load()) {
    if (status.page()->processesAttached.load() != 0)
      say("record: nothing was recorded: " + whyNotRecorded(options, *status.page()));
    if (result.status == 0 && !result.signal)
      result.status = kExitNothingRecorded;
  }
  return result;
}

/// Reports of the processes of a run to where the user wanted them.
void keepReports(const std::string &directory, const std::string &wanted) {
  std::error_code ec;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, ec)) {
    std::string to = wanted;
    const std::string process = entry.path().stem().string();
    for (size_t at = to.find("%p"); at != std::string::npos; at = to.find("%p", at + process.size()))
      to.replace(at, 2, process);
    fs::copy_file(entry.path(), to, fs::copy_options::overwrite_existing, ec);
    if (ec)
      fail("json_path: cannot write " + to + ": " + ec.message());
  }
}

/// How bad an end is: a race, then a signal, then an error of the program, then an incomplete result.
int badness(const RunEnd &end, const abi::Options &options) {
  return end.found && options.exitcode != 0                                                  ? 4
         : end.signal                                                                        ? 3
         : end.status != 0 && !(end.incomplete && end.status == options.incomplete_exitcode) ? 2
                                                                                             : end.status != 0;
}

RunEnd runAsEach(const Setting &setting, const std::string &optionsText) {
  const RunRequest &request = setting.request;
  const abi::Options &options = setting.options;
  std::vector<TargetVerdict> verdicts;
  RunEnd worst;
  for (const std::string &target : request.targets) {
    TemporaryDirectory reports;
    if (reports.path().empty())
      return {fail("cannot make a temporary directory")};
    std::string text = withOption(optionsText, "gpu", target);
    for (const auto &[name, path] :
         {std::pair("log_path", options.log_path), std::pair("sarif_path", options.sarif_path),
          std::pair("junit_path", options.junit_path)})
      if (const std::string own = pathOfTarget(path, target); own != path)
        text = withOption(text, name, own);
    text = withOption(text, "json_path", reports.path() + "/%p.json");
    say("as " + target + ":");
    const RunEnd end = runOnce(setting, text);
    TargetVerdict &verdict = verdicts.emplace_back();
    verdict.target = target;
    verdict.waveSize = waveSizeOf(target);
    verdict.incomplete = end.incomplete;
    verdict.document = reportsIn(reports.path(), verdict.known);
    if (!options.json_path.empty())
      keepReports(reports.path(), pathOfTarget(options.json_path, target));
    if (verdicts.size() == 1 || badness(end, options) > badness(worst, options))
      worst = end;
  }
  say(comparisonLine(verdicts));
  return worst;
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
  std::optional<bool> cpu = request.targets.empty() ? chooseCpu(request.device) : std::optional<bool>(true);
  if (!cpu)
    return kExitUsage;
  if (Check check = checkHsaTool(layout, false); check.isProblem())
    return fail(check.text);
  if (*cpu)
    if (Check check = checkAgent(layout, false); check.isProblem())
      return fail(check.text);

  const std::string &program = request.command[0], file = findProgram(program);
  if (std::string why = whyCutShort(file); !why.empty())
    return fail("cannot run " + program + ": " + why, kExitNotExecutable);
  if (std::string why = missingTarget(file, request.targets); !why.empty())
    return fail("run: " + why);
  std::string text = request.options;
  bool preloadHip = false;
  if (request.record) {
    const Check check = checkHipTool(layout, false);
    if (check.isProblem())
      return fail(check.text);
    if (layout.hipTool().string().find_first_of(" :") != std::string::npos)
      return fail("record: LD_PRELOAD cannot name " + layout.hipTool().string() +
                  ": install WaveSan below a path without blanks and colons");
    preloadHip = true;
  } else if (options->check_streams) {
    const Check check = checkHipTool(layout, false);
    const bool nameable = layout.hipTool().string().find_first_of(" :") == std::string::npos;
    preloadHip = !check.isProblem() && nameable;
    if (check.isProblem())
      say("note: races between streams are not looked for: " + check.text);
    else if (!nameable)
      say("note: races between streams are not looked for: LD_PRELOAD cannot name " + layout.hipTool().string());
  }
  if (options->help) { // here and not in the program, which may never load the tool; said once
    for (const std::string &line : abi::optionLines(*options))
      say(line);
    text = withOption(text, "help", "0");
  }
  const Setting setting{request, *options, layout, *cpu, preloadHip};
  const RunEnd end = request.targets.empty() ? runOnce(setting, text) : runAsEach(setting, text);
  if (end.signal)
    endBySignal(end.signal);
  return end.status;
}

} // namespace wavesan::driver
