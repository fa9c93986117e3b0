// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tool.h"

#include "copy_interceptor.h"
#include "loader_interceptor.h"
#include "memory_interceptor.h"
#include "queue_interceptor.h"
#include "replay_graph.h"
#include "replay_range.h"
#include "replay_service.h"

#include <cstdio>
#include <optional>
#include <unistd.h>

namespace wavesan::hsa {

namespace {
constexpr std::chrono::seconds kEndLimit(5);

/// Trivially destructible: interceptors may run while the process's static objects are being destroyed.
std::atomic<Tool *> CurrentTool{nullptr};

/// The classes whose severity is a choice.
void setSeverities(Findings &findings, const abi::Options &options) {
  const auto severityOf = [](const std::string &value) -> std::optional<report::Severity> {
    if (value == "off")
      return std::nullopt;
    return value == "note"      ? report::Severity::Note
           : value == "warning" ? report::Severity::Warning
                                : report::Severity::Error;
  };
  const auto set = [&](abi::RaceClass c, const char *option, const std::string &value) {
    findings.setSeverity(c, severityOf(value), std::string("option ") + option + "=off");
  };
  set(abi::RaceClass::EarlyExit, "early_exit", options.early_exit);
  // Whoever asks for the language's order wants code that does not rest on what the compiler chooses.
  const bool automatic = options.wave_order_dependent == "auto";
  set(abi::RaceClass::WaveOrder, "wave_order_dependent",
      !automatic                         ? options.wave_order_dependent
      : options.wave_order == "language" ? "error"
                                         : "warning");
  findings.setSameValue(severityOf(options.same_value), "option same_value=off");
}
} // namespace

Tool *Tool::current() { return CurrentTool.load(std::memory_order_acquire); }

Tool::Tool(abi::Options opts, Api runtime, HsaApiTable *table, Sinks sinks, report::Suppressions suppressions,
           std::unique_ptr<Status> page)
    : options(std::move(opts)), api(runtime), cpuAgent(findCpuAgent(api)), Table(table), Process(getpid()), status(std::move(page)),
      memory(Dispatches), tiers(options), selection(options.kernels),
      findings(std::move(sinks), std::move(suppressions), *status, memory, options.max_reports),
      streams(memory, kernels, [this](report::Race race) { findings.streamRace(std::move(race)); }),
      agents(api,
             [this] {
               uint64_t bytes = 0;
               for (const MemoryMap::LiveRange &range : memory.live())
                 if (range.kind == MemoryMap::Kind::Allocation)
                   bytes += range.bytes;
               return bytes;
             }),
      capsules(options), confirmer(options, cpuAgent), further(options, cpuAgent), resources(api, options.max_races), drain(api, resources, findings),
      queues(std::make_unique<QueueRegistry>()) {}

bool Tool::load(HsaApiTable *table) {
  abi::OptionErrors optionErrors;
  abi::Options options = abi::optionsFromEnvironment(optionErrors);
  std::vector<std::string> warnings = optionErrors.names, errors = optionErrors.values;
  std::string statusError, apiError;
  auto status = std::make_unique<Status>(statusError);
  Sinks sinks = Sinks::make(options, *status, warnings, errors);
  report::Suppressions suppressions;
  if (!options.suppressions.empty())
    suppressions = report::Suppressions::read(options.suppressions, errors);
  status->add(&abi::StatusPage::processesAttached);

  std::optional<Api> api = Api::take(table, apiError);
  if (!api) {
    sinks.text->onMessage("nothing is checked: " + apiError);
    status->add(&abi::StatusPage::errors);
    return false;
  }
  Tool *tool = new Tool(std::move(options), *api, table, std::move(sinks), std::move(suppressions), std::move(status));
  if (!statusError.empty())
    errors.push_back(statusError);
  for (const std::string &warning : warnings)
    tool->findings.message("warning: " + warning);
  for (const std::string &error : errors)
    tool->findings.error(error);
  setSeverities(tool->findings, tool->options);
  if (tool->options.help)
    tool->printOptions();
  tool->Previous = CurrentTool.exchange(tool, std::memory_order_acq_rel);
  if (tool->options.check_streams)
    tool->streams.connect();
  installLoaderInterceptors(*table->core_);
  installQueueInterceptors(*table->core_);
  installMemoryInterceptors(*table->core_, *table->amd_ext_);
  const bool replays = tool->watchesDispatches();
  if (replays)
    ReplayService::instance().useWindows();
  if (tool->followsCopies())
    installCopyInterceptors(*table->core_, *table->amd_ext_); // only now: other programs keep the runtime's copies
  if (replays && !tool->options.tool.empty())
    tool->findings.error("option tool: left out, because of the options capsule, confirm and further_passes");
  else if (!tool->options.tool.empty()) {
    if (tool->cpuAgent)
      for (wavesan_replay_context_t context : {WAVESAN_CONTEXT_SCHEDULE_PERTURBATION, WAVESAN_CONTEXT_ACCESS_TRACE})
        ReplayService::instance().provide(context);
    if (std::string error; !ReplayService::instance().loadTool(tool->options.tool, error))
      tool->findings.error(error);
    connectGraphReplay();
  }
  return true;
}

void Tool::printOptions() {
  for (const std::string &line : abi::optionLines(options))
    findings.message(line);
}

bool Tool::forkedAway() const { return getpid() != Process; }

void Tool::sayForkedAway() {
  static std::atomic<pid_t> said{0};
  status->add(&abi::StatusPage::dispatchesUnchecked);
  const pid_t self = getpid();
  if (said.exchange(self) == self)
    return;
  status->add(&abi::StatusPage::errors);
  char line[160];
  const int n =
      std::snprintf(line, sizeof(line),
                    "wavesan: process %d was forked from an HSA program and did not call exec: its kernels are "
                    "not checked\n",
                    int(self));
  if (n > 0 && write(STDERR_FILENO, line, size_t(n)) < 0)
    return; // nobody listens
}

void Tool::finish() {
  if (forkedAway())
    return; // a forked child has no drain thread, and its parent prints the summary
  std::lock_guard lock(EndMutex);
  if (Ended)
    return;
  Ended = true;
  ReplayRange::instance().giveUp(kDeclineRangeOpen);
  Active.store(false, std::memory_order_release);
  if (!drain.waitIdle(0, kEndLimit))
    findings.unfinished(drain.pending());
  findings.streamsCompared([this](report::Summary &summary) { streams.finish(summary); });
  ReplayService::instance().finishTool();
  capsules.finish(findings);
  for (const std::string &glob : selection.unusedGlobs())
    findings.message("warning: option kernels: no kernel matches '" + glob + "'");
  if (options.print_unused_suppressions)
    findings.namesUnusedSuppressions();
  findings.finish();
}

void Tool::unload() {
  if (forkedAway())
    return;
  finish();
  std::lock_guard lock(EndMutex);
  if (Unloaded)
    return;
  Unloaded = true;
  drain.stop();
  removeLoaderInterceptors(*Table->core_, api.core);
  removeQueueInterceptors(*Table->core_, api.core);
  removeCopyInterceptors(*Table->core_, *Table->amd_ext_, api);
  removeMemoryInterceptors(*Table->core_, *Table->amd_ext_, api);
}

} // namespace wavesan::hsa
