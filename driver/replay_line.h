// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading the command line of `wavesan replay`.
#ifndef WAVESAN_DRIVER_REPLAY_LINE_H
#define WAVESAN_DRIVER_REPLAY_LINE_H

#include "commands.h"

namespace wavesan::driver {

struct ReplayLine {
  ReplayRequest request;
  bool done = false; ///< nothing is left to do (help, a wrong line): end with `status`
  int status = 0;
};

/// `words` are the arguments behind "replay". Prints what is wrong.
ReplayLine readReplayLine(const std::vector<std::string> &words);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_REPLAY_LINE_H
