// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_line.h"

#include "flag_errors.h"
#include "message.h"
#include "number_flag.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace wavesan::driver {

ReplayLine readReplayLine(const std::vector<std::string> &words) {
  ReplayLine line;
  ReplayRequest &request = line.request;
  CLI::App app{"Runs recorded dispatches again and says whether they show their races.", "wavesan replay"};
  app.footer(
      "Exit status: 0 if every capsule showed its races, 1 if one did not, 2 if one is broken or cannot be run.\n"
      "A capsule holds code, which is executed: docs/capsule.md.");
  std::string device = "auto";
  uint64_t seed = 0;
  app.add_option("CAPSULE", request.paths, "a capsule that `wavesan run --capsule=DIR` wrote, or a directory of them")
      ->required();
  app.add_option("--device", device, "auto: the GPU if there is one, else the CPU agent; gpu; cpu")
      ->check(CLI::IsMember({"auto", "gpu", "cpu"}));
  CLI::Option *seedFlag =
      addNumber(app, "--seed", seed, "CPU agent: seed of the wave scheduler; else the recorded one");
  app.add_flag("--minimise,--minimize", request.minimise,
               "also write NAME.min.capsule, with as few workgroups and as little memory as still show the races");
  app.add_option("--trials", request.trials, "--minimise: most executions (200)");
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp &) {
    std::cout << app.help();
    line.done = true;
    return line;
  } catch (const CLI::ParseError &e) {
    line.done = true;
    line.status = fail("replay: " + flagError(app, e, words));
    return line;
  }
  if (seedFlag->count())
    request.seed = seed;
  request.device = device == "gpu"   ? RunRequest::Device::Gpu
                   : device == "cpu" ? RunRequest::Device::Cpu
                                     : RunRequest::Device::Auto;
  return line;
}

} // namespace wavesan::driver
