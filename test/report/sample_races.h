// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races for tests of texts and formats.
#ifndef WAVESAN_TEST_SAMPLE_RACES_H
#define WAVESAN_TEST_SAMPLE_RACES_H

#include "wavesan/report/race.h"

#include <string>
#include <utility>
#include <vector>

namespace wavesan::test {

inline constexpr uint32_t R = abi::kAccessRead, W = abi::kAccessWrite, A = abi::kAccessAtomic;

inline report::Access access(uint32_t bits, uint32_t wave, uint32_t lane, std::vector<report::Frame> frames) {
  report::Access a;
  a.bits = bits;
  a.sizeBytes = 4;
  a.wave = wave;
  a.lane = lane;
  a.frames = std::move(frames);
  return a;
}

inline report::Frame at(uint32_t line, uint32_t column, std::string function = "k", std::string file = "app.hip") {
  return {std::move(function), std::move(file), line, column};
}

/// A race in LDS on `tile` in workgroup (1,0,0) whose situation is judged as in production.
inline report::Race race(report::Order order, report::Access current, report::Access previous,
                         report::SourceFacts source = {}) {
  report::Race r;
  r.order = order;
  r.kernel = "k(int*)";
  r.kernelMangled = "_Z1kPi";
  r.dispatch = 3;
  r.ldsFirst = 508;
  r.size = 4;
  r.variable = "tile";
  r.variableOffset = 252;
  r.current = std::move(current);
  r.previous = std::move(previous);
  r.current.workgroup[0] = r.previous.workgroup[0] = 1;
  r.situation = report::judgeSituation(r.current.frames, r.previous.frames, source);
  return r;
}

/// The same in global memory on `out`, in allocation 3, between workgroups (0,0,0) and (1,0,0).
inline report::Race globalRace(report::Order order, report::Access current, report::Access previous) {
  report::Race r = race(order, std::move(current), std::move(previous));
  r.space = abi::RaceSpace::Global;
  r.ldsFirst = 0;
  r.variable = "out";
  r.variableOffset.reset();
  r.place.kind = report::MemoryPlace::Kind::Allocation;
  r.place.number = 3;
  r.place.bytes = 4096;
  r.place.offset = 16;
  r.previous.workgroup[0] = 0;
  return r;
}

/// A copy in stream 2 that reads what a kernel in stream 1 writes.
inline report::Race commandRace() {
  report::Race r = globalRace(report::Order::ReadAfterWrite, access(R, 0, 0, {at(40, 3, "main")}),
                              access(W, 0, 0, {at(8, 13)}));
  r.raceClass = abi::RaceClass::StreamRace;
  r.situation = report::Situation::Unknown;
  r.variable.clear();
  r.size = 4096;
  r.current.sizeBytes = 0;
  r.current.opcode = "hipMemcpyAsync";
  r.current.lane.reset();
  r.previous.lane.reset();
  r.current.workgroup[0] = r.previous.workgroup[0] = 0;
  report::CommandPair &pair = r.commands.emplace();
  pair.current.kind = report::CommandSide::Kind::Copy;
  pair.current.function = "hipMemcpyAsync";
  pair.current.stream = 2;
  pair.current.streamKind = pair.previous.streamKind = "created";
  pair.current.call = {at(40, 3, "main")};
  pair.current.streamMade = {at(11, 3, "main")};
  pair.previous.function = "hipLaunchKernel";
  pair.previous.kernel = "k(int*)";
  pair.previous.dispatch = 3;
  pair.previous.stream = 1;
  pair.previous.call = {at(30, 3, "main")};
  return r;
}

} // namespace wavesan::test

#endif // WAVESAN_TEST_SAMPLE_RACES_H
