// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/document_reader.h"

#include "json_names.h"
#include "wavesan/report/printable.h"

#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace wavesan::report {

namespace {

using namespace json_names;
using Json = nlohmann::json;

/// Reports are a few levels deep; the limit keeps the JSON library from building towers of arrays.
constexpr size_t kMaxDepth = 32;
/// A report of a hundred thousand races has less.
constexpr size_t kMaxBytes = size_t(512) << 20;

struct Damaged {
  std::string what;
};

/// A value and the way to it, for messages. Every accessor throws Damaged.
class Value {
public:
  Value(const Json &json, std::string path) : Data(json), Path(std::move(path)) {}

  [[noreturn]] void fail(const char *what) const { throw Damaged{(Path.empty() ? "the document" : Path) + " " + what}; }

  bool has(const char *key) const {
    if (!Data.is_object())
      fail("is not an object");
    return Data.contains(key);
  }
  Value operator[](const char *key) const {
    if (!has(key))
      fail((std::string("lacks '") + key + "'").c_str());
    return {Data.at(key), Path.empty() ? key : Path + "." + key};
  }
  template <class Visit> void forEach(Visit visit) const {
    if (!Data.is_array())
      fail("is not an array");
    for (size_t i = 0; i < Data.size(); ++i)
      visit(Value(Data[i], Path + "[" + std::to_string(i) + "]"));
  }
  size_t size() const {
    if (!Data.is_array())
      fail("is not an array");
    return Data.size();
  }
  std::string text() const {
    if (!Data.is_string())
      fail("is not a string");
    return printable(Data.get<std::string>());
  }
  bool flag() const {
    if (!Data.is_boolean())
      fail("is neither true nor false");
    return Data.get<bool>();
  }
  bool isNull() const { return Data.is_null(); }
  template <class Number> Number number() const {
    if (!Data.is_number_unsigned())
      fail("is not a number");
    const uint64_t value = Data.get<uint64_t>();
    if (value > std::numeric_limits<Number>::max())
      fail("is too large");
    return Number(value);
  }
  template <class Known, size_t N> Known named(const Named<Known> (&table)[N]) const {
    const std::string name = text();
    for (const Named<Known> &entry : table)
      if (name == entry.name)
        return entry.value;
    fail(("has the unknown value '" + name.substr(0, 40) + "'").c_str());
  }

private:
  const Json &Data;
  std::string Path;
};

std::string textOr(const Value &object, const char *key) {
  return object.has(key) ? object[key].text() : std::string();
}

abi::Scope scopeOf(const Value &value) {
  for (uint32_t s = 0; s <= uint32_t(abi::Scope::System); ++s)
    if (value.text() == scopeName(abi::Scope(s)))
      return abi::Scope(s);
  value.fail("is no scope");
}

abi::RaceClass classOf(const Value &value) {
  for (uint32_t c = uint32_t(abi::RaceClass::Race); c <= uint32_t(abi::RaceClass::HostRace); ++c)
    if (value.text() == className(abi::RaceClass(c)))
      return abi::RaceClass(c);
  value.fail("is no class of races that this version knows");
}

/// Line and column, 0 where there is none. A column without a line is no position and counts as absent, as for the
/// writer.
std::pair<uint32_t, uint32_t> positionOf(const Value &value) {
  const uint32_t line = value.has("line") ? value["line"].number<uint32_t>() : 0;
  const uint32_t column = value.has("column") ? value["column"].number<uint32_t>() : 0;
  return {line, line != 0 ? column : 0};
}

Frame frameOf(const Value &value) {
  Frame frame;
  frame.function = value["function"].text();
  frame.file = value["file"].text();
  std::tie(frame.line, frame.column) = positionOf(value);
  return frame;
}

Access sideOf(const Value &value, const char *role) {
  Access access;
  if (value["role"].text() != role)
    value["role"].fail((std::string("is not '") + role + "'").c_str());
  access.bits = (value["reads"].flag() ? abi::kAccessRead : 0u) | (value["writes"].flag() ? abi::kAccessWrite : 0u) |
                (value["atomic"].flag() ? abi::kAccessAtomic : 0u);
  if (value.has("bytes"))
    access.sizeBytes = value["bytes"].number<uint32_t>();
  access.opcode = textOr(value, "operation");
  if (value.has("scope"))
    access.scope = scopeOf(value["scope"]);
  const Value workgroup = value["workgroup"];
  if (workgroup.size() != 3)
    workgroup.fail("has not three numbers");
  size_t d = 0;
  workgroup.forEach([&](const Value &v) { access.workgroup[d++] = v.number<uint32_t>(); });
  access.wave = value["wave"].number<uint32_t>();
  if (!value["lane"].isNull())
    access.lane = value["lane"].number<uint32_t>();
  if (value.has("barriersPassed"))
    access.epoch = value["barriersPassed"].number<uint32_t>();
  value["frames"].forEach([&](const Value &v) { access.frames.push_back(frameOf(v)); });
  return access;
}

uint64_t bitsOf(const Value &list, unsigned limit) {
  uint64_t bits = 0;
  list.forEach([&](const Value &v) {
    const uint32_t bit = v.number<uint32_t>();
    if (bit >= limit)
      v.fail("is too large");
    bits |= uint64_t(1) << bit;
  });
  if (!bits)
    list.fail("is empty");
  return bits;
}

Divergence divergenceOf(const Value &value) {
  Divergence d;
  d.currentEnds = value["currentEnds"].flag();
  d.apart = value["apart"].flag();
  d.uneven = value["uneven"].flag();
  d.previousWaves = uint32_t(bitsOf(value["previousWaves"], 32));
  d.currentWaves = uint32_t(bitsOf(value["currentWaves"], 32));
  d.previousLanes = bitsOf(value["previousLanes"], 64);
  d.currentLanes = bitsOf(value["currentLanes"], 64);
  value["branch"].forEach([&](const Value &v) { d.branch.push_back(frameOf(v)); });
  return d;
}

std::vector<Frame> framesOf(const Value &list) {
  std::vector<Frame> frames;
  list.forEach([&](const Value &v) { frames.push_back(frameOf(v)); });
  return frames;
}

CommandSide commandOf(const Value &value) {
  CommandSide side;
  side.kind = value["kind"].named(kCommands);
  side.function = textOr(value, "function");
  side.kernel = textOr(value, "kernel");
  if (value.has("dispatch"))
    side.dispatch = value["dispatch"].number<uint64_t>();
  if (value.has("node"))
    side.node = value["node"].number<uint64_t>();
  side.stream = value["stream"].number<uint64_t>();
  side.streamKind = textOr(value, "streamKind");
  if (value.has("blocking"))
    side.blocking = value["blocking"].flag();
  side.call = framesOf(value["call"]);
  side.streamMade = framesOf(value["streamMade"]);
  return side;
}

CommandPair commandsOf(const Value &value) {
  CommandPair pair;
  pair.current = commandOf(value["current"]);
  pair.previous = commandOf(value["previous"]);
  if (value.has("lateEvent")) {
    pair.lateEvent = value["lateEvent"]["event"].number<uint64_t>();
    pair.lateRecord = framesOf(value["lateEvent"]["record"]);
  }
  if (value.has("earlyEvent")) {
    pair.earlyEvent = value["earlyEvent"]["event"].number<uint64_t>();
    pair.earlyRecord = framesOf(value["earlyEvent"]["record"]);
  }
  if (value.has("graphLaunch"))
    pair.graphLaunch = framesOf(value["graphLaunch"]);
  if (value.has("sameGraph"))
    pair.sameGraph = value["sameGraph"].flag();
  return pair;
}

MemoryPlace memoryPlaceOf(const Value &value) {
  MemoryPlace place;
  place.kind = value["kind"].named(kPlaces);
  if (place.kind == MemoryPlace::Kind::Unknown)
    return place;
  if (value.has("number"))
    place.number = value["number"].number<uint64_t>();
  place.name = textOr(value, "name");
  place.bytes = value["bytes"].number<uint64_t>();
  place.offset = value["offset"].number<uint64_t>();
  return place;
}

void readPlace(const Value &place, Race &race) {
  if (race.space == abi::RaceSpace::None)
    return;
  if (race.space == abi::RaceSpace::Lds) {
    if (place["kind"].text() != kLdsPlace)
      place["kind"].fail("does not fit the space");
    race.ldsFirst = place["offset"].number<uint32_t>();
    return;
  }
  race.place = memoryPlaceOf(place);
}

Confirmation confirmationOf(const Value &value) {
  Confirmation c;
  c.verdict = value["verdict"].named(kVerdicts);
  if (c.verdict == Confirmation::Verdict::NotTried) {
    c.reason = value["reason"].text();
    return c;
  }
  c.passes = value["passes"].number<uint64_t>();
  if (value.has("asReported")) // absent in reports of earlier versions
    c.asReported = value["asReported"].number<uint64_t>(), c.reversed = value["reversed"].number<uint64_t>();
  c.seed = value["seed"].number<uint64_t>();
  if (c.verdict == Confirmation::Verdict::Confirmed)
    c.place = memoryPlaceOf(value["place"]);
  return c;
}

Race raceOf(const Value &value) {
  Race race;
  race.raceClass = classOf(value["class"]);
  if (value.has("severity")) // absent in reports of earlier versions
    race.severity = value["severity"].named(kSeverities);
  if (value.has("sameValue"))
    race.sameValue = value["sameValue"].flag();
  if (value.has("valueHeld"))
    race.valueHeld = value["valueHeld"].flag();
  race.space = value["space"].named(kSpaces);
  race.order = value["order"].named(kOrders);
  race.situation = value["situation"].named(kSituations);
  race.kernel = value["kernel"].text();
  race.kernelMangled = value["kernelMangled"].text();
  race.dispatch = value["dispatch"].number<uint64_t>();
  race.waveSize = value["waveSize"].number<uint32_t>();
  race.size = value["bytes"].number<uint32_t>();
  race.variable = textOr(value, "variable");
  if (value.has("variableOffset"))
    race.variableOffset = value["variableOffset"].number<uint32_t>();
  readPlace(value["place"], race);
  if (value.has("neededScope"))
    race.neededScope = scopeOf(value["neededScope"]);
  if ((race.space == abi::RaceSpace::None) != abi::isDivergence(race.raceClass))
    value["class"].fail("does not fit the space");
  const Value sides = value["sides"];
  if (sides.size() != 2)
    sides.fail("has not two entries");
  bool first = true;
  sides.forEach([&](const Value &v) {
    (first ? race.current : race.previous) = sideOf(v, first ? "current" : "previous");
    first = false;
  });
  if (abi::isDivergence(race.raceClass) != value.has("divergence"))
    value.fail("has a class that does not fit its members");
  if (value.has("divergence"))
    race.divergence = divergenceOf(value["divergence"]);
  if (abi::isBetweenCommands(race.raceClass) != value.has("commands"))
    value.fail("has a class that does not fit its members");
  if (value.has("commands"))
    race.commands = commandsOf(value["commands"]);
  if (value.has("confirmation"))
    race.confirmation = confirmationOf(value["confirmation"]);
  race.occurrences = value["occurrences"].number<uint64_t>();
  race.bothOrders = value["bothOrders"].flag();
  if (value.has("processes"))
    race.processes = value["processes"].number<uint64_t>();
  // The advice speaks of lines only where both sides have one.
  if ((race.current.frames.empty() || race.previous.frames.empty()) && race.situation != Situation::Unknown)
    value["situation"].fail("does not fit a side without frames");
  return race;
}

CodePlace codePlaceOf(const Value &value) {
  const auto [line, column] = positionOf(value);
  return {value["instruction"].text(), value["offset"].number<uint64_t>(), textOr(value, "file"), line, column};
}

WaitHazard waitHazardOf(const Value &value) {
  WaitHazard h;
  h.code = value["code"].text();
  h.title = value["title"].text();
  const std::string confidence = value["confidence"].text();
  if (confidence != "proven" && confidence != "possible")
    value["confidence"].fail("is not proven or possible");
  h.proven = confidence == "proven";
  h.kernel = value["kernel"].text();
  h.kernelMangled = value["kernelMangled"].text();
  h.isKernel = value["isKernel"].flag();
  h.target = value["target"].text();
  h.registers = value["registers"].text();
  h.counter = value["counter"].text();
  if (!value["emittedWait"].isNull())
    h.emittedWait = value["emittedWait"].number<uint32_t>();
  h.sufficientWait = value["sufficientWait"].number<uint32_t>();
  if (value.has("producer"))
    h.producer = codePlaceOf(value["producer"]);
  h.consumer = codePlaceOf(value["consumer"]);
  return h;
}

void readCounts(const Value &list, const char *key, const char *count, std::map<std::string, uint64_t> &out) {
  list.forEach([&](const Value &v) { out[v[key].text()] += v[count].number<uint64_t>(); });
}

Summary summaryOf(const Value &value) {
  Summary s;
  for (const auto &count : kCounts)
    s.*count.value = value[count.name].number<uint64_t>();
  for (const auto &count : kLaterCounts)
    if (value.has(count.name))
      s.*count.value = value[count.name].number<uint64_t>();
  const Value losses = value["losses"];
  for (const auto &count : kStreamCounts)
    if (value.has(count.name))
      s.*count.value = value[count.name].number<uint64_t>();
  for (const auto &loss : kStreamLosses)
    if (losses.has(loss.name))
      s.*loss.value = losses[loss.name].number<uint64_t>();
  for (const auto &loss : kLosses)
    if (losses.has(loss.name)) // a later version may have found a better name
      s.*loss.value = losses[loss.name].number<uint64_t>();
  readCounts(value["skippedSites"], "reason", "places", s.skippedSites);
  readCounts(value["uninstrumentedKernels"], "kernel", "dispatches", s.noTwin);
  readCounts(value["suppressed"], "suppression", "races", s.suppressed);
  value["uncheckedKernels"].forEach([&](const Value &v) {
    s.unchecked[{v["kernel"].text(), v["reason"].text()}] += v["dispatches"].number<uint64_t>();
  });
  if (value.has("checkedKernels"))
    value["checkedKernels"].forEach([&](const Value &v) {
      KernelPlace place{v["kernel"].text(), textOr(v, "file"), v.has("line") ? v["line"].number<uint32_t>() : 0};
      s.checkedKernels[std::move(place)] += v["dispatches"].number<uint64_t>();
    });
  return s;
}

/// False where brackets nest too deep; strings are skipped.
bool isShallow(std::string_view json) {
  size_t depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth)
        return false;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return true;
}

Document documentOf(const Json &json) {
  const Value root(json, "");
  if (!json.is_object() || !root.has("schema") || !json["schema"].is_string() || json["schema"] != kSchema)
    throw Damaged{"not a WaveSan report (JSON of `json_path`)"};
  const uint64_t version = root["schemaVersion"].number<uint64_t>();
  if (version != kSchemaVersion)
    throw Damaged{"written by another version of WaveSan (report format " + std::to_string(version) +
                  ", this one reads " + std::to_string(kSchemaVersion) + ")"};
  Document document;
  if (root.has("processes"))
    document.processes = root["processes"].number<uint64_t>();
  root["races"].forEach([&](const Value &v) { document.races.push_back(raceOf(v)); });
  if (root.has("waitHazards"))
    root["waitHazards"].forEach([&](const Value &v) { document.waitHazards.push_back(waitHazardOf(v)); });
  root["messages"].forEach([&](const Value &v) { document.messages.push_back(v.text()); });
  document.summary = summaryOf(root["summary"]);
  const Summary &s = document.summary;
  if (s.races < countOf(document.races, Severity::Error))
    throw Damaged{"damaged report: summary.races is less than the races listed"};
  if (s.warnings < countOf(document.races, Severity::Warning))
    throw Damaged{"damaged report: summary.warnings is less than the warnings listed"};
  if (s.notes < countOf(document.races, Severity::Note))
    throw Damaged{"damaged report: summary.notes is less than the notes listed"};
  if (s.waitHazards < document.waitHazards.size())
    throw Damaged{"damaged report: summary.waitHazards is less than the wait hazards listed"};
  return document;
}

} // namespace

std::optional<Document> parseDocument(std::string_view json, std::string &error) try {
  if (json.empty()) {
    error = "empty file";
    return std::nullopt;
  }
  if (!isShallow(json)) {
    error = "not a WaveSan report (nested too deep)";
    return std::nullopt;
  }
  const Json parsed = Json::parse(json);
  return documentOf(parsed);
} catch (const Json::parse_error &e) {
  error = e.byte > json.size() ? "truncated JSON" : "malformed JSON at byte " + std::to_string(e.byte);
  return std::nullopt;
} catch (const Damaged &damaged) {
  const bool whole = damaged.what.starts_with("not a ") || damaged.what.starts_with("written by ") ||
                     damaged.what.starts_with("damaged ");
  error = whole ? damaged.what : "damaged report: " + damaged.what;
  return std::nullopt;
} catch (const std::exception &e) { // out of memory, numbers that are none
  error = printable(e.what());
  return std::nullopt;
}

std::optional<Document> readDocument(const std::string &path, std::string &error) {
  auto failed = [&](const std::string &why) -> std::optional<Document> {
    error = (path == "-" ? "standard input" : path) + ": " + why;
    return std::nullopt;
  };
  const int fd = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return failed(std::strerror(errno));
  std::string text;
  std::string why;
  try {
    char buffer[1 << 16];
    for (;;) {
      const ssize_t n = read(fd, buffer, sizeof(buffer));
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        why = std::strerror(errno);
      else if (text.size() > kMaxBytes)
        why = "too large for a report";
      if (n <= 0 || !why.empty())
        break;
      text.append(buffer, size_t(n));
    }
  } catch (const std::exception &e) {
    why = e.what();
  }
  close(fd);
  if (!why.empty())
    return failed(why);
  std::optional<Document> document = parseDocument(text, why);
  return document ? std::move(document) : failed(why);
}

} // namespace wavesan::report
