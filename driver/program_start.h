// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `wavesan run` and `wavesan trace` have in common: finding the program and choosing where it runs.
#ifndef WAVESAN_DRIVER_PROGRAM_START_H
#define WAVESAN_DRIVER_PROGRAM_START_H

#include "commands.h"

#include "wavesan/abi/options.h"

#include <optional>

namespace wavesan::driver {

/// The file that execvp would run; empty if there is none.
std::string findProgram(const std::string &name);

/// True: use the CPU agent. Nothing (after one line): a GPU was demanded and there is none.
std::optional<bool> chooseCpu(RunRequest::Device device);

/// Says that `program` could not be started because of errno value `why`. Returns the exit status of a shell.
int couldNotStart(const std::string &program, int why);

/// Options as the program will see them; nothing (after one line) when one of them is wrong.
std::optional<abi::Options> checkedOptions(const std::string &fromFlags);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_PROGRAM_START_H
