// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/text_sink.h"

#include "wavesan/report/cause.h"
#include "wavesan/report/commands.h"
#include "wavesan/report/divergence.h"
#include "wavesan/report/source_excerpt.h"
#include "wavesan/report/suggestion.h"

#include <algorithm>
#include <utility>

namespace wavesan::report {

namespace {

// Select Graphic Rendition sequences of terminals.
constexpr char kAlarm[] = "\x1b[1;31m", kAdvice[] = "\x1b[1;32m", kPlain[] = "\x1b[0m";

std::string colored(const std::string &text, const char *color, const TextOptions &options) {
  return options.color ? color + text + kPlain : text;
}

/// "write-read (read after write)": the earlier side first.
std::string orderText(const Race &race) {
  if (race.atomicAgainstPlain()) {
    auto side = [](const Access &a) {
      return a.bits & abi::kAccessAtomic ? std::string("atomic") : "plain " + accessText(a.bits);
    };
    return side(race.previous) + " against " + side(race.current);
  }
  if (race.space == abi::RaceSpace::Global && (race.current.bits & race.previous.bits & abi::kAccessAtomic))
    return "atomic against atomic";
  if (race.raceClass == abi::RaceClass::LaneConflict)
    return "store: lanes of one instruction write different values";
  switch (race.order) {
  case Order::ReadAfterWrite:
    return "write-read (read after write)";
  case Order::WriteAfterRead:
    return "read-write (write after read)";
  case Order::WriteAfterWrite:
    return "write-write (write after write)";
  }
  return "accesses";
}

std::string bytesText(uint64_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

std::string ldsPlace(const Race &race) {
  uint64_t last = uint64_t(race.ldsFirst) + std::max(race.size, 1u) - 1;
  std::string range = race.size <= 1 ? "LDS byte " + std::to_string(race.ldsFirst)
                                     : "LDS bytes " + std::to_string(race.ldsFirst) + ".." + std::to_string(last);
  if (race.variableOffset && !race.variable.empty())
    return race.variable + "+" + std::to_string(*race.variableOffset) + " (" + range + ")";
  return range;
}

std::string globalPlace(const MemoryPlace &place, bool named) {
  std::string kind;
  switch (place.kind) {
  case MemoryPlace::Kind::Unknown:
    return named ? "an unknown offset" : "a place outside the memory that WaveSan follows";
  case MemoryPlace::Kind::DeviceVariable:
    return place.name + "+" + std::to_string(place.offset) + " (__device__ variable, " + bytesText(place.bytes) + ")";
  case MemoryPlace::Kind::Allocation:
    kind = "allocation ";
    break;
  case MemoryPlace::Kind::RegisteredHost:
    kind = "registered host memory ";
    break;
  case MemoryPlace::Kind::KernelArguments:
    kind = "kernel argument memory ";
    break;
  }
  return kind + std::to_string(place.number) + " (" + bytesText(place.bytes) + ") + " + std::to_string(place.offset);
}

std::string placeText(const Race &race) {
  const bool global = race.space == abi::RaceSpace::Global;
  const std::string &variable = race.variable.empty() && global ? race.place.name : race.variable;
  return (variable.empty() ? "" : " on `" + variable + "`") + ", " + bytesText(race.size) + " at " +
         (global ? globalPlace(race.place, !variable.empty()) : ldsPlace(race));
}

std::string positionText(const Frame &frame, const TextOptions &options) {
  std::string text = relativePath(frame.file, options.directory);
  if (frame.line != 0)
    text += ":" + std::to_string(frame.line);
  if (frame.line != 0 && frame.column != 0)
    text += ":" + std::to_string(frame.column);
  return text;
}

/// "read  of 4 bytes by wave 0 lane 0 ", without padding.
struct SideHead {
  std::string access, who;
};

SideHead sideHead(const Access &access, bool withWorkgroup) {
  SideHead head;
  head.access = accessText(access.bits);
  head.who = "of " + (access.sizeBytes ? bytesText(access.sizeBytes)
                                       : "a range" + (access.opcode.empty() ? "" : " (" + access.opcode + ")"));
  head.who += " by " + (withWorkgroup ? "workgroup " + workgroupText(access.workgroup) + " " : std::string()) +
              "wave " + std::to_string(access.wave) + " lane " + (access.lane ? std::to_string(*access.lane) : "?");
  return head;
}

/// " at FILE:LINE:COLUMN in FUNCTION", the source line, and the calls. `outer`: what the outer frames of a frame are.
std::string placedText(const std::vector<Frame> &frames, const TextOptions &options,
                       const char *outer = "inlined into") {
  if (frames.empty())
    return " at an unknown line\n";
  const size_t shown = userFrame(frames);
  const Frame &leaf = frames[shown];
  std::string text =
      " at " + positionText(leaf, options) + (leaf.function.empty() ? "" : " in " + leaf.function) + "\n";
  if (options.sourceExcerpt)
    text += sourceExcerpt(leaf.file, leaf.line, leaf.column, 4);
  for (size_t i = shown; i-- > 0;) {
    const Frame &callee = frames[i];
    text += "    which calls " + (callee.function.empty() ? "?" : callee.function) + ": " +
            positionText(callee, options) + "\n";
  }
  for (size_t i = shown + 1; i < frames.size(); ++i) {
    const Frame &caller = frames[i];
    text += std::string("    ") + outer + " " + (caller.function.empty() ? "?" : caller.function) + " at " +
            positionText(caller, options) + "\n";
  }
  return text;
}

std::string sideText(const Access &access, const SideHead &head, size_t accessWidth, size_t whoWidth,
                     const TextOptions &options) {
  auto padded = [](std::string text, size_t width) { return text.append(width - std::min(width, text.size()), ' '); };
  return "  " + padded(head.access, accessWidth) + " " + padded(head.who, whoWidth) +
         placedText(access.frames, options);
}

/// The user's line is enough of a barrier: what __syncthreads() consists of says nothing.
std::vector<Frame> userFrames(const std::vector<Frame> &frames) {
  return frames.empty() ? frames : std::vector<Frame>(frames.begin() + ptrdiff_t(userFrame(frames)), frames.end());
}

std::string accessSides(const Race &race, const TextOptions &options) {
  const bool apart = race.betweenWorkgroups();
  SideHead current = sideHead(race.current, apart), previous = sideHead(race.previous, apart);
  size_t accessWidth = std::max(current.access.size(), previous.access.size());
  size_t whoWidth = std::max(current.who.size(), previous.who.size());
  return sideText(race.current, current, accessWidth, whoWidth, options) +
         sideText(race.previous, previous, accessWidth, whoWidth, options);
}

std::string divergenceSides(const Race &race, const TextOptions &options) {
  const Divergence &d = *race.divergence;
  std::string text = "  " + divergenceSide(race, false) + placedText(userFrames(race.previous.frames), options);
  text +=
      "  " + divergenceSide(race, true) +
      (d.currentEnds ? std::string(d.branch.empty() ? " without it" : " without it; the branch that decides is") : "") +
      placedText(userFrames(d.currentEnds ? d.branch : race.current.frames), options);
  if (!d.currentEnds && !d.branch.empty())
    text += "  the branch that parts them is" + placedText(userFrames(d.branch), options);
  return text;
}

std::string commandSide(const Access &access, const CommandSide &side, const TextOptions &options) {
  constexpr const char *kCalled = "called from";
  std::string text = "  ";
  if (side.kind == CommandSide::Kind::Free || side.kind == CommandSide::Kind::Allocation)
    text += std::string(side.kind == CommandSide::Kind::Free ? "free" : "allocation") + " by " + commandText(side);
  else
    text += accessText(access.bits) + (access.sizeBytes ? " of " + bytesText(access.sizeBytes) : std::string()) +
            " by " + commandText(side);
  const bool kernel = side.kind == CommandSide::Kind::Kernel || side.kind == CommandSide::Kind::Graph;
  const bool host = side.kind == CommandSide::Kind::Host;
  if (side.node) {
    const std::string node = "node " + std::to_string(side.node) + " of a graph";
    if (kernel)
      return text + ", dispatch " + std::to_string(side.dispatch) + "," + placedText(access.frames, options) + "    " +
             node + ", made by " + side.function + placedText(side.call, options, kCalled);
    return text + ", " + node + "," + placedText(side.call, options, kCalled);
  }
  if (kernel && !side.kernel.empty())
    text += ", dispatch " + std::to_string(side.dispatch) + "," + placedText(access.frames, options);
  if (side.kind == CommandSide::Kind::HostFunction)
    text += "," + placedText(access.frames, options, kCalled) + "    put into " + streamText(side) + " by " +
            side.function + placedText(side.call, options, kCalled);
  else if (!kernel)
    text += (host ? std::string() : " in " + streamText(side)) + placedText(side.call, options, kCalled);
  else
    text += "    launched in " + streamText(side) + placedText(side.call, options, kCalled);
  if (!side.streamMade.empty()) {
    const Frame &made = side.streamMade[userFrame(side.streamMade)];
    text += "    " + streamText(side) + " was created at " + positionText(made, options) + "\n";
  }
  return text;
}

std::string commandSides(const Race &race, const TextOptions &options) {
  return commandSide(race.current, race.commands->current, options) +
         commandSide(race.previous, race.commands->previous, options);
}

} // namespace

std::string relativePath(const std::string &file, const std::string &dir) {
  if (dir.size() > 1 && file.size() > dir.size() + 1 && file.compare(0, dir.size(), dir) == 0 &&
      file[dir.size()] == '/')
    return file.substr(dir.size() + 1);
  return file;
}

std::string raceText(const Race &race, const TextOptions &options) {
  const std::string kernel = race.kernel.empty() ? "unknown" : race.kernel;
  const bool apart = race.betweenWorkgroups();
  std::string text = colored(std::string("wavesan: ") + severityPrefix(race.severity) +
                                 className(race.raceClass) + ":",
                             kAlarm, options) +
                     (race.divergence ? " " + divergenceHead(race)
                                      : (race.space == abi::RaceSpace::Global ? " global memory " : " LDS ") +
                                            orderText(race) + placeText(race)) +
                     "\n";
  if (!race.commands)
    text += "  kernel " + kernel + ", dispatch " + std::to_string(race.dispatch) +
            (apart ? "" : ", workgroup " + workgroupText(race.current.workgroup)) + ", wave size " +
            std::to_string(race.waveSize) + "\n";
  if (race.commands)
    text += commandSides(race, options);
  else if (race.divergence)
    text += divergenceSides(race, options);
  else
    text += accessSides(race, options);
  text += "  " + reasonText(race) + "\n";
  if (std::string values = valueNote(race); !values.empty())
    text += "  " + values + "\n";
  if (std::string note = waveSizeNote(race); !note.empty())
    text += "  " + note + "\n";
  text += "  " + colored("fix:", kAdvice, options) + " " + fixText(race) + "\n";
  text += "  seen " + std::to_string(race.occurrences) + (race.occurrences == 1 ? " time" : " times") +
          (race.processes > 1 ? ", in " + std::to_string(race.processes) + " processes" : "") +
          (race.bothOrders ? ", in both orders" : "") + "\n";
  if (race.confirmation)
    text += "  " + confirmationText(*race.confirmation) + "\n";
  return text;
}

TextSink::TextSink(TextWriter writer, TextOptions options) : Write(std::move(writer)), Options(std::move(options)) {}

void TextSink::write(std::string_view text) {
  std::string failure = text.empty() ? std::string() : Write(text);
  if (Failure.empty())
    Failure = std::move(failure);
}

void TextSink::onRace(const Race &race) {
  Races.push_back(race);
  size_t &ofCause = FullOfCause[causeKey(race)];
  if (Full >= Options.fullReports || ofCause >= kMaxFullPerCause)
    return;
  ++Full;
  ++ofCause;
  write(raceText(race, Options));
}

void TextSink::onConfirmation(size_t race, const Confirmation &confirmation) {
  Races.at(race).confirmation = confirmation;
  onMessage(confirmationText(confirmation) + ": " + shortName(Races[race]));
}

void TextSink::onWaitHazard(const WaitHazard &hazard) { write(waitHazardText(hazard, Options)); }

void TextSink::onMessage(std::string_view line) { write("wavesan: " + std::string(line) + "\n"); }

std::string TextSink::onSummary(const Summary &summary) {
  write((Full < Races.size() ? causesText(Races, Options) : std::string()) + summaryText(summary, Options));
  return std::exchange(Failure, {});
}

} // namespace wavesan::report
