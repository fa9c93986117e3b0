// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The environment of the program: everything that WaveSan changes about it, in one pure function.
#ifndef WAVESAN_DRIVER_ENVIRONMENT_H
#define WAVESAN_DRIVER_ENVIRONMENT_H

#include "layout.h"

#include <string>
#include <vector>

namespace wavesan::driver {

struct EnvironmentRequest {
  bool cpuAgent = false;     ///< put the CPU agent in front of the installed HSA runtime
  bool preloadAgent = false; ///< also by LD_PRELOAD, for programs whose DT_RPATH beats LD_LIBRARY_PATH
  bool raceCheck = true;     ///< load the HSA tool
  bool preloadHip = false;   ///< preload the HIP interposer
  std::string options;       ///< appended to WAVESAN_OPTIONS; later settings win
  int statusFd = -1;
};

/// `base` with the changes applied, as "NAME=value" strings: LD_LIBRARY_PATH, LD_PRELOAD, HSA_TOOLS_LIB,
/// WAVESAN_OPTIONS and the status page's descriptor. Existing values are kept and extended.
std::vector<std::string> childEnvironment(const std::vector<std::string> &base, const Layout &layout,
                                          const EnvironmentRequest &request);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_ENVIRONMENT_H
