// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Report.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace wavesan::waitcheck {
namespace {

class TextSink final : public ReportSink {
public:
  explicit TextSink(llvm::raw_ostream &out) : out(out) {}

  void object(const std::string &name, const CheckResult &result) override {
    for (const Diagnostic &d : result.diagnostics)
      diagnostic(name, result.target, d);
    for (const AuditNote &n : result.audit) {
      out << name << ": note: " << n.function << " +" << llvm::format_hex(n.wait.offset, 6) << ": " << n.wait.text << ": " << n.counter
          << " " << n.emitted;
      if (n.sufficient >= 0)
        out << " is stronger than needed: " << n.sufficient << " would do";
      else if (n.ordersMemory)
        out << " guards no register; memory writes are pending, so it may order memory";
      else
        out << " guards nothing";
      source(n.wait);
      out << "\n";
    }
    for (const std::string &n : result.notAnalysed)
      out << name << ": not fully analysed: " << n << "\n";
  }

  void problem(const std::string &name, const std::string &message) override { out << name << ": not analysed: " << message << "\n"; }

  void finish(const Summary &s) override {
    if (s.counts.infeasible)
      out << "wavesan check: " << s.counts.infeasible << " hazards on paths that contradict a scalar comparison were left out\n";
    if (s.counts.dropped)
      out << "wavesan check: " << s.counts.dropped << " further hazards not shown (--max-per-kernel)\n";
    if (s.counts.belowConfidence)
      out << "wavesan check: " << s.counts.belowConfidence << " possible hazards not shown (--confidence=proven)\n";
    if (s.inputs && s.inputs->withoutGpuCode)
      out << "wavesan check: " << s.inputs->withoutGpuCode << " files without GPU code\n";
    if (s.inputs && s.inputs->skippedByArch)
      out << "wavesan check: " << s.inputs->skippedByArch << " objects of other targets not checked (--arch)\n";
    out << "wavesan check: " << s.objects << " objects, " << s.counts.kernels << " kernels, " << s.counts.functions << " functions, "
        << s.counts.instructions << " instructions, " << s.counts.memoryOperations << " memory operations, " << s.counts.waits
        << " waits: " << s.hazards << " hazards (" << s.proven << " proven)";
    if (!s.complete())
      out << ", NOT EVERYTHING ANALYSED (" << s.failedObjects + (s.inputs ? s.inputs->problems.size() : 0) << " inputs, "
          << s.counts.incompleteFunctions << " functions)";
    out << "\n";
  }

private:
  void source(const Place &p) {
    if (!p.file.empty())
      out << "   [" << p.file << ":" << p.line << (p.column ? ":" + std::to_string(p.column) : "") << "]";
  }

  void place(const char *label, const Place &p) {
    out << "  " << label;
    if (!p.present) {
      out << "(before the function was called)\n";
      return;
    }
    out << "+" << llvm::format_hex(p.offset, 6) << "  " << p.text;
    source(p);
    out << "\n";
  }

  void diagnostic(const std::string &name, const std::string &target, const Diagnostic &d) {
    out << name << ": " << codeName(d.code) << " [" << confidenceName(d.confidence) << "] " << codeTitle(d.code);
    if (!d.registers.empty())
      out << ": " << d.registers;
    out << "\n  " << (d.isKernel ? "kernel:   " : "function: ") << d.function << " (" << target << ")\n";
    place("producer: ", d.producer);
    place("consumer: ", d.consumer);
    if (d.counter.empty()) {
      out << "  distance: " << d.sufficientWait << " wait states needed (this is no counter hazard: no wait helps, s_nop does)\n";
    } else {
      out << "  counter:  " << d.counter << ": ";
      if (d.emittedWait >= 0)
        out << "waited for " << d.emittedWait << ", ";
      else
        out << "no wait in between, ";
      out << d.sufficientWait << " or less is needed\n";
    }
    for (const Place &p : d.path)
      place("via:      ", p);
  }

  llvm::raw_ostream &out;
};

} // namespace

std::unique_ptr<ReportSink> makeTextSink(llvm::raw_ostream &out) { return std::make_unique<TextSink>(out); }

} // namespace wavesan::waitcheck
