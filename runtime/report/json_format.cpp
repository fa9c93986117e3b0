// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The project's own format; docs/report-schema.md describes every member.
#include "wavesan/report/document.h"

#include "confirmation_json.h"
#include "json_names.h"
#include "wavesan/report/suggestion.h"

#include <nlohmann/json.hpp>

namespace wavesan::report {

namespace {

using namespace json_names;
using Json = nlohmann::ordered_json;

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
              {"access", access.bits ? accessText(access.bits) : access.opcode},
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

Json numbersJson(uint64_t bits) {
  Json out = Json::array();
  for (unsigned i = 0; i < 64; ++i)
    if (bits >> i & 1)
      out.push_back(i);
  return out;
}

Json divergenceJson(const Divergence &d) {
  Json out = {{"currentEnds", d.currentEnds},
              {"apart", d.apart},
              {"uneven", d.uneven},
              {"previousWaves", numbersJson(d.previousWaves)},
              {"currentWaves", numbersJson(d.currentWaves)},
              {"previousLanes", numbersJson(d.previousLanes)},
              {"currentLanes", numbersJson(d.currentLanes)}};
  out["branch"] = Json::array();
  for (const Frame &frame : d.branch)
    out["branch"].push_back(frameJson(frame));
  return out;
}

Json placeJson(const MemoryPlace &place) {
  Json out = {{"kind", nameOf(kPlaces, place.kind)}};
  if (place.kind == MemoryPlace::Kind::Unknown)
    return out;
  if (place.number != 0)
    out["number"] = place.number;
  if (!place.name.empty())
    out["name"] = place.name;
  out["bytes"] = place.bytes;
  out["offset"] = place.offset;
  return out;
}

Json placeJson(const Race &race) {
  if (race.space == abi::RaceSpace::None)
    return {{"kind", kNoPlace}};
  if (race.space == abi::RaceSpace::Lds)
    return {{"kind", kLdsPlace}, {"offset", race.ldsFirst}};
  return placeJson(race.place);
}

Json framesJson(const std::vector<Frame> &frames) {
  Json out = Json::array();
  for (const Frame &frame : frames)
    out.push_back(frameJson(frame));
  return out;
}

Json commandJson(const CommandSide &side) {
  Json out = {{"kind", nameOf(kCommands, side.kind)}};
  if (!side.function.empty())
    out["function"] = side.function;
  if (!side.kernel.empty()) {
    out["kernel"] = side.kernel;
    out["dispatch"] = side.dispatch;
  }
  if (side.node)
    out["node"] = side.node;
  out["stream"] = side.stream;
  if (!side.streamKind.empty()) {
    out["streamKind"] = side.streamKind;
    out["blocking"] = side.blocking;
  }
  out["call"] = framesJson(side.call);
  out["streamMade"] = framesJson(side.streamMade);
  return out;
}

Json commandsJson(const CommandPair &pair) {
  Json out = {{"current", commandJson(pair.current)}, {"previous", commandJson(pair.previous)}};
  if (pair.lateEvent)
    out["lateEvent"] = {{"event", pair.lateEvent}, {"record", framesJson(pair.lateRecord)}};
  if (pair.earlyEvent)
    out["earlyEvent"] = {{"event", pair.earlyEvent}, {"record", framesJson(pair.earlyRecord)}};
  if (pair.current.node)
    out["graphLaunch"] = framesJson(pair.graphLaunch);
  if (pair.sameGraph)
    out["sameGraph"] = true;
  return out;
}

Json raceJson(const Race &race) {
  Json out = {{"class", className(race.raceClass)},
              {"severity", nameOf(kSeverities, race.severity)},
              {"space", nameOf(kSpaces, race.space)},
              {"order", nameOf(kOrders, race.order)},
              {"situation", nameOf(kSituations, race.situation)},
              {"betweenWorkgroups", race.betweenWorkgroups()},
              {"kernel", race.kernel},
              {"kernelMangled", race.kernelMangled},
              {"dispatch", race.dispatch},
              {"waveSize", race.waveSize},
              {"bytes", race.size}};
  if (race.sameValue)
    out["sameValue"] = true;
  if (race.valueHeld)
    out["valueHeld"] = true;
  if (!race.variable.empty())
    out["variable"] = race.variable;
  if (race.variableOffset)
    out["variableOffset"] = *race.variableOffset;
  out["place"] = placeJson(race);
  if (race.raceClass == abi::RaceClass::ScopeTooSmall)
    out["neededScope"] = scopeName(race.neededScope);
  if (race.divergence)
    out["divergence"] = divergenceJson(*race.divergence);
  if (race.commands)
    out["commands"] = commandsJson(*race.commands);
  if (race.confirmation)
    out["confirmation"] = confirmationJson(*race.confirmation);
  out["sides"] = Json::array({sideJson("current", race.current), sideJson("previous", race.previous)});
  out["reason"] = reasonText(race);
  out["fix"] = fixText(race);
  if (std::string note = waveSizeNote(race); !note.empty())
    out["note"] = note;
  out["occurrences"] = race.occurrences;
  out["bothOrders"] = race.bothOrders;
  if (race.processes != 1)
    out["processes"] = race.processes;
  return out;
}

Json codePlaceJson(const CodePlace &place) {
  Json out = {{"instruction", place.instruction}, {"offset", place.offset}};
  if (!place.file.empty())
    out["file"] = place.file;
  if (place.line != 0)
    out["line"] = place.line;
  if (place.line != 0 && place.column != 0)
    out["column"] = place.column;
  return out;
}

Json waitHazardJson(const WaitHazard &h) {
  Json out = {{"code", h.code},
              {"title", h.title},
              {"confidence", h.proven ? "proven" : "possible"},
              {"kernel", h.kernel},
              {"kernelMangled", h.kernelMangled},
              {"isKernel", h.isKernel},
              {"target", h.target},
              {"registers", h.registers},
              {"counter", h.counter},
              {"emittedWait", h.emittedWait ? Json(*h.emittedWait) : Json(nullptr)},
              {"sufficientWait", h.sufficientWait}};
  if (h.producer)
    out["producer"] = codePlaceJson(*h.producer);
  out["consumer"] = codePlaceJson(h.consumer);
  return out;
}

Json countsJson(const std::map<std::string, uint64_t> &counts, const char *keyName, const char *countName) {
  Json out = Json::array();
  for (const auto &[key, count] : counts)
    out.push_back({{keyName, key}, {countName, count}});
  return out;
}

Json summaryJson(const Summary &s) {
  Json out, losses;
  for (const auto &count : kCounts)
    out[count.name] = s.*count.value;
  for (const auto &count : kLaterCounts)
    out[count.name] = s.*count.value;
  for (const auto &loss : kLosses)
    losses[loss.name] = s.*loss.value;
  for (const auto &count : kStreamCounts)
    out[count.name] = s.*count.value;
  for (const auto &loss : kStreamLosses)
    losses[loss.name] = s.*loss.value;
  out["losses"] = std::move(losses);
  out["checkedKernels"] = Json::array();
  for (const auto &[place, dispatches] : s.checkedKernels) {
    Json kernel = {{"kernel", place.kernel}};
    if (!place.file.empty())
      kernel["file"] = place.file;
    if (place.line != 0)
      kernel["line"] = place.line;
    kernel["dispatches"] = dispatches;
    out["checkedKernels"].push_back(std::move(kernel));
  }
  out["skippedSites"] = countsJson(s.skippedSites, "reason", "places");
  out["uninstrumentedKernels"] = countsJson(s.noTwin, "kernel", "dispatches");
  out["uncheckedKernels"] = Json::array();
  for (const auto &[key, count] : s.unchecked)
    out["uncheckedKernels"].push_back({{"kernel", key.first}, {"reason", key.second}, {"dispatches", count}});
  out["suppressed"] = countsJson(s.suppressed, "suppression", "races");
  return out;
}

} // namespace

Json confirmationJson(const Confirmation &confirmation) {
  Json out = {{"verdict", nameOf(kVerdicts, confirmation.verdict)}};
  if (confirmation.verdict == Confirmation::Verdict::NotTried) {
    out["reason"] = confirmation.reason;
    return out;
  }
  out["passes"] = confirmation.passes;
  out["asReported"] = confirmation.asReported;
  out["reversed"] = confirmation.reversed;
  out["seed"] = confirmation.seed;
  if (confirmation.verdict == Confirmation::Verdict::Confirmed)
    out["place"] = placeJson(confirmation.place);
  return out;
}

std::string jsonText(const Document &document) {
  Json out = {{"schema", kSchema}, {"schemaVersion", kSchemaVersion}};
  if (document.processes != 1)
    out["processes"] = document.processes;
  out["races"] = Json::array();
  for (const Race &race : document.races)
    out["races"].push_back(raceJson(race));
  out["waitHazards"] = Json::array();
  for (const WaitHazard &hazard : document.waitHazards)
    out["waitHazards"].push_back(waitHazardJson(hazard));
  out["messages"] = document.messages;
  out["summary"] = summaryJson(document.summary);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace wavesan::report
