// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports for machines: everything found in one process as one document, written to a file at the end.
#ifndef WAVESAN_REPORT_DOCUMENT_H
#define WAVESAN_REPORT_DOCUMENT_H

#include "wavesan/report/sink.h"

#include <string>
#include <vector>

namespace wavesan::report {

struct Document {
  std::vector<Race> races; ///< those that were reported, in the order of their reports
  std::vector<WaitHazard> waitHazards;
  std::vector<std::string> messages;
  Summary summary;
  std::string directory;  ///< files below it are named relative to it where the format knows such a thing
  uint64_t processes = 1; ///< processes that this document speaks of; more than 1 only in merged reports
};

// The formats. All results are UTF-8 and end with a newline; bytes of names that are no UTF-8 are replaced.
std::string jsonText(const Document &document);  ///< docs/report-schema.md
std::string sarifText(const Document &document); ///< SARIF 2.1.0
std::string junitText(const Document &document); ///< JUnit XML

/// Replaces the file `path` at once, so that no reader sees half of it; what is not a regular file (a pipe,
/// /dev/stderr) is written to. Returns one line on failure (the old file, if any, is unchanged then), else nothing.
std::string writeDocument(const std::string &path, std::string_view text);

/// Removes what an earlier process left at `path`: should this one end too early, nobody takes the old report for the
/// new one. Leaves everything but regular files alone.
void removeStaleDocument(const std::string &path);

class DocumentSink : public Sink {
public:
  /// `option`: the name of the option that asked for the file, for error lines. `path`: %p stands for the process id.
  DocumentSink(std::string option, const std::string &path, std::string directory,
               std::string (*format)(const Document &));
  void onRace(const Race &race) override { Contents.races.push_back(race); }
  void onConfirmation(size_t race, const Confirmation &confirmation) override {
    Contents.races.at(race).confirmation = confirmation;
  }
  void onWaitHazard(const WaitHazard &hazard) override { Contents.waitHazards.push_back(hazard); }
  void onMessage(std::string_view line) override { Contents.messages.emplace_back(line); }
  /// Writes the file. Called again, it replaces the file by one that holds everything so far.
  std::string onSummary(const Summary &summary) override;

private:
  const std::string Option, Path;
  std::string (*const Format)(const Document &);
  Document Contents;
};

} // namespace wavesan::report

#endif // WAVESAN_REPORT_DOCUMENT_H
