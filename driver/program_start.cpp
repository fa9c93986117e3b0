// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starting the user's program.
#include "program_start.h"

#include "checks.h"
#include "gpu_probe.h"
#include "message.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace wavesan::driver {

std::string findProgram(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return name;
  const char *path = std::getenv("PATH");
  std::string list = path ? path : "/usr/local/bin:/usr/bin:/bin";
  for (size_t begin = 0; begin <= list.size();) {
    size_t end = std::min(list.find(':', begin), list.size());
    std::string file = (end == begin ? "." : list.substr(begin, end - begin)) + "/" + name;
    if (access(file.c_str(), X_OK) == 0)
      return file;
    begin = end + 1;
  }
  return {};
}

std::optional<bool> chooseCpu(RunRequest::Device device) {
  if (device == RunRequest::Device::Cpu)
    return true;
  const Check gpu = checkGpu(Machine::current());
  if (gpu.state == Check::State::Ok)
    return false;
  const std::string why = gpu.isProblem() ? gpu.text : "no usable AMD GPU (" + whyNoGpu() + ")";
  if (device == RunRequest::Device::Gpu) {
    fail(why);
    return std::nullopt;
  }
  say(why + "; running on the CPU agent");
  return true;
}

int couldNotStart(const std::string &program, int why) {
  // ENOENT for a file that exists: its interpreter or loader is missing.
  bool missing = why == ENOENT || why == ENOTDIR;
  return fail("cannot run " + program + ": " + std::strerror(why), missing ? kExitNotFound : kExitNotExecutable);
}

std::optional<abi::Options> checkedOptions(const std::string &fromFlags) {
  abi::OptionErrors inVariable, inFlags;
  abi::Options options = abi::optionsFromEnvironment(inVariable);
  abi::parseOptions(options, fromFlags, inFlags);
  const bool variable = !inVariable.empty();
  const abi::OptionErrors &errors = variable ? inVariable : inFlags;
  if (errors.empty())
    return options;
  fail((variable ? std::string(abi::kOptionsVariable) + ": " : "") +
       (errors.names.empty() ? errors.values : errors.names)[0] + " (all options: wavesan help options)");
  return std::nullopt;
}

} // namespace wavesan::driver
