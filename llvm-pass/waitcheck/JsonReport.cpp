// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON lines: one object per line, told apart by "type": hazard, audit, gap, problem, summary.
#include "Report.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace wavesan::waitcheck {
namespace {

/// Names in damaged files may be no text.
std::string text(const std::string &s) { return llvm::json::isUTF8(s) ? s : llvm::json::fixUTF8(s); }

llvm::json::Value placeValue(const Place &p) {
  if (!p.present)
    return nullptr;
  llvm::json::Object o{{"offset", static_cast<int64_t>(p.offset)}, {"text", text(p.text)}};
  if (!p.file.empty()) {
    o["file"] = text(p.file);
    o["line"] = p.line;
    o["column"] = p.column;
  }
  return o;
}

class JsonSink final : public ReportSink {
public:
  explicit JsonSink(llvm::raw_ostream &out) : out(out) {}

  void object(const std::string &name, const CheckResult &result) override {
    for (const Diagnostic &d : result.diagnostics) {
      llvm::json::Array path;
      for (const Place &p : d.path)
        path.push_back(placeValue(p));
      llvm::json::Object o{{"type", "hazard"},
                           {"object", text(name)},
                           {"target", result.target},
                           {"code", codeName(d.code)},
                           {"title", codeTitle(d.code)},
                           {"confidence", confidenceName(d.confidence)},
                           {"function", text(d.function)},
                           {"kernel", d.isKernel},
                           {"registers", d.registers},
                           {"producer", placeValue(d.producer)},
                           {"consumer", placeValue(d.consumer)},
                           {"path", std::move(path)}};
      if (d.counter.empty()) {
        o["wait_states_needed"] = d.sufficientWait;
      } else {
        o["counter"] = d.counter;
        o["emitted_wait"] = d.emittedWait >= 0 ? llvm::json::Value(d.emittedWait) : llvm::json::Value(nullptr);
        o["sufficient_wait"] = d.sufficientWait;
      }
      line(std::move(o));
    }
    for (const AuditNote &n : result.audit)
      line(llvm::json::Object{{"type", "audit"},
            {"object", text(name)},
            {"function", text(n.function)},
            {"wait", placeValue(n.wait)},
            {"counter", n.counter},
            {"emitted_wait", n.emitted},
            {"sufficient_wait", n.sufficient >= 0 ? llvm::json::Value(n.sufficient) : llvm::json::Value(nullptr)},
            {"memory_writes_pending", n.ordersMemory}});
    for (const std::string &n : result.notAnalysed)
      line(llvm::json::Object{{"type", "gap"}, {"object", text(name)}, {"text", text(n)}});
  }

  void problem(const std::string &name, const std::string &message) override {
    line(llvm::json::Object{{"type", "problem"}, {"object", text(name)}, {"text", text(message)}});
  }

  void finish(const Summary &s) override {
    line(llvm::json::Object{{"type", "summary"},
          {"objects", static_cast<int64_t>(s.objects)},
          {"kernels", static_cast<int64_t>(s.counts.kernels)},
          {"functions", static_cast<int64_t>(s.counts.functions)},
          {"instructions", static_cast<int64_t>(s.counts.instructions)},
          {"memory_operations", static_cast<int64_t>(s.counts.memoryOperations)},
          {"waits", static_cast<int64_t>(s.counts.waits)},
          {"hazards", static_cast<int64_t>(s.hazards)},
          {"proven", static_cast<int64_t>(s.proven)},
          {"not_shown", static_cast<int64_t>(s.counts.dropped + s.counts.belowConfidence)},
          {"infeasible", static_cast<int64_t>(s.counts.infeasible)},
          {"incomplete_functions", static_cast<int64_t>(s.counts.incompleteFunctions)},
          {"failed_inputs", static_cast<int64_t>(s.failedObjects + (s.inputs ? s.inputs->problems.size() : 0))},
          {"complete", s.complete()}});
  }

private:
  void line(llvm::json::Object o) { out << llvm::json::Value(std::move(o)) << "\n"; }
  llvm::raw_ostream &out;
};

} // namespace

std::unique_ptr<ReportSink> makeJsonSink(llvm::raw_ostream &out) { return std::make_unique<JsonSink>(out); }

} // namespace wavesan::waitcheck
