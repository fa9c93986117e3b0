// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JUnit XML as continuous-integration servers read it: a race is a failed test case, what was not checked a skipped
// one.
#include "wavesan/report/document.h"

#include "wavesan/report/suggestion.h"
#include "wavesan/report/text_sink.h"

#include <algorithm>

namespace wavesan::report {

namespace {

/// Length of the UTF-8 sequence at the front, 0 when there is none that XML 1.0 may hold.
size_t characterLength(std::string_view s) {
  auto byte = [&](size_t i) { return i < s.size() ? uint8_t(s[i]) : uint8_t(0); };
  auto tail = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const uint8_t c = byte(0);
  if (c < 0x80)
    return c >= 0x20 || c == '\t' || c == '\n' || c == '\r' ? 1 : 0;
  if (c >= 0xc2 && c <= 0xdf)
    return tail(1) ? 2 : 0;
  if (c >= 0xe0 && c <= 0xef) {
    uint32_t value = uint32_t(c & 15) << 12 | uint32_t(byte(1) & 63) << 6 | (byte(2) & 63);
    bool good = value >= 0x800 && !(value >= 0xd800 && value <= 0xdfff) && value < 0xfffe;
    return tail(1) && tail(2) && good ? 3 : 0;
  }
  if (c >= 0xf0 && c <= 0xf4) {
    uint32_t value =
        uint32_t(c & 7) << 18 | uint32_t(byte(1) & 63) << 12 | uint32_t(byte(2) & 63) << 6 | (byte(3) & 63);
    return tail(1) && tail(2) && tail(3) && value >= 0x10000 && value <= 0x10ffff ? 4 : 0;
  }
  return 0;
}

/// For contents and attribute values alike.
std::string escaped(std::string_view s) {
  std::string out;
  while (!s.empty()) {
    size_t length = characterLength(s);
    switch (s[0]) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      if (length == 0)
        out += '?';
      else
        out += s.substr(0, length);
    }
    s.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::string positionText(const Access &access, const std::string &directory) {
  if (access.frames.empty())
    return "?";
  const Frame &frame = access.frames[userFrame(access.frames)];
  return relativePath(frame.file, directory) + ":" + std::to_string(frame.line) + ":" + std::to_string(frame.column);
}

struct Cases {
  std::string xml;
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;

  void add(const std::string &classname, const std::string &name, const std::string &body) {
    ++tests;
    xml += "    <testcase classname=\"" + escaped(classname) + "\" name=\"" + escaped(name) + "\"" +
           (body.empty() ? "/>\n" : ">\n      " + body + "\n    </testcase>\n");
  }
};

} // namespace

std::string junitText(const Document &document) {
  Cases cases;
  TextOptions options;
  options.directory = document.directory;
  for (const Race &race : document.races) {
    const bool error = race.severity == Severity::Error; // the format knows nothing else: else a passed case with its text
    cases.failures += error;
    const std::string text = escaped(raceText(race, options));
    cases.add("wavesan." + (race.kernel.empty() ? std::string("unknown") : race.kernel),
              severityPrefix(race.severity) + className(race.raceClass) + " " +
                  positionText(race.current, document.directory) + " against " +
                  positionText(race.previous, document.directory),
              !error ? "<system-out>" + text + "</system-out>"
                     : "<failure type=\"" + className(race.raceClass) + "\" message=\"" + escaped(reasonText(race)) +
                            "\">" + text + "</failure>");
  }
  for (const WaitHazard &h : document.waitHazards) {
    ++cases.failures;
    cases.add("wavesan." + (h.kernel.empty() ? std::string("unknown") : h.kernel),
              h.code + " " +
                  (h.consumer.file.empty() ? h.consumer.instruction
                                           : relativePath(h.consumer.file, document.directory) + ":" +
                                                 std::to_string(h.consumer.line) + ":" + std::to_string(h.consumer.column)),
              "<failure type=\"" + h.code + "\" message=\"" + escaped(waitHeadText(h)) + "\">" +
                  escaped(waitHazardText(h, options)) + "</failure>");
  }
  const Summary &s = document.summary;
  if (s.racesNotPrinted != 0) { // no text of theirs, but they must not look like success
    ++cases.failures;
    cases.add("wavesan", "races that were not printed",
              "<failure type=\"race\" message=\"" + std::to_string(s.racesNotPrinted) +
                  " further races not printed (option max_reports)\"/>");
  }
  for (const std::string &line : summaryRemarks(s)) {
    ++cases.skipped;
    cases.add("wavesan", line, "<skipped message=\"" + escaped(line) + "\"/>");
  }
  if (s.errors != 0) {
    ++cases.errors;
    cases.add("wavesan", "errors of WaveSan itself",
              "<error type=\"wavesan\" message=\"" + std::to_string(s.errors) + " (see system-err)\"/>");
  }
  if (s.checkedAccesses != 0)
    cases.add("wavesan", checkedText(s), "");
  std::string messages;
  for (const std::string &line : document.messages)
    messages += line + "\n";
  const std::string counts = " tests=\"" + std::to_string(cases.tests) + "\" failures=\"" +
                             std::to_string(cases.failures) + "\" errors=\"" + std::to_string(cases.errors) +
                             "\" skipped=\"" + std::to_string(cases.skipped) + "\"";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n  <testsuite name=\"wavesan\"" +
         counts + ">\n" + cases.xml +
         (messages.empty() ? "" : "    <system-err>" + escaped(messages) + "</system-err>\n") +
         "  </testsuite>\n</testsuites>\n";
}

} // namespace wavesan::report
