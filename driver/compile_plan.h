// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command that `wavesan cc` runs: the user's arguments in their order, with what is needed in front.
#ifndef WAVESAN_DRIVER_COMPILE_PLAN_H
#define WAVESAN_DRIVER_COMPILE_PLAN_H

#include "layout.h"
#include "toolchain.h"

#include <string>
#include <vector>

namespace wavesan::driver {

struct CompilePlan {
  std::vector<std::string> command; ///< argv
  std::vector<std::string> notes;   ///< lines for stderr
  std::string error;                ///< one line; the command must not be run then
};

/// Pure: looks at nothing but its arguments.
CompilePlan planCompile(const CompileLine &line, const Compiler &compiler, const HipInstall &hip, const Layout &layout);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_COMPILE_PLAN_H
