// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flags that take a number. CLI11 by itself wraps -1 around, takes the largest number for what is too large, and 010
// for eight.
#ifndef WAVESAN_DRIVER_NUMBER_FLAG_H
#define WAVESAN_DRIVER_NUMBER_FLAG_H

#include "wavesan/abi/options.h"

#include <CLI/CLI.hpp>

#include <string>

namespace wavesan::driver {

/// Adds a flag that sets `target` (which must outlive the parse) to a number as the options' parser reads it; anything
/// else is a CLI::ValidationError.
template <class Unsigned>
CLI::Option *addNumber(CLI::App &app, const std::string &name, Unsigned &target, const std::string &help) {
  auto set = [&target, name](const std::string &text) {
    if (!abi::detail::parseOption(text, target))
      throw CLI::ValidationError(name, abi::detail::quotedText(text) + " is not " + abi::detail::whatFits<Unsigned>());
  };
  return app.add_option_function<std::string>(name, set, help)->type_name("UINT");
}

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_NUMBER_FLAG_H
