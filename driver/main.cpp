// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `wavesan` command.
#include "build_info.h"
#include "commands.h"
#include "message.h"
#include "record_line.h"
#include "replay_line.h"
#include "run_line.h"
#include "trace_line.h"

#include <cstdio>
#include <string_view>

using namespace wavesan::driver;

static constexpr char kHelp[] =
    "WaveSan finds data races in AMD GPU programs, on a GPU or, without one, on the CPU.\n\n"
    "  wavesan cc [--show] ARGS...            compile a HIP program: any clang++ or hipcc command line\n"
    "  wavesan c++ ARGS...                    the same as a compiler for build systems (also: wavesan-c++)\n"
    "  wavesan run [OPTIONS] [--] PROGRAM...  run it and report its races\n"
    "  wavesan replay [OPTIONS] CAPSULES...   run recorded dispatches again, show their races\n"
    "  wavesan trace [OPTIONS] [--] PROGRAM... run it and write a trace of its HIP calls\n"
    "  wavesan record [OPTIONS] [--] PROGRAM... run it and write a region's commands as a graph\n"
    "  wavesan check [OPTIONS] FILES...       find missing waits in machine code\n"
    "  wavesan report [OPTIONS] FILES...      merge, filter and convert JSON reports\n"
    "  wavesan doctor [--json] [ARGS...]      check that everything needed is installed\n"
    "  wavesan help options                   the settings of WAVESAN_OPTIONS\n"
    "  wavesan --version\n\n"
    "Example:\n"
    "  wavesan cc --offload-arch=gfx90a -O2 app.hip -o app\n"
    "  wavesan run -- ./app\n\n"
    "`wavesan cc --help` and `wavesan run --help` say more.\n";

static int printHelp() { return std::fputs(kHelp, stdout) < 0; }

static int printVersion() { return std::printf("wavesan %s (LLVM %s)\n", kVersion, kLlvmVersion) < 0; }

static int run(const std::vector<std::string> &words) {
  RunLine line = readRunLine(words);
  return line.done ? line.status : runCommand(line.request);
}

static int trace(const std::vector<std::string> &words) {
  TraceLine line = readTraceLine(words);
  return line.done ? line.status : traceCommand(line.request);
}

static int record(const std::vector<std::string> &words) {
  RunLine line = readRecordLine(words);
  return line.done ? line.status : runCommand(line.request);
}

static int replay(const std::vector<std::string> &words) {
  ReplayLine line = readReplayLine(words);
  return line.done ? line.status : replayCommand(line.request);
}

static int help(const std::vector<std::string> &words) {
  if (words.empty())
    return printHelp();
  if (words[0] == "options")
    return helpOptionsCommand();
  if (words[0] == "cc" || words[0] == "c++")
    return compileCommand({"--help"});
  if (words[0] == "run")
    return run({"--help"});
  if (words[0] == "trace")
    return trace({"--help"});
  if (words[0] == "record")
    return record({"--help"});
  if (words[0] == "replay")
    return replay({"--help"});
  if (words[0] == "check")
    return checkCommand({"--help"});
  if (words[0] == "report")
    return reportCommand({"--help"});
  if (words[0] == "doctor")
    return doctorCommand({"--help"});
  return fail("help: no such topic '" + words[0] + "' (cc, c++, run, replay, trace, record, check, report, doctor, options)");
}

int main(int argc, char **argv) {
  // A link of this name is a compiler: every word belongs to it.
  if (argc > 0 && std::string_view(argv[0]).substr(std::string_view(argv[0]).rfind('/') + 1) == "wavesan-c++")
    return cxxCommand({argv + 1, argv + argc});
  std::string command = argc > 1 ? argv[1] : "--help";
  std::vector<std::string> rest(argv + (argc > 1 ? 2 : 1), argv + argc);
  if (command == "cc")
    return compileCommand(rest);
  if (command == "c++")
    return cxxCommand(rest);
  if (command == "doctor")
    return doctorCommand(rest);
  if (command == "run")
    return run(rest);
  if (command == "trace")
    return trace(rest);
  if (command == "record")
    return record(rest);
  if (command == "replay")
    return replay(rest);
  if (command == "check")
    return checkCommand(rest);
  if (command == "report")
    return reportCommand(rest);
  if (command == "help")
    return help(rest);
  if (command == "--help" || command == "-h")
    return printHelp();
  if (command == "--version")
    return printVersion();
  return fail("no such command '" + command + "' (cc, c++, run, replay, trace, record, check, report, doctor, help)");
}
