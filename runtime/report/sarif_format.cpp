// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SARIF 2.1.0 (OASIS): one run, one rule per verdict class and memory, one result per distinct race.
#include "wavesan/report/document.h"

#include "confirmation_json.h"
#include "wavesan/report/commands.h"
#include "wavesan/report/suggestion.h"
#include "wavesan/report/text_sink.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

namespace wavesan::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr char kSchema[] = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr char kRootId[] = "SRCROOT";

struct Rule {
  abi::RaceClass raceClass;
  const char *name, *brief, *help;
};
/// Positions are the rule indices of the results.
constexpr Rule kRules[] = {
    {abi::RaceClass::Race, "DataRace", "Two accesses to the same memory, one of them a write, have no order.",
     "Put a barrier between the two accesses, make both atomic, or end the kernel between them."},
    {abi::RaceClass::MissingFence, "MissingFence",
     "A barrier lies between two accesses, but the earlier one may still be under way when the barrier opens.",
     "Use __syncthreads(), which orders memory, instead of a bare barrier."},
    {abi::RaceClass::ScopeTooSmall, "ScopeTooSmall",
     "Two accesses are synchronised at a scope that does not include both sides.",
     "Use a scope that includes both sides, such as __HIP_MEMORY_SCOPE_AGENT between workgroups."},
    {abi::RaceClass::BarrierDivergence, "BarrierDivergence", "Work-items of one workgroup do not meet at one barrier.",
     "Let every work-item of the workgroup reach the same barriers: no barrier in a branch or loop that only some "
     "enter."},
    {abi::RaceClass::EarlyExit, "EarlyExit", "Work-items end while others of their workgroup wait at a barrier.",
     "Put the work under a condition instead of returning before a barrier."},
    {abi::RaceClass::LaneConflict, "LaneConflict", "Lanes of one store write different values to the same bytes.",
     "Let only one work-item execute the write, or give every work-item its own element."},
    {abi::RaceClass::MissingWait, "MissingWait",
     "An asynchronous copy, or an instruction in inline assembly, may still be under way: its wave has not waited for it.",
     "Wait for the counter that counts it (s_waitcnt, s_wait_...) before the barrier, or before the wave's own access."},
    {abi::RaceClass::StreamRace, "StreamRace", "Two commands of different streams touch the same memory, one of them writing, and nothing orders them.",
     "Record an event behind the first command and let the second one's stream wait for it."},
    {abi::RaceClass::HostRace, "HostRace", "The host accesses memory while a command that it has not waited for may be using it.",
     "Synchronise with the stream before the access."},
    {abi::RaceClass::WaveOrder, "WaveOrderDependent",
     "Lanes of one wave access the same memory in divergent arms of a branch, whose order the compiler chooses.",
     "End the branch between the two accesses, so that all lanes come together, or give every work-item its own element."},
};

size_t ruleIndex(abi::RaceClass c) {
  for (size_t i = 0; i < std::size(kRules); ++i)
    if (kRules[i].raceClass == c)
      return i;
  return 0;
}

Json text(const std::string &s) { return {{"text", s}}; }

/// Percent-encodes what a URI path may not hold.
std::string uriPath(const std::string &path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (unsigned char c : path) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::strchr("/-._~+", c))
      out += char(c);
    else
      out += {'%', kHex[c >> 4], kHex[c & 15]};
  }
  return out;
}

Json artifact(const std::string &file, const std::string &directory) {
  std::string relative = relativePath(file, directory);
  if (!relative.empty() && relative[0] == '/')
    return {{"uri", "file://" + uriPath(relative)}};
  Json out = {{"uri", uriPath(relative)}};
  if (!directory.empty())
    out["uriBaseId"] = kRootId;
  return out;
}

/// Null when the position is unknown.
Json location(const Frame &frame, const std::string &directory) {
  if (frame.file.empty())
    return nullptr;
  Json physical = {{"artifactLocation", artifact(frame.file, directory)}};
  if (frame.line != 0) {
    physical["region"] = {{"startLine", frame.line}};
    if (frame.column != 0)
      physical["region"]["startColumn"] = frame.column;
  }
  Json out = {{"physicalLocation", physical}};
  if (!frame.function.empty())
    out["logicalLocations"] = Json::array({Json{{"fullyQualifiedName", frame.function}, {"kind", "function"}}});
  return out;
}

Json sideLocation(const Access &access, const std::string &directory) {
  return access.frames.empty() ? Json(nullptr) : location(access.frames[userFrame(access.frames)], directory);
}

std::string sideText(const CommandSide &side, const Access &access) {
  return accessText(access.bits) + " by " + commandText(side) + (side.stream ? " in " + streamText(side) : "");
}

std::string sideText(const Access &access, bool withWorkgroup) {
  if (!access.bits) // a divergence has no access
    return access.opcode + ", wave " + std::to_string(access.wave);
  std::string out = accessText(access.bits) + " by ";
  if (withWorkgroup)
    out += "workgroup " + workgroupText(access.workgroup) + " ";
  return out + "wave " + std::to_string(access.wave) + " lane " + (access.lane ? std::to_string(*access.lane) : "?");
}

/// The whole chain of calls of one side; null where there is nothing beyond its position.
Json stackJson(const Access &access, const std::string &message, const std::string &directory) {
  Json frames = Json::array();
  for (const Frame &frame : access.frames)
    if (Json at = location(frame, directory); !at.is_null())
      frames.push_back({{"location", at}});
  return frames.size() < 2 ? Json(nullptr) : Json{{"message", text(message)}, {"frames", frames}};
}

/// First line of the text report without its prefix and class, then reason and advice.
std::string resultText(const Race &race) {
  TextOptions options;
  options.sourceExcerpt = false;
  std::string head = raceText(race, options);
  head.resize(head.find('\n'));
  const std::string name = className(race.raceClass) + ": ";
  head.erase(0, head.find(name) + name.size());
  return head + " in kernel " + (race.kernel.empty() ? "unknown" : race.kernel) + ": " + reasonText(race) +
         (race.valueHeld ? ". " + valueNote(race) : "") + ". Fix: " + fixText(race) + ".";
}

Json resultJson(const Race &race, const std::string &directory) {
  const bool apart = race.betweenWorkgroups();
  Json out = {{"ruleId", className(race.raceClass)},
              {"ruleIndex", ruleIndex(race.raceClass)},
              {"level", race.severity == Severity::Error     ? "error"
                        : race.severity == Severity::Warning ? "warning"
                                                             : "note"},
              {"message", text(resultText(race))}};
  const std::string current = race.commands ? sideText(race.commands->current, race.current)
                                            : sideText(race.current, apart);
  const std::string previous = race.commands ? sideText(race.commands->previous, race.previous)
                                             : sideText(race.previous, apart);
  out["locations"] = Json::array();
  Json at = sideLocation(race.current, directory), before = sideLocation(race.previous, directory);
  if (!at.is_null()) {
    at["message"] = text(current);
    out["locations"].push_back(at);
  }
  out["relatedLocations"] = Json::array();
  if (!before.is_null()) {
    before["id"] = 1;
    before["message"] = text(previous);
    out["relatedLocations"].push_back(before);
  }
  if (race.commands)
    for (const auto &[side, what] : {std::pair(&race.commands->current, &current), std::pair(&race.commands->previous, &previous)})
      if (side->kind == CommandSide::Kind::Kernel || side->kind == CommandSide::Kind::Graph ||
          side->kind == CommandSide::Kind::HostFunction)
        if (Json call = side->call.empty() ? Json(nullptr) : location(side->call[userFrame(side->call)], directory); !call.is_null()) {
          call["id"] = out["relatedLocations"].size() + 1;
          call["message"] = text("launched here: " + *what);
          out["relatedLocations"].push_back(call);
        }
  Json stacks = Json::array();
  for (const Json &stack : {stackJson(race.current, current, directory), stackJson(race.previous, previous, directory)})
    if (!stack.is_null())
      stacks.push_back(stack);
  if (!stacks.empty())
    out["stacks"] = stacks;
  out["occurrenceCount"] = std::max<uint64_t>(race.occurrences, 1);
  if (race.confirmation)
    out["properties"]["confirmation"] = confirmationJson(*race.confirmation);
  if (race.valueHeld)
    out["properties"]["valueHeld"] = true;
  return out;
}

Json codeLocation(const WaitHazard &hazard, const CodePlace &place, const std::string &directory) {
  Json out =
      location({.function = hazard.kernel, .file = place.file, .line = place.line, .column = place.column}, directory);
  if (out.is_null()) // no line table: the function is all that is known
    out["logicalLocations"] = Json::array({Json{{"fullyQualifiedName", hazard.kernel}, {"kind", "function"}}});
  char offset[32];
  std::snprintf(offset, sizeof(offset), "+0x%04llx  ", static_cast<unsigned long long>(place.offset));
  out["message"] = text(offset + place.instruction);
  return out;
}

/// Codes of the wait checker get rules where they occur: what they mean comes with them.
size_t waitRuleIndex(Json &rules, const WaitHazard &h) {
  for (size_t i = 0; i < rules.size(); ++i)
    if (rules[i]["id"] == h.code)
      return i;
  rules.push_back({{"id", h.code},
                   {"name", "MissingWait" + h.code},
                   {"shortDescription", text(h.title)},
                   {"help", text("Wait for the counter that the message names before the second instruction.")},
                   {"defaultConfiguration", {{"level", "error"}}}});
  return rules.size() - 1;
}

Json waitResultJson(const WaitHazard &h, size_t rule, const std::string &directory) {
  Json out = {{"ruleId", h.code},
              {"ruleIndex", rule},
              {"level", h.proven ? "error" : "warning"},
              {"message", text(waitHeadText(h) + " in kernel " + (h.kernel.empty() ? "unknown" : h.kernel) +
                               ", machine code for " + h.target + ": " + waitNeedText(h))}};
  out["locations"] = Json::array({codeLocation(h, h.consumer, directory)});
  out["relatedLocations"] = Json::array();
  if (h.producer) {
    Json before = codeLocation(h, *h.producer, directory);
    before["id"] = 1;
    out["relatedLocations"].push_back(std::move(before));
  }
  out["occurrenceCount"] = 1;
  return out;
}

Json rulesJson() {
  Json rules = Json::array();
  for (const Rule &rule : kRules)
    rules.push_back({{"id", className(rule.raceClass)},
                     {"name", rule.name},
                     {"shortDescription", text(rule.brief)},
                     {"help", text(rule.help)},
                     {"defaultConfiguration", {{"level", rule.raceClass == abi::RaceClass::WaveOrder ? "warning" : "error"}}}});
  return rules;
}

Json invocationJson(const Document &document) {
  Json notes = Json::array();
  auto note = [&](const char *level, const std::string &line) {
    notes.push_back({{"level", level}, {"message", text(line)}});
  };
  for (const std::string &line : document.messages)
    note("warning", line);
  for (const std::string &line : summaryRemarks(document.summary))
    note("warning", line);
  note("note", checkedText(document.summary));
  return {{"executionSuccessful", document.summary.errors == 0}, {"toolExecutionNotifications", notes}};
}

} // namespace

std::string sarifText(const Document &document) {
  Json rules = rulesJson(), results = Json::array();
  for (const Race &race : document.races)
    results.push_back(resultJson(race, document.directory));
  for (const WaitHazard &hazard : document.waitHazards)
    results.push_back(waitResultJson(hazard, waitRuleIndex(rules, hazard), document.directory));
  Json run = {{"tool", {{"driver", {{"name", "WaveSan"}, {"rules", std::move(rules)}}}}}};
  if (!document.directory.empty())
    run["originalUriBaseIds"] = {{kRootId, {{"uri", "file://" + uriPath(document.directory) + "/"}}}};
  run["invocations"] = Json::array({invocationJson(document)});
  run["results"] = std::move(results);
  Json out = {{"$schema", kSchema}, {"version", "2.1.0"}};
  out["runs"] = Json::array({std::move(run)});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace wavesan::report
