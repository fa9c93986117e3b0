// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan check`: executes lib/wavesan/wavesan-check, so that this command does not link LLVM.
#include "checks.h"
#include "commands.h"
#include "layout.h"
#include "message.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace wavesan::driver {

int checkCommand(const std::vector<std::string> &words) {
  std::string error;
  const Layout layout = layoutOfThisExecutable(error);
  if (!error.empty())
    return fail(error);
  if (const Check check = checkWaitChecker(layout); check.isProblem())
    return fail(check.text);
  const std::string program = layout.waitChecker().string();
  std::vector<char *> arguments{const_cast<char *>(program.c_str())};
  for (const std::string &w : words)
    arguments.push_back(const_cast<char *>(w.c_str()));
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  return fail("cannot execute " + program + ": " + std::strerror(errno));
}

} // namespace wavesan::driver
