// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports as text for people.
#ifndef WAVESAN_REPORT_TEXT_SINK_H
#define WAVESAN_REPORT_TEXT_SINK_H

#include "wavesan/report/sink.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace wavesan::report {

struct TextOptions {
  bool sourceExcerpt = true; ///< print the source lines of the accesses where the files can be read
  bool summary = true;       ///< print the last line ("checked N accesses ..."); losses are printed in any case
  bool color = false;        ///< mark the important words with terminal colours
  std::string directory;     ///< paths below it are printed relative to it; empty: as the compiler recorded them
  size_t fullReports = 20;   ///< races printed in full; further ones get one line each, by cause
};

/// Receives a whole report or a group of lines in one call, newline included. Returns one line on failure, else
/// nothing.
using TextWriter = std::function<std::string(std::string_view)>;

/// Prints races as they come, in full up to options.fullReports and kMaxFullPerCause of one cause; what is beyond that
/// is listed by cause in front of the summary.
class TextSink : public Sink {
public:
  static constexpr size_t kMaxFullPerCause = 5;

  TextSink(TextWriter writer, TextOptions options);
  void onRace(const Race &race) override;
  void onConfirmation(size_t race, const Confirmation &confirmation) override;
  void onWaitHazard(const WaitHazard &hazard) override;
  void onMessage(std::string_view line) override;
  std::string onSummary(const Summary &summary) override;

private:
  void write(std::string_view text);

  TextWriter Write;
  TextOptions Options;
  std::vector<Race> Races;
  std::map<std::string, size_t> FullOfCause; ///< causeKey -> races printed in full
  size_t Full = 0;
  std::string Failure; ///< of the first write that failed
};

/// `file` relative to `directory` when it lies below it.
std::string relativePath(const std::string &file, const std::string &directory);
/// The report of one race, as TextSink prints it.
std::string raceText(const Race &race, const TextOptions &options);
/// The report of one missing wait.
std::string waitHazardText(const WaitHazard &hazard, const TextOptions &options);
/// One line for each cause, worst first, under a line with the totals: "3 races of 2 causes, worst first:". Empty
/// without races.
std::string causesText(const std::vector<Race> &races, const TextOptions &options);
/// A whole report for people: the worst causes in full (options.fullReports of them, further races of theirs in one
/// line each), then the others in one line each. Without the summary.
std::string groupedText(const std::vector<Race> &races, const TextOptions &options);
/// What was not checked and what was lost, one line each without prefix: all lines of a summary but the last.
std::vector<std::string> summaryRemarks(const Summary &summary);
/// "checked N accesses in K kernels: R races", and with check_waits ", H wait hazards in C code objects".
std::string checkedText(const Summary &summary);
/// All lines of a summary; the last one is always "wavesan: " and checkedText() unless
/// options.summary is false.
std::string summaryText(const Summary &summary, const TextOptions &options);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_TEXT_SINK_H
