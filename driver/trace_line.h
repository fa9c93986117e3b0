// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of `wavesan trace`.
#ifndef WAVESAN_DRIVER_TRACE_LINE_H
#define WAVESAN_DRIVER_TRACE_LINE_H

#include "commands.h"

namespace wavesan::driver {

struct TraceLine {
  TraceRequest request;
  bool done = false; ///< help was printed, or an error: end with `status`
  int status = 0;
};

/// Reads the words behind `wavesan trace`, as readRunLine does.
TraceLine readTraceLine(const std::vector<std::string> &words);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_TRACE_LINE_H
