// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan report`: read, merge, filter, suppress, write.
#include "commands.h"
#include "message.h"
#include "report_line.h"

#include "wavesan/report/document_reader.h"
#include "wavesan/report/merge.h"
#include "wavesan/report/name_filter.h"
#include "wavesan/report/suppressions.h"
#include "wavesan/report/text_sink.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <unistd.h>

namespace wavesan::driver {

namespace {

/// All files, merged; nothing after one line for each file that cannot be used.
std::optional<report::Document> readAll(const std::vector<std::string> &files) {
  std::vector<report::Document> documents;
  bool good = true;
  for (const std::string &file : files) {
    std::string error;
    std::optional<report::Document> document = report::readDocument(file, error);
    if (document)
      documents.push_back(std::move(*document));
    else
      fail("report: " + error);
    good = good && document;
  }
  if (!good)
    return std::nullopt;
  return report::mergeDocuments(std::move(documents));
}

bool touchesFile(const report::Race &race, const std::vector<std::string> &globs) {
  for (const report::Access *side : {&race.current, &race.previous})
    for (const report::Frame &frame : side->frames)
      for (const std::string &glob : globs)
        if (report::matchesFile(glob, frame.file))
          return true;
  return false;
}

bool isWanted(const report::Race &race, const ReportRequest &request) {
  auto inKernel = [&](const std::string &glob) { return report::matchesKernel(glob, race.kernel, race.kernelMangled); };
  return race.occurrences >= request.minCount &&
         (request.kernels.empty() || std::any_of(request.kernels.begin(), request.kernels.end(), inKernel)) &&
         (request.kinds.empty() || std::find(request.kinds.begin(), request.kinds.end(),
                                             report::className(race.raceClass)) != request.kinds.end()) &&
         (request.sources.empty() || touchesFile(race, request.sources));
}

/// False after one line for each bad line of the file.
bool applySuppressions(report::Document &document, const std::string &file) {
  if (file.empty())
    return true;
  std::vector<std::string> errors;
  const report::Suppressions suppressions = report::Suppressions::read(file, errors);
  for (const std::string &error : errors)
    fail("report: " + error);
  if (!errors.empty())
    return false;
  report::suppressRaces(document, suppressions);
  return true;
}

std::string currentDirectory() {
  char buffer[4096];
  return getcwd(buffer, sizeof(buffer)) ? buffer : "";
}

bool wantsColor(const ReportRequest &request) {
  if (request.color != "auto")
    return request.color == "always";
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  return request.output.empty() && isatty(STDOUT_FILENO) && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

std::string textOf(const report::Document &document, const ReportRequest &request) {
  switch (request.format) {
  case ReportRequest::Format::Json:
    return report::jsonText(document);
  case ReportRequest::Format::Sarif:
    return report::sarifText(document);
  case ReportRequest::Format::Junit:
    return report::junitText(document);
  case ReportRequest::Format::Text:
    break;
  }
  report::TextOptions options;
  options.color = wantsColor(request);
  options.directory = document.directory;
  options.sourceExcerpt = request.excerpt;
  options.fullReports = size_t(request.full);
  std::string text = report::groupedText(document.races, options);
  for (const report::WaitHazard &hazard : document.waitHazards)
    text += report::waitHazardText(hazard, options);
  for (const std::string &message : document.messages)
    text += "wavesan: " + message + "\n";
  return text + report::summaryText(document.summary, options);
}

/// Empty or one line.
std::string writeOut(const std::string &output, const std::string &text) {
  if (!output.empty())
    return report::writeDocument(output, text);
  std::signal(SIGPIPE, SIG_IGN);
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = write(STDOUT_FILENO, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return std::string("cannot write to standard output: ") + std::strerror(errno);
    at += size_t(n);
  }
  return {};
}

} // namespace

int reportCommand(const std::vector<std::string> &words) {
  const ReportLine line = readReportLine(words);
  if (line.done)
    return line.status;
  const ReportRequest &request = line.request;
  std::optional<report::Document> document = readAll(request.files);
  if (!document)
    return kExitUsage;
  document->directory = currentDirectory();
  const size_t left = report::filterRaces(*document, [&](const report::Race &race) { return isWanted(race, request); });
  if (left != 0)
    document->messages.push_back(std::to_string(left) + (left == 1 ? " race" : " races") +
                                 " left out by the filters of `wavesan report`");
  if (!applySuppressions(*document, request.suppressions))
    return kExitUsage;
  if (std::string error = writeOut(request.output, textOf(*document, request)); !error.empty())
    return fail("report: " + error);
  // What was only counted cannot be filtered: it remains.
  const report::Summary &s = document->summary;
  return report::countOf(document->races, report::Severity::Error) == 0 && s.waitHazards == 0 && s.racesNotPrinted == 0 && s.racesDropped == 0 ? 0 : request.exitcode;
}

} // namespace wavesan::driver
