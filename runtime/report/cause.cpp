// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/cause.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace wavesan::report {

namespace {

/// What the report calls the object, without its offset.
std::string objectKey(const Race &race) {
  if (!race.variable.empty())
    return race.variable;
  if (race.space == abi::RaceSpace::Lds)
    return {};
  return std::to_string(int(race.place.kind)) + "#" + std::to_string(race.place.number) + "#" + race.place.name;
}

/// The side's place in the user's code, for a stable order.
auto positionOf(const Access &access) {
  if (access.frames.empty())
    return std::make_tuple(std::string(), 0u, 0u);
  const Frame &frame = access.frames[userFrame(access.frames)];
  return std::make_tuple(frame.file, frame.line, frame.column);
}

uint64_t saturatingSum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

} // namespace

std::string causeKey(const Race &race) {
  return race.kernelMangled + '\n' + race.kernel + '\n' + std::to_string(int(race.severity)) +
         std::to_string(uint32_t(race.raceClass)) + std::to_string(uint32_t(race.space)) +
         std::to_string(int(race.situation)) + (race.betweenWorkgroups() ? 'g' : 'w') +
         (race.atomicAgainstPlain() ? 'm' : '-') + '\n' + objectKey(race);
}

std::string missingText(const Race &race) {
  if (race.raceClass == abi::RaceClass::BarrierDivergence)
    return "work-items reach different barriers";
  if (race.raceClass == abi::RaceClass::EarlyExit)
    return "work-items end while others wait at a barrier";
  if (race.raceClass == abi::RaceClass::LaneConflict)
    return "lanes of one store write different values";
  if (race.raceClass == abi::RaceClass::MissingFence)
    return "barrier without fence";
  if (race.raceClass == abi::RaceClass::ScopeTooSmall)
    return "scope too small";
  if (race.raceClass == abi::RaceClass::MissingWait)
    return "no wait";
  if (race.raceClass == abi::RaceClass::StreamRace)
    return "no order between streams";
  if (race.raceClass == abi::RaceClass::HostRace)
    return "the host does not wait";
  if (race.raceClass == abi::RaceClass::WaveOrder)
    return "no order between arms of a branch";
  std::string text = race.betweenWorkgroups()                      ? "no order between workgroups"
                     : race.situation == Situation::LoopCarried    ? "no barrier between iterations"
                     : race.situation == Situation::BarrierSkipped ? "barrier in a branch"
                     : race.situation == Situation::SameLine       ? "no order within one line"
                                                                   : "no barrier";
  return race.atomicAgainstPlain() ? text + ", atomic against plain" : text;
}

std::string objectText(const Race &race) {
  if (!race.variable.empty())
    return "`" + race.variable + "`";
  if (race.space == abi::RaceSpace::None)
    return "no memory";
  if (race.space == abi::RaceSpace::Lds)
    return "LDS of unknown name";
  switch (race.place.kind) {
  case MemoryPlace::Kind::Allocation:
    return "allocation " + std::to_string(race.place.number);
  case MemoryPlace::Kind::RegisteredHost:
    return "registered host memory " + std::to_string(race.place.number);
  case MemoryPlace::Kind::KernelArguments:
    return "kernel argument memory " + std::to_string(race.place.number);
  case MemoryPlace::Kind::DeviceVariable:
    return "`" + race.place.name + "`";
  case MemoryPlace::Kind::Unknown:
    break;
  }
  return "global memory of unknown name";
}

std::vector<Cause> groupByCause(const std::vector<Race> &races) {
  std::vector<Cause> causes;
  std::map<std::string, size_t> index;
  for (size_t i = 0; i < races.size(); ++i) {
    Cause &cause = [&]() -> Cause & {
      auto [it, isNew] = index.try_emplace(causeKey(races[i]), causes.size());
      if (isNew)
        causes.emplace_back();
      return causes[it->second];
    }();
    cause.races.push_back(i);
    cause.occurrences = saturatingSum(cause.occurrences, races[i].occurrences);
  }
  for (Cause &cause : causes) {
    auto speaker = std::max_element(cause.races.begin(), cause.races.end(), [&](size_t a, size_t b) {
      return races[a].occurrences < races[b].occurrences; // the first of equals
    });
    std::rotate(cause.races.begin(), speaker, speaker + 1);
  }
  auto rank = [&](const Cause &cause) {
    const Race &first = races[cause.races.front()];
    return std::make_tuple(first.severity, uint32_t(first.raceClass), UINT64_MAX - uint64_t(cause.races.size()),
                           UINT64_MAX - cause.occurrences, first.kernel, positionOf(first.current),
                           positionOf(first.previous), objectKey(first));
  };
  std::sort(causes.begin(), causes.end(), [&](const Cause &a, const Cause &b) { return rank(a) < rank(b); });
  return causes;
}

} // namespace wavesan::report
