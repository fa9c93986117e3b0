// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "flag_errors.h"

#include "wavesan/abi/nearest_name.h"

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
    const std::string hint = abi::didYouMean(flag, known);
    return "unknown option '" + flag + "'" + (hint.empty() ? " (" + app.get_name() + " --help)" : hint);
  }
  return error.what();
}

} // namespace wavesan::driver
