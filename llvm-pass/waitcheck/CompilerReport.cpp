// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line per hazard, as a compiler words its warnings: for `wavesan cc`, editors and build logs. Nothing to say: nothing is printed.
#include "Report.h"

#include "llvm/Support/raw_ostream.h"

namespace wavesan::waitcheck {
namespace {

class CompilerSink final : public ReportSink {
public:
  CompilerSink(llvm::raw_ostream &out, bool asErrors) : out(out), severity(asErrors ? "error: " : "warning: ") {}

  void object(const std::string &name, const CheckResult &result) override {
    for (const Diagnostic &d : result.diagnostics) {
      position(name, d.consumer);
      out << severity << codeTitle(d.code);
      if (!d.registers.empty())
        out << ": " << d.registers;
      out << " in '" << d.function << "' (" << result.target << ", " << confidenceName(d.confidence) << ") [" << codeName(d.code) << "]\n";
      if (d.producer.present) {
        position(name, d.producer);
        out << "note: produced by '" << d.producer.text << "'";
        if (d.counter.empty())
          out << "; " << d.sufficientWait << " wait states are needed behind it";
        else if (d.emittedWait >= 0)
          out << "; " << d.counter << " is waited down to " << d.emittedWait << ", " << d.sufficientWait << " or less is needed";
        else
          out << "; " << d.counter << " is not waited for, " << d.sufficientWait << " or less is needed";
        out << "\n";
      }
    }
    incomplete += result.notAnalysed.size();
    if (first.empty() && !result.notAnalysed.empty())
      first = name + ": " + result.notAnalysed.front();
  }

  void problem(const std::string &name, const std::string &message) override {
    ++incomplete;
    if (first.empty())
      first = name + ": " + message;
  }

  void finish(const Summary &s) override {
    if (s.counts.dropped)
      out << "note: " << s.counts.dropped << " further hazards not shown\n";
    if (incomplete == 0)
      return;
    out << "note: waits not fully checked: " << first;
    if (incomplete > 1)
      out << " (and " << incomplete - 1 << " more)";
    out << "\n";
  }

private:
  /// Without a line table, the place in the machine code.
  void position(const std::string &name, const Place &p) {
    if (!p.file.empty()) {
      out << p.file << ":" << p.line << ":";
      if (p.column)
        out << p.column << ":";
    } else {
      out << name << ":";
      if (p.present)
        out << "+0x" << llvm::Twine::utohexstr(p.offset) << ":";
    }
    out << " ";
  }

  llvm::raw_ostream &out;
  const char *const severity;
  uint64_t incomplete = 0;
  std::string first;
};

} // namespace

std::unique_ptr<ReportSink> makeCompilerSink(llvm::raw_ostream &out, bool asErrors) { return std::make_unique<CompilerSink>(out, asErrors); }

} // namespace wavesan::waitcheck
