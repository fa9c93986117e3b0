// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wait_check.h"

#include "side_process.h"

#include "wavesan/abi/hooks.h"
#include "wavesan/report/printable.h"
#include "wavesan/report/race.h"

#include <functional>
#include <nlohmann/json.hpp>

namespace wavesan::hsa {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kTwinSuffix = abi::kTwinSuffix;

std::string textOf(const Json &json, const char *key) {
  return json.contains(key) && json[key].is_string() ? report::printable(json[key].get<std::string>()) : std::string();
}

uint64_t numberOf(const Json &json, const char *key) {
  return json.contains(key) && json[key].is_number_unsigned() ? json[key].get<uint64_t>() : 0;
}

report::CodePlace placeOf(const Json &json) {
  return {textOf(json, "text"), numberOf(json, "offset"), textOf(json, "file"), uint32_t(numberOf(json, "line")),
          uint32_t(numberOf(json, "column"))};
}

report::WaitHazard hazardOf(const Json &json) {
  report::WaitHazard h;
  h.code = textOf(json, "code");
  h.title = textOf(json, "title");
  h.proven = textOf(json, "confidence") == "proven";
  h.kernelMangled = textOf(json, "function");
  h.kernel = report::printable(report::demangle(h.kernelMangled));
  h.isKernel = !json.contains("kernel") || json["kernel"] != false;
  h.target = textOf(json, "target");
  h.registers = textOf(json, "registers");
  h.counter = textOf(json, "counter");
  if (json.contains("emitted_wait") && json["emitted_wait"].is_number_unsigned())
    h.emittedWait = uint32_t(numberOf(json, "emitted_wait"));
  h.sufficientWait = uint32_t(numberOf(json, h.counter.empty() ? "wait_states_needed" : "sufficient_wait"));
  if (json.contains("producer") && json["producer"].is_object())
    h.producer = placeOf(json["producer"]);
  if (json.contains("consumer") && json["consumer"].is_object())
    h.consumer = placeOf(json["consumer"]);
  return h;
}

bool isTwin(const report::WaitHazard &h) { return h.kernelMangled.ends_with(kTwinSuffix); }

/// The same mistake in the original and in its copy: registers and offsets differ, source lines or mnemonics do not.
std::string mistakeKey(const report::WaitHazard &h) {
  auto place = [](const report::CodePlace &p) {
    if (!p.file.empty())
      return p.file + ":" + std::to_string(p.line) + ":" + std::to_string(p.column);
    return p.instruction.substr(0, p.instruction.find(' '));
  };
  return originalName(h) + '\n' + h.code + '\n' + (h.producer ? place(*h.producer) : std::string()) + '\n' +
         place(h.consumer);
}

} // namespace

std::string originalName(const report::WaitHazard &h) {
  return h.kernelMangled.substr(0, h.kernelMangled.size() - (isTwin(h) ? kTwinSuffix.size() : 0));
}

WaitCheckResult readWaitReport(std::string_view jsonLines) {
  WaitCheckResult result;
  std::vector<report::WaitHazard> twins;
  std::set<std::string> originals;
  while (!jsonLines.empty()) {
    const size_t end = jsonLines.find('\n');
    const std::string_view line = jsonLines.substr(0, end);
    jsonLines.remove_prefix(end == std::string_view::npos ? jsonLines.size() : end + 1);
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object())
      continue;
    const std::string type = textOf(json, "type");
    if (type == "hazard") {
      report::WaitHazard h = hazardOf(json);
      if (isTwin(h)) {
        twins.push_back(std::move(h));
      } else {
        originals.insert(mistakeKey(h));
        result.hazards.push_back(std::move(h));
      }
    } else if (type == "problem") {
      result.problems.push_back(textOf(json, "text"));
    } else if (type == "summary") {
      result.complete = true;
      result.notShown = numberOf(json, "not_shown");
      result.incompleteFunctions = numberOf(json, "incomplete_functions");
    }
  }
  for (report::WaitHazard &h : twins)
    if (!originals.contains(mistakeKey(h)))
      result.hazards.push_back(std::move(h));
  return result;
}

WaitChecker::WaitChecker(std::string program)
    : Program(program.empty() ? besideThisLibrary("wavesan-check") : std::move(program)) {}

bool WaitChecker::isNew(std::string_view object) {
  std::lock_guard lock(Mutex);
  return Known.insert({object.size(), std::hash<std::string_view>()(object)}).second;
}

WaitCheckResult WaitChecker::check(std::string_view object) const {
  const SideProcess process = runBeside({Program, "--format=json", "-q", "-j", "0", "-"}, object);
  WaitCheckResult result = readWaitReport(process.output);
  if (!result.complete)
    result.problems.push_back(process.problem.empty() ? "the checker ended before its time" : process.problem);
  return result;
}

} // namespace wavesan::hsa
