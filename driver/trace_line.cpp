// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading the command line of `wavesan trace`.
#include "trace_line.h"

#include "device_flag.h"
#include "flag_parsing.h"
#include "message.h"
#include "run_line.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace wavesan::driver {

namespace {

/// Empty, or what is wrong.
std::string readFormats(const std::string &text, TraceRequest &request) {
  request.csv = request.json = request.perfetto = request.graph = request.dot = false;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string format = text.substr(begin, end - begin);
    if (format == "csv")
      request.csv = true;
    else if (format == "json")
      request.json = true;
    else if (format == "perfetto")
      request.perfetto = true;
    else if (format == "graph")
      request.graph = true;
    else if (format == "dot")
      request.dot = true;
    else
      return "--format: '" + format + "' is none of csv, json, perfetto, graph, dot";
    begin = end + 1;
  }
  return {};
}

} // namespace

TraceLine readTraceLine(const std::vector<std::string> &words) {
  TraceLine line;
  TraceRequest &request = line.request;
  auto wrong = [&](const std::string &what) {
    line.done = true;
    line.status = fail("trace: " + what);
    return line;
  };
  CLI::App app{"Runs a program and writes a trace of its HIP calls, with the event that each wait depends on.",
               "wavesan trace"};
  app.formatter(std::make_shared<ProgramUsage>("trace"));
  app.footer("Files: PREFIX.csv, PREFIX.json, PREFIX.pftrace (ui.perfetto.dev opens it), PREFIX.graph.json,\n"
             "PREFIX.dot; docs/trace.md.\n"
             "Exit status: the program's own.");
  std::string gpu, formats = "csv";
  int columns = 10;
  std::vector<std::string> options;
  app.add_option("--format", formats, "csv, json, perfetto, graph, dot, or several of them with commas between (csv)");
  app.add_option("-o,--output", request.prefix, "prefix of the files' names, %p: process id (wavesan-trace)");
  app.add_option("--columns", columns, "csv: 10, or 7 for readers of rocprofv3's older form")
      ->check(CLI::IsMember({10, 7}));
  const DeviceFlag device(app);
  app.add_option("--gpu", gpu, "CPU agent: the GPU it presents itself as, e.g. gfx90a");
  app.add_option("--options", options, "name=value:name=value, as in WAVESAN_OPTIONS")->allow_extra_args(false);
  app.add_flag("--preload", request.preloadAgent,
               "CPU agent: also by LD_PRELOAD, for programs whose libraries carry an RPATH");

  const size_t own =
      countOwnWords(words, {"--format", "-o", "--output", "--columns", "--device", "--gpu", "--options"});
  if (const auto status = parseFlags(app, {words.begin(), words.begin() + std::ptrdiff_t(own)})) {
    line.done = true;
    line.status = *status;
    return line;
  }
  if (std::string error = readFormats(formats, request); !error.empty())
    return wrong(error);
  if (request.prefix.empty() || request.prefix.back() == '/')
    return wrong("-o: '" + request.prefix + "' names no file");
  const size_t program = own + (own < words.size() && words[own] == "--");
  request.command.assign(words.begin() + std::ptrdiff_t(program), words.end());
  if (request.command.empty())
    return wrong("no program given (wavesan trace [OPTIONS] [--] PROGRAM ARGS...)");
  request.device = device.device();
  request.options = "trace_columns=" + std::to_string(columns);
  for (const std::string &o : options)
    request.options += ":" + o;
  if (!gpu.empty())
    request.options += ":gpu=" + quoteValue(gpu);
  return line;
}

} // namespace wavesan::driver
