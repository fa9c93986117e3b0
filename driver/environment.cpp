// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Building the program's environment.
#include "environment.h"

#include "wavesan/abi/options.h"
#include "wavesan/abi/status_page.h"

#include <algorithm>
#include <functional>

namespace wavesan::driver {

namespace {

/// Replaces NAME's value by change(old value, or empty).
void change(std::vector<std::string> &env, const std::string &name,
            const std::function<std::string(std::string)> &value) {
  const std::string start = name + "=";
  auto it = std::find_if(env.begin(), env.end(), [&](const std::string &e) { return e.starts_with(start); });
  std::string replacement = start + value(it == env.end() ? "" : it->substr(start.size()));
  if (it == env.end())
    env.push_back(std::move(replacement));
  else
    *it = std::move(replacement);
}

std::string join(const std::string &a, const char *separator, const std::string &b) {
  return a.empty() ? b : b.empty() ? a : a + separator + b;
}

} // namespace

std::vector<std::string> childEnvironment(const std::vector<std::string> &base, const Layout &layout,
                                          const EnvironmentRequest &request) {
  std::vector<std::string> env = base;
  if (request.cpuAgent)
    change(env, "LD_LIBRARY_PATH", [&](const std::string &old) { return join(layout.agentDir.string(), ":", old); });
  if (request.cpuAgent && request.preloadAgent)
    change(env, "LD_PRELOAD", [&](const std::string &old) { return join(layout.agent().string(), ":", old); });
  if (request.preloadHip) // the last one: a tool already there stays the outer one
    change(env, "LD_PRELOAD", [&](const std::string &old) { return join(old, ":", layout.hipTool().string()); });
  // ROCr takes a list separated by blanks and loads it in order; a tool already there stays the outer one.
  if (request.raceCheck)
    change(env, "HSA_TOOLS_LIB", [&](const std::string &old) { return join(old, " ", layout.hsaTool.string()); });
  if (!request.options.empty())
    change(env, abi::kOptionsVariable, [&](const std::string &old) { return join(old, ":", request.options); });
  if (request.statusFd >= 0)
    change(env, abi::kStatusFdVariable, [&](const std::string &) { return std::to_string(request.statusFd); });
  return env;
}

} // namespace wavesan::driver
