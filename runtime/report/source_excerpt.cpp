// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/source_excerpt.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace wavesan::report {

namespace {
constexpr size_t kMaxFileBytes = 16u << 20;
constexpr size_t kMaxLineBytes = 4096; ///< of a line that is looked at
constexpr size_t kMaxWidth = 100;      ///< columns of source that are printed
constexpr unsigned kTabWidth = 8;

/// Reads line `line` (from 1) into `out`, at most kMaxLineBytes of it. Never blocks on a FIFO or device.
bool readLine(const std::string &file, uint32_t line, std::string &out) {
  int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return false;
  struct stat info;
  bool usable = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  std::vector<char> buffer(64 * 1024);
  size_t total = 0;
  uint32_t current = 1;
  bool found = false, done = false;
  while (usable && !done && total < kMaxFileBytes) {
    ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n <= 0)
      break;
    total += size_t(n);
    for (ssize_t i = 0; i < n && !done; ++i) {
      char c = buffer[size_t(i)];
      if (c == '\0') { // binary
        found = false;
        usable = false;
        break;
      }
      if (current == line) {
        found = true;
        if (c == '\n')
          done = true;
        else if (out.size() < kMaxLineBytes)
          out += c;
      } else if (c == '\n') {
        ++current;
      }
    }
  }
  close(fd);
  return found && usable;
}

bool isContinuationByte(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }
} // namespace

std::string sourceExcerpt(const std::string &file, uint32_t line, uint32_t column, unsigned indent) {
  std::string raw;
  if (file.empty() || line == 0 || !readLine(file, line, raw))
    return {};
  while (!raw.empty() && (raw.back() == '\r' || raw.back() == ' ' || raw.back() == '\t'))
    raw.pop_back();

  // Expand tabs; `starts` holds the byte offsets of the characters of `text`, so that a cut never splits one.
  std::string text;
  std::vector<size_t> starts;
  size_t caret = 0; // in characters
  bool caretKnown = false;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (column != 0 && i + 1 == column) {
      caret = starts.size();
      caretKnown = true;
    }
    unsigned char c = static_cast<unsigned char>(raw[i]);
    if (c == '\t') {
      do {
        starts.push_back(text.size());
        text += ' ';
      } while (starts.size() % kTabWidth != 0);
    } else {
      if (!isContinuationByte(raw[i]) || starts.empty())
        starts.push_back(text.size());
      text += c < 0x20 || c == 0x7f ? '?' : raw[i]; // no escape sequences into a terminal
    }
  }

  size_t first = 0, last = starts.size();
  if (last - first > kMaxWidth) {
    if (caretKnown && caret > kMaxWidth * 3 / 4)
      first = std::min(caret - kMaxWidth / 2, starts.size() - kMaxWidth);
    last = std::min(starts.size(), first + kMaxWidth);
  }
  auto byteAt = [&](size_t character) { return character < starts.size() ? starts[character] : text.size(); };
  std::string shown = text.substr(byteAt(first), byteAt(last) - byteAt(first));
  std::string front = first > 0 ? "..." : "", back = last < starts.size() ? "..." : "";

  std::string number = std::to_string(line);
  std::string pad(number.size() < 6 ? 6 - number.size() : 0, ' ');
  std::string out = std::string(indent, ' ') + pad + number + " | " + front + shown + back + "\n";
  if (caretKnown)
    out += std::string(indent + std::max<size_t>(6, number.size()), ' ') + " | " +
           std::string(front.size() + caret - first, ' ') + "^\n";
  return out;
}

} // namespace wavesan::report
