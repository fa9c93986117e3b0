// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quoting for POSIX shells, so that a printed command can be pasted.
#ifndef WAVESAN_DRIVER_SHELL_QUOTE_H
#define WAVESAN_DRIVER_SHELL_QUOTE_H

#include <string>
#include <string_view>
#include <vector>

namespace wavesan::driver {

inline std::string shellQuote(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos)
    return std::string(word);
  std::string out = "'";
  for (char c : word) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

inline std::string shellQuote(const std::vector<std::string> &words) {
  std::string out;
  for (const std::string &w : words)
    out += (out.empty() ? "" : " ") + shellQuote(w);
  return out;
}

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_SHELL_QUOTE_H
