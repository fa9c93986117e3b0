// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "flag_parsing.h"

#include "message.h"

#include "wavesan/abi/nearest_name.h"

#include <algorithm>
#include <iostream>

namespace wavesan::driver {

/// The first of `words` in the form of a flag that `app` does not know, and the nearest one that it knows; CLI11's own
/// message otherwise.
static std::string flagError(const CLI::App &app, const CLI::ParseError &error, const std::vector<std::string> &words) {
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

std::optional<int> parseFlags(CLI::App &app, const std::vector<std::string> &words) {
  std::vector<std::string> reversed(words.rbegin(), words.rend()); // as CLI11 takes them
  try {
    app.parse(reversed);
    return std::nullopt;
  } catch (const CLI::CallForHelp &) {
    std::cout << app.help();
    return 0;
  } catch (const CLI::ParseError &e) {
    const std::string &name = app.get_name();
    return fail(name.substr(name.find(' ') + 1) + ": " + flagError(app, e, words));
  }
}

} // namespace wavesan::driver
