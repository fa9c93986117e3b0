// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options: declaration and parsing, generated from options.def. Host only.
#ifndef WAVESAN_ABI_OPTIONS_H
#define WAVESAN_ABI_OPTIONS_H

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::abi {

namespace option_types {
using string = std::string;
using uint64 = uint64_t;
} // namespace option_types

inline constexpr char kOptionsVariable[] = "WAVESAN_OPTIONS";

struct Options {
#define WAVESAN_OPTION(Type, Name, Default, Help)                                                                      \
  using Name##_type = decltype([] {                                                                                   \
    using namespace option_types;                                                                                     \
    return Type{};                                                                                                    \
  }());                                                                                                               \
  Name##_type Name = Default;
#include "wavesan/abi/options.def"
#undef WAVESAN_OPTION
};

struct OptionInfo {
  const char *name, *type, *defaultText, *help;
};
inline constexpr OptionInfo kOptionInfos[] = {
#define WAVESAN_OPTION(Type, Name, Default, Help) {#Name, #Type, #Default, Help},
#include "wavesan/abi/options.def"
#undef WAVESAN_OPTION
};

namespace detail {
inline bool parseOption(std::string_view text, std::string &out) {
  out = text;
  return true;
}
inline bool parseOption(std::string_view text, bool &out) {
  if (text == "1" || text == "true" || text == "yes" || text == "on")
    return out = true;
  out = false;
  return text == "0" || text == "false" || text == "no" || text == "off";
}
template <class Int> bool parseOption(std::string_view text, Int &out) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    text.remove_prefix(2);
    base = 16;
  }
  auto r = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return r.ec == std::errc() && r.ptr == text.data() + text.size();
}
inline size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t next = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j];
      row[j] = next;
    }
  }
  return row[b.size()];
}
} // namespace detail

namespace detail {
/// For error messages, which are one line.
inline std::string quotedText(std::string_view text) {
  constexpr size_t kMaxShown = 80;
  std::string out = "'" + std::string(text.substr(0, kMaxShown)) + (text.size() > kMaxShown ? "...'" : "'");
  for (char &c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return out;
}
} // namespace detail

/// Name of the known option nearest to `name`.
inline std::string nearestOption(std::string_view name) {
  name = name.substr(0, 64); // no option is that long
  const OptionInfo *best = &kOptionInfos[0];
  for (const OptionInfo &o : kOptionInfos)
    if (detail::editDistance(name, o.name) < detail::editDistance(name, best->name))
      best = &o;
  return best->name;
}

/// Sets one option. Returns an empty string, or one line that says what is wrong (`options` unchanged then).
inline std::string setOption(Options &options, std::string_view name, std::string_view value) {
#define WAVESAN_OPTION(Type, Name, Default, Help)                                                                      \
  if (name == #Name) {                                                                                                \
    Options::Name##_type parsed{};                                                                                    \
    if (!detail::parseOption(value, parsed))                                                                          \
      return "option " #Name ": " + detail::quotedText(value) + " is not a " #Type;                                    \
    options.Name = std::move(parsed);                                                                                 \
    return {};                                                                                                        \
  }
#include "wavesan/abi/options.def"
#undef WAVESAN_OPTION
  return "unknown option " + detail::quotedText(name) + "; did you mean '" + nearestOption(name) + "'?";
}

/// Parses "name=value:name=value" (':' or space or ',' between; a bare name of a bool means true; quote a value
/// that holds a separator: log_path='a:b'). Errors are appended to `errors`, one line each; the good rest is taken.
inline void parseOptions(Options &options, std::string_view text, std::vector<std::string> &errors) {
  size_t i = 0;
  auto separator = [](char c) { return c == ':' || c == ' ' || c == ',' || c == '\n' || c == '\t'; };
  while (i < text.size()) {
    if (separator(text[i])) {
      ++i;
      continue;
    }
    size_t nameEnd = i;
    while (nameEnd < text.size() && text[nameEnd] != '=' && !separator(text[nameEnd]))
      ++nameEnd;
    std::string_view name = text.substr(i, nameEnd - i);
    std::string value = "1";
    i = nameEnd;
    if (i < text.size() && text[i] == '=') {
      ++i;
      if (i < text.size() && (text[i] == '\'' || text[i] == '"')) {
        size_t close = text.find(text[i], i + 1);
        if (close == std::string_view::npos)
          close = text.size();
        value = text.substr(i + 1, close - i - 1);
        i = std::min(close + 1, text.size());
      } else {
        size_t end = i;
        while (end < text.size() && !separator(text[end]))
          ++end;
        value = text.substr(i, end - i);
        i = end;
      }
    }
    if (std::string error = setOption(options, name, value); !error.empty())
      errors.push_back(std::move(error));
  }
}

/// The only place of WaveSan's libraries that reads options from the environment.
inline Options optionsFromEnvironment(std::vector<std::string> &errors) {
  Options options;
  if (const char *text = std::getenv(kOptionsVariable))
    parseOptions(options, text, errors);
  return options;
}

} // namespace wavesan::abi

#endif // WAVESAN_ABI_OPTIONS_H
