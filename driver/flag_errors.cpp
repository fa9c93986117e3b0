// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "flag_errors.h"

#include "wavesan/abi/options.h"

#include <algorithm>

namespace wavesan::driver {

std::string flagError(const CLI::App &app, const CLI::ParseError &error, const std::vector<std::string> &words) {
  std::vector<std::string> known;
  for (const CLI::Option *option : app.get_options()) {
    for (const std::string &name : option->get_lnames())
      known.push_back("--" + name);
    for (const std::string &name : option->get_snames())
      known.push_back("-" + name);
  }
  for (const std::string &word : words) {
    if (word == "--")
      break;
    const std::string flag = word.substr(0, word.find('='));
    if (flag.size() < 2 || flag[0] != '-' || known.empty())
      continue;
    auto is = [&](const std::string &name) {
      return name == flag || (name.size() == 2 && flag[1] != '-' && flag.compare(0, 2, name) == 0); // -oVALUE
    };
    if (std::any_of(known.begin(), known.end(), is))
      continue;
    auto nearest = std::min_element(known.begin(), known.end(), [&](const std::string &a, const std::string &b) {
      return abi::detail::editDistance(flag, a) < abi::detail::editDistance(flag, b);
    });
    return "unknown option '" + flag + "'; did you mean '" + *nearest + "'?";
  }
  return error.what();
}

} // namespace wavesan::driver
