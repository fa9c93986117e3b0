// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One report, several formats: text for people, warnings for builds, JSON lines and SARIF 2.1.0 for tools. All get the same events in the
// same order.
#ifndef WAVESAN_WAITCHECK_REPORT_H
#define WAVESAN_WAITCHECK_REPORT_H

#include "Checker.h"
#include "InputReader.h"

#include <memory>

namespace llvm {
class raw_ostream;
}

namespace wavesan::waitcheck {

struct Summary {
  uint64_t objects = 0, hazards = 0, proven = 0, auditNotes = 0;
  CheckCounts counts;
  Inputs const *inputs = nullptr; ///< problems and skips
  uint64_t failedObjects = 0;
  bool complete() const { return failedObjects == 0 && counts.incompleteFunctions == 0 && (!inputs || inputs->problems.empty()); }
  /// 0 clean, 1 hazards, 2 no hazards, but not everything could be analysed.
  int exitCode() const { return hazards ? 1 : complete() ? 0 : 2; }
};

class ReportSink {
public:
  virtual ~ReportSink() = default;
  virtual void object(const std::string &name, const CheckResult &result) = 0;
  /// An input, or an object in it, that could not be analysed.
  virtual void problem(const std::string &name, const std::string &message) = 0;
  virtual void finish(const Summary &summary) = 0;
};

std::unique_ptr<ReportSink> makeTextSink(llvm::raw_ostream &out);
std::unique_ptr<ReportSink> makeJsonSink(llvm::raw_ostream &out);
std::unique_ptr<ReportSink> makeSarifSink(llvm::raw_ostream &out);
/// Says nothing where there is nothing to warn of.
std::unique_ptr<ReportSink> makeCompilerSink(llvm::raw_ostream &out, bool asErrors);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_REPORT_H
