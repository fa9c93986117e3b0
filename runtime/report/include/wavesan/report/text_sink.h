// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports as text for people.
#ifndef WAVESAN_REPORT_TEXT_SINK_H
#define WAVESAN_REPORT_TEXT_SINK_H

#include "wavesan/report/sink.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::report {

struct TextOptions {
  bool sourceExcerpt = true; ///< print the source lines of the accesses where the files can be read
  bool summary = true;       ///< print the last line ("checked N accesses ..."); losses are printed in any case
  bool color = false;        ///< mark the important words with terminal colours
  std::string directory;     ///< paths below it are printed relative to it; empty: as the compiler recorded them
};

/// Receives a whole report or a group of lines in one call, newline included.
using TextWriter = std::function<void(std::string_view)>;

class TextSink : public Sink {
public:
  TextSink(TextWriter writer, TextOptions options);
  void onRace(const Race &race) override;
  void onMessage(std::string_view line) override;
  std::string onSummary(const Summary &summary) override;

private:
  TextWriter Write;
  TextOptions Options;
};

/// `file` relative to `directory` when it lies below it.
std::string relativePath(const std::string &file, const std::string &directory);
/// The report of one race, as TextSink prints it.
std::string raceText(const Race &race, const TextOptions &options);
/// What was not checked and what was lost, one line each without prefix: all lines of a summary but the last.
std::vector<std::string> summaryRemarks(const Summary &summary);
/// "checked N accesses in K kernels: R races"
std::string checkedText(const Summary &summary);
/// All lines of a summary; the last one is always "wavesan: checked N accesses in K kernels: R races" unless
/// options.summary is false.
std::string summaryText(const Summary &summary, const TextOptions &options);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_TEXT_SINK_H
