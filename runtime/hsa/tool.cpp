// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tool.h"

#include "loader_interceptor.h"
#include "queue_interceptor.h"

#include "wavesan/report/text_sink.h"

#include <unistd.h>

namespace wavesan::hsa {

namespace {
constexpr std::chrono::seconds kEndLimit(5);

/// Trivially destructible: interceptors may run while the process's static objects are being destroyed.
std::atomic<Tool *> CurrentTool{nullptr};

std::string currentDirectory() {
  char buffer[4096];
  return getcwd(buffer, sizeof(buffer)) ? buffer : "";
}
} // namespace

Tool *Tool::current() { return CurrentTool.load(std::memory_order_acquire); }

Tool::Tool(abi::Options opts, Api runtime, HsaApiTable *table, std::unique_ptr<report::Sink> sink,
           std::unique_ptr<Status> page)
    : options(std::move(opts)), api(runtime), Table(table), Process(getpid()), status(std::move(page)),
      findings(std::move(sink), *status, options.max_reports), agents(api), resources(api, options.max_races),
      drain(api, resources, findings), queues(std::make_unique<QueueRegistry>()) {}

bool Tool::load(HsaApiTable *table) {
  std::vector<std::string> errors;
  abi::Options options = abi::optionsFromEnvironment(errors);

  std::string outputError, statusError, apiError;
  auto output = std::make_shared<report::OutputFile>(options.log_path, outputError);
  report::TextOptions text;
  text.sourceExcerpt = options.source_excerpt;
  text.summary = options.summary;
  text.directory = currentDirectory();
  auto sink = std::make_unique<report::TextSink>([output](std::string_view s) { output->write(s); }, text);
  auto status = std::make_unique<Status>(statusError);
  status->add(&abi::StatusPage::processesAttached);

  std::optional<Api> api = Api::take(table, apiError);
  if (!api) {
    sink->onMessage("nothing is checked: " + apiError);
    status->add(&abi::StatusPage::errors);
    return false;
  }
  Tool *tool = new Tool(std::move(options), *api, table, std::move(sink), std::move(status));
  for (const std::string &error : errors)
    tool->findings.message("warning: " + error);
  for (const std::string &error : {outputError, statusError})
    if (!error.empty())
      tool->findings.error(error);
  if (tool->options.help)
    tool->printOptions();
  tool->Previous = CurrentTool.exchange(tool, std::memory_order_acq_rel);
  installLoaderInterceptors(*table->core_);
  installQueueInterceptors(*table->core_);
  return true;
}

void Tool::printOptions() {
  findings.message(std::string("options, set by ") + abi::kOptionsVariable + "=name=value:name=value");
  auto text = [](const auto &value) -> std::string {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::string>)
      return value;
    else if constexpr (std::is_same_v<T, bool>)
      return value ? "true" : "false";
    else
      return std::to_string(value);
  };
#define WAVESAN_OPTION(Type, Name, Default, Help)                                                                      \
  findings.message("  " #Name "=" + text(options.Name) + "  (" #Type ") " + Help);
#include "wavesan/abi/options.def"
#undef WAVESAN_OPTION
}

void Tool::finish() {
  if (getpid() != Process)
    return; // a forked child has no drain thread, and its parent prints the summary
  std::lock_guard lock(EndMutex);
  if (Ended)
    return;
  Ended = true;
  Active.store(false, std::memory_order_release);
  if (!drain.waitIdle(0, kEndLimit))
    findings.unfinished(drain.pending());
  findings.finish();
}

void Tool::unload() {
  if (getpid() != Process)
    return;
  finish();
  std::lock_guard lock(EndMutex);
  if (Unloaded)
    return;
  Unloaded = true;
  drain.stop();
  removeLoaderInterceptors(*Table->core_, api.core);
  removeQueueInterceptors(*Table->core_, api.core);
}

} // namespace wavesan::hsa
