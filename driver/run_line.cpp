// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading the command line of `wavesan run`.
#include "run_line.h"

#include "device_flag.h"
#include "flag_parsing.h"
#include "message.h"

#include "wavesan/abi/options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

namespace wavesan::driver {

size_t countOwnWords(const std::vector<std::string> &words, const std::vector<std::string> &withValue) {
  size_t n = 0;
  while (n < words.size() && words[n].size() > 1 && words[n][0] == '-' && words[n] != "--")
    n += std::find(withValue.begin(), withValue.end(), words[n]) != withValue.end() ? 2 : 1;
  return std::min(n, words.size());
}

std::string quoteValue(const std::string &value) {
  if (value.find_first_of(": ,\t\n") == std::string::npos)
    return value;
  const char quote = value.find('\'') == std::string::npos ? '\'' : '"';
  return quote + value + quote;
}

RunLine readRunLine(const std::vector<std::string> &words) {
  RunLine line;
  CLI::App app{"Runs a program compiled with `wavesan cc` and reports its races.", "wavesan run"};
  app.formatter(std::make_shared<ProgramUsage>("run"));
  app.footer(
      "Exit status: 66 if a race was reported (option exitcode), else the program's own; 67 in place of 0 if nothing\n"
      "was checked or results are missing (option incomplete_exitcode).\n"
      "All settings of -o: wavesan help options");
  std::optional<std::string> gpu, seed; // text: the options' parser judges them
  std::vector<std::string> options;
  const DeviceFlag device(app);
  app.add_option("--seed", seed, "CPU agent: seed of the wave scheduler");
  app.add_option("--gpu", gpu,
                 "CPU agent: the GPU it presents itself as, e.g. gfx90a; gfx90a,gfx1030 runs the program once\n"
                 "as each, with waves of 64 and of 32, and says which verdicts differ");
  app.add_option("-o,--options", options, "name=value:name=value, as in WAVESAN_OPTIONS")->allow_extra_args(false);
  app.add_flag("--preload", line.request.preloadAgent,
               "CPU agent: also by LD_PRELOAD, for programs whose libraries carry an RPATH");

  bool confirm = false;
  app.add_flag(
      "--confirm", confirm,
      "Run dispatches that race again with the accesses in both orders, and say whether that changes\n"
      "what they compute (docs/replay.md)");
  std::optional<std::string> capsule, capsuleKernels;
  bool capsuleAll = false;
  app.add_option("--capsule", capsule,
                 "write a capsule for each dispatch that reports a race into this directory; `wavesan replay DIR`\n"
                 "runs them again on any machine (docs/capsule.md)");
  app.add_option("--capsule-kernels", capsuleKernels, "only of these kernels: globs between semicolons");
  app.add_flag("--capsule-all", capsuleAll, "of dispatches without a race, too, and of launches of graphs");

  size_t own =
      countOwnWords(words, {"-o", "--options", "--device", "--seed", "--gpu", "--capsule", "--capsule-kernels"});
  if (const auto status = parseFlags(app, {words.begin(), words.begin() + std::ptrdiff_t(own)})) {
    line.done = true;
    line.status = *status;
    return line;
  }
  size_t program = own + (own < words.size() && words[own] == "--");
  line.request.command.assign(words.begin() + std::ptrdiff_t(program), words.end());
  if (line.request.command.empty()) {
    line.done = true;
    line.status = fail("run: no program given (wavesan run [OPTIONS] [--] PROGRAM ARGS...)");
    return line;
  }
  line.request.device = device.device();
  auto append = [&](const std::string &text) {
    line.request.options += (line.request.options.empty() ? "" : ":") + text;
  };
  for (const std::string &o : options)
    append(o);
  if (!capsule && (capsuleKernels || capsuleAll)) {
    line.done = true;
    line.status = fail("run: --capsule-kernels and --capsule-all need --capsule=DIR");
    return line;
  }
  if (confirm)
    append("confirm=1");
  if (capsule)
    append("capsule=" + quoteValue(std::filesystem::absolute(*capsule).string()));
  if (capsuleKernels)
    append("capsule_kernels=" + quoteValue(*capsuleKernels));
  if (capsuleAll)
    append("capsule_of=all");
  // Judged as a whole and before they become part of a text, in which a quote or a separator would mean something.
  abi::Options scratch;
  abi::OptionErrors errors;
  if (gpu && gpu->find(',') != std::string::npos) {
    std::string_view rest = *gpu;
    while (!rest.empty() && errors.empty()) {
      const std::string target(rest.substr(0, rest.find(',')));
      rest.remove_prefix(std::min(target.size() + 1, rest.size()));
      abi::setOption(scratch, "gpu", target, errors);
      if (target == "auto")
        errors.values.push_back("option gpu: a list names each GPU");
      std::vector<std::string> &targets = line.request.targets;
      if (std::find(targets.begin(), targets.end(), target) == targets.end())
        targets.push_back(target);
    }
    if (line.request.device == RunRequest::Device::Gpu && errors.empty())
      errors.values.push_back(
          "--gpu with several GPUs is for the CPU agent; --device=gpu runs on the one that is there");
    gpu.reset();
  }
  for (const auto &[name, value] : {std::pair("gpu", gpu), std::pair("seed", seed)})
    if (value) {
      abi::setOption(scratch, name, *value, errors);
      append(std::string(name) + "=" + *value);
    }
  if (!errors.empty()) {
    line.done = true;
    line.status = fail("run: " + errors.values[0]);
  }
  return line;
}

} // namespace wavesan::driver
