// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A document in which every member of the formats occurs.
#ifndef WAVESAN_TEST_SAMPLE_DOCUMENTS_H
#define WAVESAN_TEST_SAMPLE_DOCUMENTS_H

#include "sample_races.h"

#include "wavesan/report/document.h"

namespace wavesan::test {

inline report::Document sampleDocument() {
  using namespace report;
  Document d;
  d.directory = "/src/my app";
  Race lds =
      race(Order::ReadAfterWrite,
           access(R, 0, 0, {at(5, 10, "load<int>", "/src/my app/tile.h"), at(20, 3, "k", "/src/my app/app.hip")}),
           access(W, 1, 63, {at(8, 13, "k", "/src/my app/app.hip")}));
  lds.occurrences = 128;
  lds.bothOrders = true;
  lds.current.opcode = "load";
  lds.current.epoch = 2;
  lds.confirmation = Confirmation{
      .verdict = Confirmation::Verdict::Confirmed, .passes = 16, .asReported = 8, .reversed = 7, .seed = 3};
  lds.confirmation->place = {MemoryPlace::Kind::Allocation, 2, 4096, 128, {}};
  d.races.push_back(lds);
  Race scope = globalRace(Order::WriteAfterWrite, access(R | W | A, 0, 3, {at(12, 3, "k", "/other/a+b.hip")}),
                          access(R | W | A, 2, 3, {}));
  scope.raceClass = abi::RaceClass::ScopeTooSmall;
  scope.neededScope = abi::Scope::Agent;
  scope.current.scope = scope.previous.scope = abi::Scope::Workgroup;
  scope.previous.lane.reset();
  scope.confirmation = Confirmation{.reason = "footprint_budget"};
  scope.variable = "a<b>&\"c\"\xff";
  d.races.push_back(scope);
  WaitHazard wait;
  wait.code = "W01";
  wait.title = "register read before the operation that produces it is complete";
  wait.proven = true;
  wait.kernel = "scale(float*)";
  wait.kernelMangled = "_Z5scalePf";
  wait.target = "gfx90a";
  wait.registers = "v3";
  wait.counter = "vmcnt";
  wait.emittedWait = 1;
  wait.producer = CodePlace{"global_load_dword v3, v[0:1], off", 16, "/src/my app/app.hip", 4, 3};
  wait.consumer = {"v_add_f32_e32 v3, 1.0, v3", 24, "/src/my app/app.hip", 5, 3};
  d.waitHazards.push_back(wait);
  wait.code = "W09";
  wait.title = "data of a wide store overwritten too few instructions later";
  wait.proven = false;
  wait.counter.clear();
  wait.emittedWait.reset();
  wait.sufficientWait = 2;
  wait.producer.reset();
  wait.consumer = {"v_mov_b32_e32 v3, 0", 32, "", 0, 0};
  d.waitHazards.push_back(wait);
  d.messages = {"something about <the tool>"};
  d.summary.checkedAccesses = 1200;
  d.summary.globalAccesses = 200;
  d.summary.kernels = 1;
  d.summary.races = 3;
  d.summary.dispatches = 5;
  d.summary.checkedDispatches = 4;
  d.summary.racesNotPrinted = 1;
  d.summary.errors = 1;
  d.summary.waitObjects = 3;
  d.summary.waitHazards = 2;
  d.summary.waitGaps = 1;
  d.summary.noTwin = {{"vadd(float*)", 1}};
  d.summary.skippedSites = {{"inline asm", 2}};
  d.summary.suppressed = {{"race:known (s.txt:1)", 4}};
  d.summary.unchecked = {{{"big()", "too big"}, 1}};
  return d;
}

/// Work-items of wave 1 end in front of the barrier where those of wave 0 wait.
inline report::Document sampleDivergence() {
  report::Document d;
  report::Race r = race(report::Order::WriteAfterWrite, access(0, 1, 0, {at(12, 5)}), access(0, 0, 0, {at(14, 3)}));
  r.raceClass = abi::RaceClass::EarlyExit;
  r.space = abi::RaceSpace::None;
  r.situation = report::Situation::Unknown;
  r.size = r.ldsFirst = 0;
  r.variable.clear();
  r.variableOffset.reset();
  r.current.sizeBytes = r.previous.sizeBytes = 0;
  r.current.opcode = "end";
  r.previous.opcode = "barrier";
  r.divergence.emplace();
  r.divergence->currentEnds = true;
  r.divergence->previousWaves = 1;
  r.divergence->currentWaves = 2;
  r.divergence->previousLanes = ~uint64_t(0);
  r.divergence->currentLanes = 5;
  r.divergence->branch = {at(12, 5)};
  d.races = {r};
  d.summary.races = d.summary.checkedAccesses = 1;
  return d;
}

} // namespace wavesan::test

#endif // WAVESAN_TEST_SAMPLE_DOCUMENTS_H
