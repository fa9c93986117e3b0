// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan cc`: read the command line, find the toolchain, complete the command, become the compiler.
#include "commands.h"
#include "compile_plan.h"
#include "message.h"
#include "shell_quote.h"

#include "build_info.h"

#include <cerrno>
#include <cstring>
#include <iostream>

#include <unistd.h>

namespace wavesan::driver {

static constexpr char kUsage[] =
    "Usage: wavesan cc [--show] [clang++|hipcc] ARGS...\n\n"
    "Compiles a HIP program as `clang++ ARGS...` or `hipcc ARGS...` would, with WaveSan's plugin added, and with what "
    "a new\n"
    "clang needs to work with an old HIP. The arguments are passed on as they are, in their order.\n\n"
    "  --show           print the command instead of running it\n"
    "  WAVESAN_CXX      environment: the clang++ to use (its LLVM must match the plugin's)\n\n"
    "  wavesan cc --offload-arch=gfx90a -O2 app.hip -o app\n";

static int become(const std::vector<std::string> &command) {
  std::vector<char *> argv;
  for (const std::string &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  std::cout.flush();
  execvp(argv[0], argv.data());
  return fail("cannot run " + command[0] + ": " + std::strerror(errno),
              errno == ENOENT ? kExitNotFound : kExitNotExecutable);
}

int compileCommand(const std::vector<std::string> &words) {
  std::vector<std::string> args = words;
  bool show = !args.empty() && args[0] == "--show";
  if (show)
    args.erase(args.begin());
  if (args.empty() || (args.size() == 1 && (args[0] == "--help" || args[0] == "-h"))) {
    (args.empty() ? std::cerr : std::cout) << kUsage;
    return args.empty() ? kExitUsage : 0;
  }

  std::string error, note;
  CompileLine line = readCompileLine(args, error);
  if (!error.empty())
    return fail(error);
  Layout layout = layoutOfThisExecutable(error);
  if (!error.empty())
    return fail(error);

  Machine machine = Machine::current();
  PluginTarget target{kLlvmMajor, kLlvmMinor, kLlvmBinDir};
  std::optional<Compiler> compiler = findCompiler(machine, target, line.compiler, note, error);
  if (!compiler)
    return fail(error);
  HipInstall hip = findHip(machine, line, compiler->version);
  if (line.hasHipSource() && hip.versionRoot.empty() && !line.noGpuInc)
    return fail(
        "no HIP installation found (looked for include/hip below /opt/rocm and /usr); install libamdhip64-dev or "
        "give --rocm-path=DIR");

  CompilePlan plan = planCompile(line, *compiler, hip, layout);
  if (!plan.error.empty())
    return fail(plan.error);
  if (!note.empty())
    say("note: " + note);
  for (const std::string &n : plan.notes)
    say("note: " + n);
  if (show) {
    std::cout << shellQuote(plan.command) << '\n';
    return 0;
  }
  if (line.hasHipSource() && line.phase != CompilePhase::Preprocess)
    if (std::string missing = missingPart(layout.plugin, "the compiler plugin"); !missing.empty())
      return fail(missing);
  return become(plan.command);
}

} // namespace wavesan::driver
