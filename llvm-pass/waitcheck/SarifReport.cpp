// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SARIF 2.1.0: one run, one rule per hazard code, the path as a code flow.
#include "Report.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace wavesan::waitcheck {
namespace {

using llvm::json::Array;
using llvm::json::Object;

std::string text(const std::string &s) { return llvm::json::isUTF8(s) ? s : llvm::json::fixUTF8(s); }

/// A path as URI: what a path may not hold there is percent-encoded.
std::string uri(const std::string &path) {
  std::string out = !path.empty() && path[0] == '/' ? "file://" : "";
  for (const unsigned char c : path)
    if (llvm::isAlnum(static_cast<char>(c)) || llvm::StringRef("/-._~+").contains(static_cast<char>(c)))
      out += static_cast<char>(c);
    else
      out += {'%', llvm::hexdigit(c >> 4), llvm::hexdigit(c & 15)};
  return out;
}

class SarifSink final : public ReportSink {
public:
  explicit SarifSink(llvm::raw_ostream &out) : out(out) {}

  void object(const std::string &name, const CheckResult &result) override {
    for (const Diagnostic &d : result.diagnostics) {
      std::string message = codeTitle(d.code);
      if (!d.registers.empty())
        message += ": " + d.registers;
      if (d.producer.present)
        message += "; produced by '" + d.producer.text + "'";
      if (!d.counter.empty())
        message += "; " + d.counter + " must be waited down to " + std::to_string(d.sufficientWait) +
                   (d.emittedWait >= 0 ? ", it is waited down to " + std::to_string(d.emittedWait) : ", it is not waited for");
      else
        message += "; " + std::to_string(d.sufficientWait) + " wait states are needed (not a counter)";
      Array steps;
      auto step = [&](const Place &p) {
        if (p.present)
          steps.push_back(Object{{"location", location(name, d.function, p, p.text)}});
      };
      step(d.producer);
      for (const Place &p : d.path)
        step(p);
      step(d.consumer);
      results.push_back(Object{
          {"ruleId", codeName(d.code)},
          {"ruleIndex", static_cast<int>(d.code) - 1},
          {"level", d.confidence == Confidence::Proven ? "error" : "warning"},
          {"message", Object{{"text", text(message)}}},
          {"locations", Array{location(name, d.function, d.consumer, "")}},
          {"codeFlows", Array{Object{{"threadFlows", Array{Object{{"locations", std::move(steps)}}}}}}},
          {"properties", Object{{"confidence", confidenceName(d.confidence)}, {"target", result.target}, {"counter", d.counter}}}});
    }
    for (const std::string &n : result.notAnalysed)
      notification(name, n);
  }

  void problem(const std::string &name, const std::string &message) override { notification(name, message); }

  void finish(const Summary &s) override {
    Array rules;
    for (unsigned c = 1; c <= numHazardCodes; ++c) {
      const auto code = static_cast<HazardCode>(c);
      rules.push_back(Object{{"id", codeName(code)},
                             {"shortDescription", Object{{"text", codeTitle(code)}}},
                             {"fullDescription", Object{{"text", codeHelp(code)}}}});
    }
    Object run{{"tool", Object{{"driver", Object{{"name", "wavesan check"}, {"rules", std::move(rules)}}}}},
               {"invocations", Array{Object{{"executionSuccessful", s.complete()},
                                            {"toolExecutionNotifications", std::move(notifications)}}}},
               {"results", std::move(results)}};
    out << llvm::json::Value(Object{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                                    {"version", "2.1.0"},
                                    {"runs", Array{std::move(run)}}})
        << "\n";
  }

private:
  Object location(const std::string &object, const std::string &function, const Place &p, const std::string &message) {
    Object physical;
    if (!p.file.empty()) {
      physical = Object{{"artifactLocation", Object{{"uri", uri(p.file)}}}};
      if (p.line) { // compilers give code of their own line 0
        Object region{{"startLine", p.line}};
        if (p.column)
          region["startColumn"] = p.column;
        physical["region"] = std::move(region);
      }
    } else {
      physical = Object{{"artifactLocation", Object{{"uri", uri(object)}}}};
    }
    Object o{{"physicalLocation", std::move(physical)},
             {"logicalLocations", Array{Object{{"kind", "function"},
                                               {"name", text(function)},
                                               {"fullyQualifiedName", text(function) + "+" + std::to_string(p.offset)}}}}};
    if (!message.empty())
      o["message"] = Object{{"text", text(message)}};
    return o;
  }

  void notification(const std::string &name, const std::string &message) {
    notifications.push_back(Object{{"level", "warning"}, {"message", Object{{"text", text(name + ": " + message)}}}});
  }

  llvm::raw_ostream &out;
  Array results, notifications;
};

} // namespace

std::unique_ptr<ReportSink> makeSarifSink(llvm::raw_ostream &out) { return std::make_unique<SarifSink>(out); }

} // namespace wavesan::waitcheck
