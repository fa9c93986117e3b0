// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/race.h"

#include "wavesan/abi/system_files.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>

namespace wavesan::report {

CommonFunction commonFunction(const std::vector<Frame> &current, const std::vector<Frame> &previous) {
  // Walk from the kernel inwards while both sides are inside the same call.
  CommonFunction common;
  size_t depth = std::min(current.size(), previous.size());
  for (size_t i = 1; i <= depth; ++i) {
    const Frame &c = current[current.size() - i];
    const Frame &p = previous[previous.size() - i];
    if (c.function != p.function || c.file != p.file)
      break;
    common = {&c, &p};
    if (c.line != p.line || c.column != p.column)
      break;
  }
  return common;
}

/// Which of two positions the text of the program has first: negative: `a`; positive: `b`; 0: neither, or not known.
static int textOrder(const std::vector<Frame> &a, const std::vector<Frame> &b) {
  CommonFunction common = commonFunction(a, b);
  if (!common.current || common.current->line == 0 || common.previous->line == 0)
    return 0;
  auto position = [](const Frame &f) { return std::pair(f.line, f.column); };
  if (common.current->line == common.previous->line && (common.current->column == 0 || common.previous->column == 0))
    return 0;
  return position(*common.current) < position(*common.previous)   ? -1
         : position(*common.previous) < position(*common.current) ? 1
                                                                  : 0;
}

/// A loop contains both sides: in the function in which they part, or around a call that both are inside of.
static bool inOneLoop(const std::vector<Frame> &current, const std::vector<Frame> &previous,
                      const std::vector<SourceLoop> &loops) {
  CommonFunction common = commonFunction(current, previous);
  const size_t depth = current.size() - size_t(common.current - current.data());
  for (size_t i = 1; i <= depth; ++i) {
    const Frame &c = current[current.size() - i], &p = previous[previous.size() - i];
    if (std::any_of(loops.begin(), loops.end(), [&](const SourceLoop &loop) {
          auto contains = [&](uint32_t line) { return loop.first <= line && line <= loop.last; };
          return loop.function == c.function && loop.file == c.file && contains(c.line) && contains(p.line);
        }))
      return true;
  }
  return false;
}

Situation judgeSituation(const std::vector<Frame> &current, const std::vector<Frame> &previous,
                         const SourceFacts &source) {
  CommonFunction common = commonFunction(current, previous);
  if (!common.current || common.current->line == 0 || common.previous->line == 0)
    return Situation::Unknown;
  if (common.current->line == common.previous->line)
    return Situation::SameLine;
  const bool downwards = common.previous->line < common.current->line;
  const std::vector<Frame> &upper = downwards ? previous : current, &lower = downwards ? current : previous;
  if (std::none_of(source.barriers.begin(), source.barriers.end(), [&](const std::vector<Frame> &barrier) {
        return textOrder(upper, barrier) < 0 && textOrder(barrier, lower) < 0;
      }))
    return Situation::StraightLine;
  return inOneLoop(current, previous, source.loops) ? Situation::LoopCarried : Situation::BarrierSkipped;
}

bool inProgramOrder(const Race &race) {
  CommonFunction common = commonFunction(race.current.frames, race.previous.frames);
  if (!common.current || common.current->line == common.previous->line)
    return true;
  bool downwards = common.previous->line < common.current->line;
  return race.situation == Situation::LoopCarried ? !downwards : race.situation != Situation::StraightLine || downwards;
}

std::string accessText(uint32_t bits) {
  bool read = bits & abi::kAccessRead, write = bits & abi::kAccessWrite, atomic = bits & abi::kAccessAtomic;
  std::string text = read && write ? "read-modify-write" : write ? "write" : read ? "read" : "access";
  return atomic ? "atomic " + text : text;
}

std::string severityPrefix(Severity severity) {
  return severity == Severity::Error ? "" : severity == Severity::Warning ? "warning: " : "note: ";
}

uint64_t countOf(const std::vector<Race> &races, Severity severity) {
  return uint64_t(std::count_if(races.begin(), races.end(), [&](const Race &r) { return r.severity == severity; }));
}

std::string className(abi::RaceClass c) {
  switch (c) {
  case abi::RaceClass::Race:
    return "race";
  case abi::RaceClass::MissingFence:
    return "missing-fence";
  case abi::RaceClass::ScopeTooSmall:
    return "scope-too-small";
  case abi::RaceClass::BarrierDivergence:
    return "barrier-divergence";
  case abi::RaceClass::EarlyExit:
    return "early-exit";
  case abi::RaceClass::LaneConflict:
    return "lane-conflict";
  case abi::RaceClass::MissingWait:
    return "missing-wait";
  case abi::RaceClass::StreamRace:
    return "stream-race";
  case abi::RaceClass::HostRace:
    return "host-race";
  case abi::RaceClass::WaveOrder:
    return "wave-order-dependent";
  }
  return "unknown-class";
}

std::string scopeName(abi::Scope scope) {
  switch (scope) {
  case abi::Scope::SingleThread:
    return "single-thread";
  case abi::Scope::Wavefront:
    return "wavefront";
  case abi::Scope::Workgroup:
    return "workgroup";
  case abi::Scope::Cluster:
    return "cluster";
  case abi::Scope::Agent:
    return "agent";
  case abi::Scope::System:
    return "system";
  }
  return "unknown";
}

std::string workgroupText(const uint32_t (&workgroup)[3]) {
  return "(" + std::to_string(workgroup[0]) + "," + std::to_string(workgroup[1]) + "," + std::to_string(workgroup[2]) +
         ")";
}

bool isSystemFile(const std::string &file) { return abi::isSystemFile(file); }

size_t userFrame(const std::vector<Frame> &frames) {
  for (size_t i = 0; i < frames.size(); ++i)
    if (!isSystemFile(frames[i].file))
      return i;
  return 0;
}

std::string demangle(const std::string &name) {
  if (name.compare(0, 2, "_Z") != 0)
    return name;
  int status = 0;
  char *text = ::abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text ? text : name;
  std::free(text);
  return out;
}

} // namespace wavesan::report
