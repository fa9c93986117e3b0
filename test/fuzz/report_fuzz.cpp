// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes as a JSON report for `wavesan report`; what is accepted must survive a round trip and every output format.
#include "fuzz_target.h"

#include "wavesan/report/document_reader.h"
#include "wavesan/report/merge.h"
#include "wavesan/report/text_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace wavesan;
  std::string error;
  auto document = report::parseDocument({reinterpret_cast<const char *>(data), size}, error);
  if (!document) {
    fuzz::requireOneLine(error);
    return 0;
  }
  const std::string text = report::jsonText(*document);
  auto again = report::parseDocument(text, error);
  fuzz::require(again.has_value(), error.c_str());
  fuzz::require(report::jsonText(*again) == text, "a report changes when it is read and written");
  report::TextOptions options;
  options.sourceExcerpt = false; // no files named by the input
  report::sarifText(*document);
  report::junitText(*document);
  const report::Document merged = report::mergeDocuments({*document, *again});
  fuzz::require(merged.races.size() <= document->races.size(), "a merge with itself has more races");
  for (const report::Race &race : merged.races)
    fuzz::require(report::raceText(race, options).find('\x1b') == std::string::npos, "an escape in the text");
  report::groupedText(merged.races, options);
  report::summaryText(merged.summary, options);
  return 0;
}
