// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running one program to its end, with signals passed through.
#ifndef WAVESAN_DRIVER_CHILD_PROCESS_H
#define WAVESAN_DRIVER_CHILD_PROCESS_H

#include <string>
#include <vector>

namespace wavesan::driver {

/// How a program ended.
struct ChildEnd {
  int startError = 0; ///< errno of fork or exec when it could not be started, else 0
  int exitStatus = 0; ///< its exit status, where it exited
  int signal = 0;     ///< the signal that ended it, or 0
};

/// Starts `command` (searched in PATH as execvp does) with `environment` and waits for its end. While it runs, SIGTERM,
/// SIGHUP, SIGUSR1, SIGUSR2, SIGALRM and SIGWINCH sent to this process are passed on to it, SIGINT and SIGQUIT too when
/// another process sent them: from the terminal the program has got them already. Must be called from a single-threaded
/// process; the signals stay blocked afterwards.
ChildEnd runChild(const std::vector<std::string> &command, const std::vector<std::string> &environment);

/// Ends this process by `signal`, without a core file of its own. Returns only if that is impossible.
void endBySignal(int signal);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_CHILD_PROCESS_H
