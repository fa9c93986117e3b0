// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options: declaration and parsing, generated from options.def. Host only.
#ifndef WAVESAN_ABI_OPTIONS_H
#define WAVESAN_ABI_OPTIONS_H

#include "wavesan/abi/nearest_name.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace wavesan::abi {

namespace option_types {
using string = std::string;
using uint8 = uint8_t;
using uint32 = uint32_t;
using uint64 = uint64_t;
} // namespace option_types

inline constexpr char kOptionsVariable[] = "WAVESAN_OPTIONS";

struct Options {
#define WAVESAN_OPTION(Type, Name, Default, Help)                                                                      \
  using Name##_type = decltype([] {                                                                                    \
    using namespace option_types;                                                                                      \
    return Type{};                                                                                                     \
  }());                                                                                                                \
  Name##_type Name = Default;
#include "wavesan/abi/options.def"
#undef WAVESAN_OPTION
};

namespace detail {
inline constexpr char kGpuChoices[] = "auto"
#define WAVESAN_AGENT_TARGET(Name, ElfMachine, WaveSize, Features, ChipId) "|" Name
#include "wavesan/abi/agent_targets.def"
    ;
} // namespace detail
#define WAVESAN_GPU_CHOICES ::wavesan::abi::detail::kGpuChoices

struct OptionInfo {
  const char *name, *type, *defaultText, *help;
  const char *values; ///< of a choice: "a|b"; null for others
};
inline constexpr OptionInfo kOptionInfos[] = {
#define WAVESAN_OPTION(Type, Name, Default, Help) {#Name, #Type, #Default, Help, nullptr},
#define WAVESAN_CHOICE(Name, Default, Values, Help) {#Name, "string", #Default, Help, Values},
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
/// Decimal, or hexadecimal behind 0x. False for anything else, a sign included, and for what `out` cannot hold.
template <class Unsigned> bool parseOption(std::string_view text, Unsigned &out) {
  static_assert(std::is_unsigned_v<Unsigned>);
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    text.remove_prefix(2);
    base = 16;
  }
  auto r = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return r.ec == std::errc() && r.ptr == text.data() + text.size();
}
/// Ends "'x' is not ...".
template <class T> std::string whatFits() {
  if constexpr (std::is_same_v<T, bool>)
    return "0 or 1 (false, true, no, yes, off, on)";
  else
    return "a number from 0 to " + std::to_string(std::numeric_limits<T>::max());
}

/// "a, b" of "a|b".
inline std::string listOfChoices(std::string_view values) {
  std::string list;
  for (char c : values)
    list += c == '|' ? std::string(", ") : std::string(1, c);
  return list;
}
inline bool isChoice(std::string_view values, std::string_view value) {
  while (!values.empty()) {
    const size_t end = std::min(values.find('|'), values.size());
    if (values.substr(0, end) == value)
      return true;
    values.remove_prefix(std::min(end + 1, values.size()));
  }
  return false;
}

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

/// What was wrong with a text of options, one line each.
struct OptionErrors {
  std::vector<std::string> names;  ///< unknown ones, which another version of WaveSan may know
  std::vector<std::string> values; ///< of known options, which keep the value they had

  bool empty() const { return names.empty() && values.empty(); }
};

/// Sets one option, or appends one line to `errors`; `options` is unchanged then.
inline void setOption(Options &options, std::string_view name, std::string_view value, OptionErrors &errors) {
#define WAVESAN_OPTION(Type, Name, Default, Help)                                                                      \
  if (name == #Name) {                                                                                                 \
    Options::Name##_type parsed{};                                                                                     \
    if (detail::parseOption(value, parsed))                                                                            \
      options.Name = std::move(parsed);                                                                                \
    else if constexpr (!std::is_same_v<Options::Name##_type, std::string>) /* every text is a string */                \
      errors.values.push_back("option " #Name ": " + detail::quotedText(value) + " is not " +                          \
                              detail::whatFits<Options::Name##_type>());                                               \
    return;                                                                                                            \
  }
#define WAVESAN_CHOICE(Name, Default, Values, Help)                                                                    \
  if (name == #Name) {                                                                                                 \
    if (detail::isChoice(Values, value))                                                                               \
      options.Name = value;                                                                                            \
    else                                                                                                               \
      errors.values.push_back("option " #Name ": " + detail::quotedText(value) + " is none of " +                      \
                              detail::listOfChoices(Values));                                                          \
    return;                                                                                                            \
  }
#include "wavesan/abi/options.def"
#undef WAVESAN_OPTION
  std::vector<std::string> known;
  for (const OptionInfo &o : kOptionInfos)
    known.emplace_back(o.name);
  errors.names.push_back("unknown option " + detail::quotedText(name) + didYouMean(name, known));
}

/// Parses "name=value:name=value" (':' or space or ',' between; a bare name of a bool means true; quote a value
/// that holds a separator: log_path='a:b'). What is wrong goes to `errors`; the good rest is taken.
inline void parseOptions(Options &options, std::string_view text, OptionErrors &errors) {
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
    setOption(options, name, value, errors);
  }
}

/// The only place of WaveSan's libraries that reads options from the environment.
inline Options optionsFromEnvironment(OptionErrors &errors) {
  Options options;
  if (const char *text = std::getenv(kOptionsVariable))
    parseOptions(options, text, errors);
  return options;
}

/// One line for each option with the value it has in `options`, and a line in front: what help=1 prints.
inline std::vector<std::string> optionLines(const Options &options) {
  auto text = [](const auto &value) -> std::string {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::string>)
      return value;
    else if constexpr (std::is_same_v<T, bool>)
      return value ? "true" : "false";
    else
      return std::to_string(value);
  };
  std::vector<std::string> lines{std::string("options, set by ") + kOptionsVariable + "=name=value:name=value"};
#define WAVESAN_OPTION(Type, Name, Default, Help)                                                                      \
  lines.push_back("  " #Name "=" + text(options.Name) + "  (" #Type ") " Help);
#include "wavesan/abi/options.def"
#undef WAVESAN_OPTION
  return lines;
}

} // namespace wavesan::abi

#endif // WAVESAN_ABI_OPTIONS_H
