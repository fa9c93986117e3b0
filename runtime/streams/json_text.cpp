// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "json_text.h"

#include <algorithm>
#include <cstdio>

namespace wavesan::streams {

namespace {

/// Bytes of the UTF-8 character that the text begins with; 0: it is none.
size_t characterBytes(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto tail = [&](size_t n) {
    for (size_t i = 1; i < n; ++i)
      if ((byte(i) & 0xc0) != 0x80)
        return false;
    return true;
  };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80)
    return 1;
  if (first >= 0xc2 && first < 0xe0)
    return tail(2) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) // neither too long nor a surrogate
    return tail(3) && !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second >= 0xa0) ? 3 : 0;
  if (first >= 0xf0 && first < 0xf5)
    return tail(4) && !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second >= 0x90) ? 4 : 0;
  return 0;
}

} // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t bytes = characterBytes(text);
    const char c = text[0];
    if (bytes == 0) {
      out += "\xef\xbf\xbd"; // U+FFFD
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", unsigned(c));
      out += escape;
    } else {
      if (c == '"' || c == '\\')
        out += '\\';
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return out + '"';
}

} // namespace wavesan::streams
