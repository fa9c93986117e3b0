// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading the command line of `wavesan record`.
#include "record_line.h"

#include "device_flag.h"
#include "flag_parsing.h"
#include "message.h"

#include "wavesan/abi/options.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include <unistd.h>

namespace fs = std::filesystem;

namespace wavesan::driver {

RunLine readRecordLine(const std::vector<std::string> &words) {
  RunLine line;
  RunRequest &request = line.request;
  request.record = true;
  auto wrong = [&](const std::string &what) {
    line.done = true;
    line.status = fail("record: " + what);
    return line;
  };
  CLI::App app{
      "Runs a program and writes the commands of a region as a graph: kernels, copies, fills, and what orders\n"
      "them; nodes that touch the same bytes without an edge are marked.",
      "wavesan record"};
  app.formatter(std::make_shared<ProgramUsage>("record"));
  app.footer(
      "Files: PREFIX.json and PREFIX.dot; PREFIX.2.json, ... when the region is entered again, 10 times at most\n"
      "(--options=record_max=N);\n"
      "docs/graph.md.\n"
      "Exit status: as of wavesan run; 67 in place of 0 if nothing was recorded.");
  std::string region = "first", prefix = "wavesan-graph", gpu;
  std::vector<std::string> options;
  app.add_option("--region", region,
                 "NAME: between wavesan_region_begin(NAME) or roctxRangePush(NAME) and its end; first: the first one,\n"
                 "whatever its name; all: the whole program (first)");
  app.add_option("-o,--output", prefix, "prefix of the files' names, %p: process id (wavesan-graph)");
  const DeviceFlag device(app);
  app.add_option("--gpu", gpu, "CPU agent: the GPU it presents itself as, e.g. gfx90a");
  app.add_option("--options", options, "name=value:name=value, as in WAVESAN_OPTIONS")->allow_extra_args(false);
  app.add_flag("--preload", request.preloadAgent,
               "CPU agent: also by LD_PRELOAD, for programs whose libraries carry an RPATH");

  const size_t own = countOwnWords(words, {"--region", "-o", "--output", "--device", "--gpu", "--options"});
  if (const auto status = parseFlags(app, {words.begin(), words.begin() + std::ptrdiff_t(own)})) {
    line.done = true;
    line.status = *status;
    return line;
  }
  if (region.empty())
    return wrong("--region: a name, first or all");
  if (prefix.empty() || prefix.back() == '/')
    return wrong("-o: '" + prefix + "' names no file");
  const size_t program = own + (own < words.size() && words[own] == "--");
  request.command.assign(words.begin() + std::ptrdiff_t(program), words.end());
  if (request.command.empty())
    return wrong("no program given (wavesan record [OPTIONS] [--] PROGRAM ARGS...)");
  std::error_code ec; // absolute: the program may change its directory
  const fs::path files = fs::absolute(prefix, ec);
  for (const std::string &text : {files.string(), region})
    if (text.find('\'') != std::string::npos && text.find('"') != std::string::npos)
      return wrong("a name with both kinds of quotes is not supported: " + text);
  if (files.parent_path().string().find("%p") == std::string::npos &&
      access(files.parent_path().c_str(), W_OK | X_OK) != 0)
    return wrong("cannot write to '" + files.string() + ".*': " + files.parent_path().string() + ": " +
                 std::strerror(errno));
  request.device = device.device();
  // A program that nothing can be checked of can still be recorded.
  request.options =
      "incomplete_exitcode=0:record=" + quoteValue(files.string()) + ":record_region=" + quoteValue(region);
  for (const std::string &o : options)
    request.options += ":" + o;
  if (!gpu.empty())
    request.options += ":gpu=" + quoteValue(gpu);
  return line;
}

} // namespace wavesan::driver
