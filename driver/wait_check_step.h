// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `wavesan cc` does behind the compiler: the machine code of what it has written is searched for missing waits.
#ifndef WAVESAN_DRIVER_WAIT_CHECK_STEP_H
#define WAVESAN_DRIVER_WAIT_CHECK_STEP_H

#include "compile_line.h"
#include "layout.h"
#include "toolchain.h"

#include <optional>
#include <string>
#include <vector>

namespace wavesan::driver {

enum class WaitCheck { Off, Warn, Error };

/// "off", "warn", "error"; nothing otherwise.
std::optional<WaitCheck> parseWaitCheck(const std::string &word);

/// What to do: `chosen` on the command line, else WAVESAN_WAIT_CHECK, else a warning. On failure `error` is one line.
WaitCheck chooseWaitCheck(const Machine &machine, const std::string &chosen, std::string &error);

/// The files with device code that the compiler writes for this line; none if it writes no machine code. Looks at no file.
std::vector<std::string> deviceCodeOutputs(const CompileLine &line);

/// Checks those of the files that exist as regular files. Findings go to standard error. Returns the exit status of the whole command: 0,
/// or 1 for hazards that are errors; the files are removed then, as a compiler would.
int checkWaitsOf(const std::vector<std::string> &files, const Layout &layout, WaitCheck mode);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_WAIT_CHECK_STEP_H
