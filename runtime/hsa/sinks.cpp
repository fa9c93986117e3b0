// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sinks.h"

#include "wavesan/report/document.h"
#include "wavesan/report/output_file.h"
#include "wavesan/report/text_sink.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

namespace wavesan::hsa {

namespace {

std::string currentDirectory() {
  char buffer[4096];
  return getcwd(buffer, sizeof(buffer)) ? buffer : "";
}

/// What the option asks for; for auto as https://no-color.org describes it.
bool wantsColor(const std::string &option, const report::OutputFile &output) {
  if (option == "always" || option == "never")
    return option == "always";
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  return output.isTerminal() && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

/// The name of the file for this process. A path without %p belongs to the first process of the run; the others put
/// their id into the name, since the last one to end would otherwise take the file with everybody's races.
std::string processPath(const char *option, const std::string &path, const Status &status,
                        std::vector<std::string> &notes) {
  struct stat info;
  const bool special = stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  if (status.isFirstProcess() || special || report::expandProcessId(path) != path)
    return path;
  const size_t slash = path.rfind('/'), dot = path.rfind('.');
  const size_t base = slash == std::string::npos ? 0 : slash + 1;
  const size_t at = dot == std::string::npos || dot <= base ? path.size() : dot;
  std::string own = path.substr(0, at) + "." + std::to_string(getpid()) + path.substr(at);
  notes.push_back(std::string(option) + ": '" + path + "' belongs to another process of this run; this one writes '" +
                  own + "' (with %p in the path every process has a file of its own)");
  return own;
}

std::shared_ptr<report::Sink> documentSink(const char *option, const std::string &path, const std::string &directory,
                                           std::string (*format)(const report::Document &)) {
  using Key = std::pair<std::string, std::string>;
  static std::mutex mutex;
  // Never destroyed: the last summary may be written while static objects are being destroyed.
  static auto &sinks = *new std::map<Key, std::shared_ptr<report::Sink>>;
  std::lock_guard lock(mutex);
  std::shared_ptr<report::Sink> &sink = sinks[{option, path}];
  if (!sink)
    sink = std::make_shared<report::DocumentSink>(option, path, directory, format);
  return sink;
}

} // namespace

Sinks Sinks::make(const abi::Options &options, const Status &status, std::vector<std::string> &notes,
                  std::vector<std::string> &errors) {
  Sinks sinks;
  std::string error;
  auto output = std::make_shared<report::OutputFile>(options.log_path, error, status.sharedDescriptor());
  if (!error.empty())
    errors.push_back(error);
  report::TextOptions text;
  text.sourceExcerpt = options.source_excerpt;
  text.summary = options.summary;
  text.color = wantsColor(options.color, *output);
  text.fullReports = size_t(options.full_reports);
  text.directory = currentDirectory();
  sinks.text = std::make_unique<report::TextSink>([output](std::string_view s) { return output->write(s); }, text);
  auto add = [&](const char *option, const std::string &path, std::string (*format)(const report::Document &)) {
    if (!path.empty())
      sinks.documents.push_back(documentSink(option, processPath(option, path, status, notes), text.directory, format));
  };
  add("json_path", options.json_path, report::jsonText);
  add("sarif_path", options.sarif_path, report::sarifText);
  add("junit_path", options.junit_path, report::junitText);
  return sinks;
}

} // namespace wavesan::hsa
