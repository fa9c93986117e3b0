// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the command speaks: one line on stderr, with the product's name in front.
#ifndef WAVESAN_DRIVER_MESSAGE_H
#define WAVESAN_DRIVER_MESSAGE_H

#include <cstdio>
#include <string>

namespace wavesan::driver {

/// Exit statuses of the command itself, beside those of the compiler or program that it runs.
enum ExitStatus : int {
  kExitUsage = 2,           ///< the command line or the installation is wrong; nothing was run
  kExitNothingRecorded = 67, ///< `wavesan record`, where the program would have ended with 0
  kExitNotExecutable = 126, ///< as a shell says it
  kExitNotFound = 127,
};

inline void say(const std::string &line) { std::fprintf(stderr, "wavesan: %s\n", line.c_str()); }

/// Says what is wrong and returns the exit status for it.
inline int fail(const std::string &line, int status = kExitUsage) {
  say("error: " + line);
  return status;
}

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_MESSAGE_H
