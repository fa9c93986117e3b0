// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `wavesan` command.
#include "build_info.h"
#include "commands.h"
#include "message.h"
#include "run_line.h"

#include <cstdio>

using namespace wavesan::driver;

static constexpr char kHelp[] =
    "WaveSan finds data races in AMD GPU programs, on a GPU or, without one, on the CPU.\n\n"
    "  wavesan cc [--show] ARGS...            compile a HIP program: any clang++ or hipcc command line\n"
    "  wavesan run [OPTIONS] [--] PROGRAM...  run it and report its races\n"
    "  wavesan check [OPTIONS] FILES...       find missing waits in machine code\n"
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

static int help(const std::vector<std::string> &words) {
  if (words.empty())
    return printHelp();
  if (words[0] == "options")
    return helpOptionsCommand();
  if (words[0] == "cc")
    return compileCommand({"--help"});
  if (words[0] == "run")
    return run({"--help"});
  if (words[0] == "check")
    return checkCommand({"--help"});
  return fail("help: no such topic '" + words[0] + "' (cc, run, check, options)");
}

int main(int argc, char **argv) {
  std::string command = argc > 1 ? argv[1] : "--help";
  std::vector<std::string> rest(argv + (argc > 1 ? 2 : 1), argv + argc);
  if (command == "cc")
    return compileCommand(rest);
  if (command == "run")
    return run(rest);
  if (command == "check")
    return checkCommand(rest);
  if (command == "help")
    return help(rest);
  if (command == "--help" || command == "-h")
    return printHelp();
  if (command == "--version")
    return printVersion();
  return fail("no such command '" + command + "' (cc, run, check, help)");
}
