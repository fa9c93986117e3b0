// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The project's own format; docs/report-schema.md describes every member.
#include "wavesan/report/document.h"

#include "wavesan/report/suggestion.h"

#include <nlohmann/json.hpp>

namespace wavesan::report {

namespace {

using Json = nlohmann::ordered_json;

/// Raised when a member changes its meaning or goes away; new members do not raise it.
constexpr int kSchemaVersion = 1;

const char *orderName(Order order) {
  switch (order) {
  case Order::ReadAfterWrite:
    return "read-after-write";
  case Order::WriteAfterRead:
    return "write-after-read";
  case Order::WriteAfterWrite:
    return "write-after-write";
  }
  return "unknown";
}

const char *situationName(Situation situation) {
  switch (situation) {
  case Situation::Unknown:
    return "unknown";
  case Situation::StraightLine:
    return "straight-line";
  case Situation::LoopCarried:
    return "loop-carried";
  case Situation::SameLine:
    return "same-line";
  }
  return "unknown";
}

const char *placeName(MemoryPlace::Kind kind) {
  switch (kind) {
  case MemoryPlace::Kind::Unknown:
    return "unknown";
  case MemoryPlace::Kind::Allocation:
    return "allocation";
  case MemoryPlace::Kind::RegisteredHost:
    return "registered-host";
  case MemoryPlace::Kind::KernelArguments:
    return "kernel-arguments";
  case MemoryPlace::Kind::DeviceVariable:
    return "device-variable";
  }
  return "unknown";
}

Json frameJson(const Frame &frame) {
  Json out = {{"function", frame.function}, {"file", frame.file}};
  if (frame.line != 0)
    out["line"] = frame.line;
  if (frame.line != 0 && frame.column != 0)
    out["column"] = frame.column;
  return out;
}

Json sideJson(const char *role, const Access &access) {
  Json out = {{"role", role},
              {"access", accessText(access.bits)},
              {"reads", (access.bits & abi::kAccessRead) != 0},
              {"writes", (access.bits & abi::kAccessWrite) != 0},
              {"atomic", (access.bits & abi::kAccessAtomic) != 0}};
  if (access.sizeBytes != 0)
    out["bytes"] = access.sizeBytes;
  if (!access.opcode.empty())
    out["operation"] = access.opcode;
  if (access.scope)
    out["scope"] = scopeName(*access.scope);
  out["workgroup"] = access.workgroup;
  out["wave"] = access.wave;
  out["lane"] = access.lane ? Json(*access.lane) : Json(nullptr);
  if (access.epoch)
    out["barriersPassed"] = *access.epoch;
  out["frames"] = Json::array();
  for (const Frame &frame : access.frames)
    out["frames"].push_back(frameJson(frame));
  return out;
}

Json placeJson(const Race &race) {
  if (race.space == abi::RaceSpace::Lds)
    return {{"kind", "lds"}, {"offset", race.ldsFirst}};
  Json out = {{"kind", placeName(race.place.kind)}};
  if (race.place.kind == MemoryPlace::Kind::Unknown)
    return out;
  if (race.place.number != 0)
    out["number"] = race.place.number;
  if (!race.place.name.empty())
    out["name"] = race.place.name;
  out["bytes"] = race.place.bytes;
  out["offset"] = race.place.offset;
  return out;
}

Json raceJson(const Race &race) {
  Json out = {{"class", className(race.raceClass)},
              {"space", race.space == abi::RaceSpace::Global ? "global" : "lds"},
              {"order", orderName(race.order)},
              {"situation", situationName(race.situation)},
              {"betweenWorkgroups", race.betweenWorkgroups()},
              {"kernel", race.kernel},
              {"kernelMangled", race.kernelMangled},
              {"dispatch", race.dispatch},
              {"waveSize", race.waveSize},
              {"bytes", race.size}};
  if (!race.variable.empty())
    out["variable"] = race.variable;
  if (race.variableOffset)
    out["variableOffset"] = *race.variableOffset;
  out["place"] = placeJson(race);
  if (race.raceClass == abi::RaceClass::ScopeTooSmall)
    out["neededScope"] = scopeName(race.neededScope);
  out["sides"] = Json::array({sideJson("current", race.current), sideJson("previous", race.previous)});
  out["reason"] = reasonText(race);
  out["fix"] = fixText(race);
  if (std::string note = waveSizeNote(race); !note.empty())
    out["note"] = note;
  out["occurrences"] = race.occurrences;
  out["bothOrders"] = race.bothOrders;
  return out;
}

Json countsJson(const std::map<std::string, uint64_t> &counts, const char *keyName, const char *countName) {
  Json out = Json::array();
  for (const auto &[key, count] : counts)
    out.push_back({{keyName, key}, {countName, count}});
  return out;
}

Json summaryJson(const Summary &s) {
  Json out = {{"checkedAccesses", s.checkedAccesses},
              {"globalAccesses", s.globalAccesses},
              {"kernels", s.kernels},
              {"races", s.races},
              {"dispatches", s.dispatches},
              {"checkedDispatches", s.checkedDispatches}};
  out["losses"] = {{"racesNotPrinted", s.racesNotPrinted},
                   {"laterOccurrences", s.laterOccurrences},
                   {"racesDropped", s.racesDropped},
                   {"historyOverflow", s.historyOverflow},
                   {"generationOverflow", s.generationOverflow},
                   {"outsideShadow", s.outsideShadow},
                   {"damagedRecords", s.damagedRecords},
                   {"orderUnknown", s.orderUnknown},
                   {"globalUnchecked", s.globalUnchecked},
                   {"unfinishedDispatches", s.unfinishedDispatches},
                   {"failedDispatches", s.failedDispatches},
                   {"errors", s.errors}};
  out["skippedSites"] = countsJson(s.skippedSites, "reason", "places");
  out["uninstrumentedKernels"] = countsJson(s.noTwin, "kernel", "dispatches");
  out["uncheckedKernels"] = Json::array();
  for (const auto &[key, count] : s.unchecked)
    out["uncheckedKernels"].push_back({{"kernel", key.first}, {"reason", key.second}, {"dispatches", count}});
  out["suppressed"] = countsJson(s.suppressed, "suppression", "races");
  return out;
}

} // namespace

std::string jsonText(const Document &document) {
  Json out = {{"schema", "wavesan-report"}, {"schemaVersion", kSchemaVersion}};
  out["races"] = Json::array();
  for (const Race &race : document.races)
    out["races"].push_back(raceJson(race));
  out["messages"] = document.messages;
  out["summary"] = summaryJson(document.summary);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace wavesan::report
