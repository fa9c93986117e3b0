// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report_line.h"

#include "flag_parsing.h"
#include "number_flag.h"

#include "wavesan/report/race.h"

#include <CLI/CLI.hpp>


namespace wavesan::driver {

namespace {

std::vector<std::string> classNames() {
  std::vector<std::string> names;
  for (uint32_t c = uint32_t(abi::RaceClass::Race); c <= uint32_t(abi::RaceClass::WaveOrder); ++c)
    names.push_back(report::className(abi::RaceClass(c)));
  return names;
}

} // namespace

ReportLine readReportLine(const std::vector<std::string> &words) {
  ReportLine line;
  ReportRequest &request = line.request;
  CLI::App app{"Merges, filters and converts JSON reports (option json_path of `wavesan run`). A race that several "
               "processes or\n"
               "runs reported becomes one.",
               "wavesan report"};
  app.footer(
      "Exit status: 0 when no race is left, 66 (--exitcode) when there are, 2 when a file cannot be read or written.");
  std::string format = "text";
  bool noExcerpt = false;
  app.add_option("FILE", request.files, "JSON reports; - is standard input")->required();
  app.add_option("--format", format, "text, json, sarif or junit")
      ->check(CLI::IsMember({"text", "json", "sarif", "junit"}));
  app.add_option("-o,--output", request.output, "file to write; standard output otherwise");
  app.add_option("--kernel", request.kernels, "only races in kernels that match this glob (may be repeated)")
      ->allow_extra_args(false);
  app.add_option("--file", request.sources,
                 "only races with an access in files that match this glob: a whole path or what follows a slash in it")
      ->allow_extra_args(false);
  app.add_option("--kind", request.kinds, "only races of this class (may be repeated)")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(classNames()));
  addNumber(app, "--min-count", request.minCount, "only races that were seen at least so often, all files together");
  app.add_option("--suppressions", request.suppressions, "file of suppressions, applied to what the filters leave");
  addNumber(app, "--full", request.full, "text: causes that are printed in full, the others get one line each");
  app.add_option("--color", request.color, "text: auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("--no-excerpt", noExcerpt, "text: no lines of source");
  app.add_option("--exitcode", request.exitcode, "exit status when races are left")->check(CLI::Range(0, 255));

  if (const std::optional<int> status = parseFlags(app, words)) {
    line.done = true;
    line.status = *status;
    return line;
  }
  request.excerpt = !noExcerpt;
  request.format = format == "json"    ? ReportRequest::Format::Json
                   : format == "sarif" ? ReportRequest::Format::Sarif
                   : format == "junit" ? ReportRequest::Format::Junit
                                       : ReportRequest::Format::Text;
  return line;
}

} // namespace wavesan::driver
