// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_line.h"

#include "device_flag.h"
#include "flag_parsing.h"
#include "number_flag.h"

#include <CLI/CLI.hpp>

namespace wavesan::driver {

ReplayLine readReplayLine(const std::vector<std::string> &words) {
  ReplayLine line;
  ReplayRequest &request = line.request;
  CLI::App app{"Runs recorded dispatches again and says whether they show their races.", "wavesan replay"};
  app.footer(
      "Exit status: 0 if every capsule showed its races, 1 if one did not, 2 if one is broken or cannot be run.\n"
      "A capsule holds code, which is executed: docs/capsule.md.");
  uint64_t seed = 0;
  app.add_option("CAPSULE", request.paths, "a capsule that `wavesan run --capsule=DIR` wrote, or a directory of them")
      ->required();
  const DeviceFlag device(app);
  CLI::Option *seedFlag =
      addNumber(app, "--seed", seed, "CPU agent: seed of the wave scheduler; else the recorded one");
  app.add_flag("--minimise,--minimize", request.minimise,
               "also write NAME.min.capsule, with as few workgroups and as little memory as still show the races");
  app.add_option("--trials", request.trials, "--minimise: most executions (200)");
  if (const std::optional<int> status = parseFlags(app, words)) {
    line.done = true;
    line.status = *status;
    return line;
  }
  if (seedFlag->count())
    request.seed = seed;
  request.device = device.device();
  return line;
}

} // namespace wavesan::driver
