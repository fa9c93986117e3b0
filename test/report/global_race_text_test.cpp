// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Golden texts of races in global memory.
#include "sample_races.h"

#include "wavesan/report/text_sink.h"

#include <gtest/gtest.h>

using namespace wavesan::report;
using namespace wavesan::test;
using wavesan::abi::RaceClass;
using wavesan::abi::Scope;

namespace {
std::string text(const Race &r) { return raceText(r, TextOptions{}); }

void inOneWorkgroup(Race &r) { r.previous.workgroup[0] = r.current.workgroup[0]; }
} // namespace

TEST(GlobalRaceText, BetweenWorkgroups) {
  Race r = globalRace(Order::ReadAfterWrite, access(R, 0, 3, {at(12, 3)}), access(W, 1, 3, {at(9, 3)}));
  EXPECT_EQ(text(r),
            "wavesan: race: global memory write-read (read after write) on `out`, 4 bytes at allocation 3 (4096 bytes) "
            "+ 16\n"
            "  kernel k(int*), dispatch 3, wave size 64\n"
            "  read  of 4 bytes by workgroup (1,0,0) wave 0 lane 3 at app.hip:12:3 in k\n"
            "  write of 4 bytes by workgroup (0,0,0) wave 1 lane 3 at app.hip:9:3 in k\n"
            "  no order between workgroups of one dispatch: workgroups (0,0,0) and (1,0,0) may execute these in either "
            "order\n"
            "  fix: use an atomic, or end the kernel between the two, or release/acquire through a flag with agent "
            "scope (__threadfence() "
            "directly before it is set and after it is seen, in the work-items that do so)\n"
            "  seen 1 time\n");
}

TEST(GlobalRaceText, InsideAWorkgroup) {
  Race r = globalRace(Order::ReadAfterWrite, access(R, 0, 3, {at(12, 3)}), access(W, 1, 3, {at(9, 3)}));
  inOneWorkgroup(r);
  r.previous.lane.reset();
  EXPECT_EQ(text(r),
            "wavesan: race: global memory write-read (read after write) on `out`, 4 bytes at allocation 3 (4096 bytes) "
            "+ 16\n"
            "  kernel k(int*), dispatch 3, workgroup (1,0,0), wave size 64\n"
            "  read  of 4 bytes by wave 0 lane 3 at app.hip:12:3 in k\n"
            "  write of 4 bytes by wave 1 lane ? at app.hip:9:3 in k\n"
            "  no barrier between them: waves 0 and 1 may execute these in either order\n"
            "  fix: put __syncthreads() between line 9 and line 12\n"
            "  seen 1 time\n");
}

TEST(GlobalRaceText, AtomicAgainstPlainBetweenWorkgroups) {
  Race r = globalRace(Order::WriteAfterWrite, access(R | W | A, 0, 3, {at(12, 3)}), access(W, 0, 3, {at(9, 3)}));
  std::string t = text(r);
  EXPECT_EQ(t.find("wavesan: race: global memory plain write against atomic on `out`, "), 0u) << t;
  EXPECT_NE(t.find("  one side is atomic, the other is not, and there is no order between workgroups of one dispatch: "
                   "workgroups (0,0,0) and (1,0,0) may execute these in either order\n"
                   "  fix: make both accesses atomic, or end the kernel between the two, or release/acquire through a "
                   "flag with agent scope (__threadfence() "
                   "directly before it is set and after it is seen, in the work-items that do so)\n"),
            std::string::npos)
      << t;
}

TEST(GlobalRaceText, OneLineOfAllWorkgroups) {
  Race r = globalRace(Order::WriteAfterWrite, access(W, 0, 0, {at(7, 9)}), access(W, 0, 0, {at(7, 9)}));
  EXPECT_NE(text(r).find("  fix: use an atomic, or give every workgroup its own element, or end the kernel between the "
                         "two, or release/acquire through a flag with agent scope (__threadfence() "
                         "directly before it is set and after it is seen, in the work-items that do so)\n"),
            std::string::npos)
      << text(r);
}

// `a[i] = f(a[i + 1])` for all workgroups.
TEST(GlobalRaceText, OneLineThatReadsWhatAnotherWorkgroupWrites) {
  Race r = globalRace(Order::WriteAfterRead, access(W, 0, 0, {at(7, 9)}), access(R, 0, 0, {at(7, 15)}));
  r.situation = Situation::SameLine;
  EXPECT_NE(
      text(r).find("  fix: use an atomic, or write to another array than the one that is read, or end the kernel "),
      std::string::npos)
      << text(r);
}

TEST(GlobalRaceText, ScopeTooSmallNamesTheScopeThatWouldDo) {
  Race r =
      globalRace(Order::WriteAfterWrite, access(R | W | A, 0, 3, {at(12, 3)}), access(R | W | A, 0, 3, {at(9, 3)}));
  r.raceClass = RaceClass::ScopeTooSmall;
  r.neededScope = Scope::Agent;
  r.current.scope = Scope::Workgroup;
  r.previous.scope = Scope::Agent;
  std::string t = text(r);
  EXPECT_EQ(t.find("wavesan: scope-too-small: global memory atomic against atomic on `out`, "), 0u) << t;
  EXPECT_NE(t.find("  both are atomic, but at workgroup scope, which does not include both workgroups (0,0,0) "
                   "and (1,0,0)\n"
                   "  fix: use __HIP_MEMORY_SCOPE_AGENT / __threadfence() instead of workgroup scope\n"),
            std::string::npos)
      << t;
}

TEST(GlobalRaceText, ScopeOfTheSynchronisationUnknown) {
  // Two plain accesses, ordered by atomics elsewhere.
  Race r = globalRace(Order::ReadAfterWrite, access(R, 0, 3, {at(12, 3)}), access(W, 1, 3, {at(9, 3)}));
  r.raceClass = RaceClass::ScopeTooSmall;
  r.neededScope = Scope::Agent;
  std::string t = text(r);
  EXPECT_NE(
      t.find("  the two are synchronised, but at a scope that is too small, which does not include both workgroups "
             "(0,0,0) and (1,0,0)\n"
             "  fix: use __HIP_MEMORY_SCOPE_AGENT / __threadfence() instead of a smaller scope\n"),
      std::string::npos)
      << t;
  inOneWorkgroup(r);
  r.neededScope = Scope::Workgroup;
  t = text(r);
  EXPECT_NE(t.find("which does not include both waves 1 and 0\n"
                   "  fix: use __HIP_MEMORY_SCOPE_WORKGROUP / __threadfence_block() instead of a smaller scope\n"),
            std::string::npos)
      << t;
}

TEST(GlobalRaceText, MissingFenceInsideAWorkgroup) {
  Race r = globalRace(Order::ReadAfterWrite, access(R, 0, 0, {at(12, 3)}), access(W, 1, 0, {at(9, 3)}));
  inOneWorkgroup(r);
  r.raceClass = RaceClass::MissingFence;
  std::string t = text(r);
  EXPECT_EQ(t.find("wavesan: missing-fence: global memory write-read (read after write) on `out`"), 0u) << t;
  EXPECT_NE(t.find("  fix: use __syncthreads() between line 9 and line 12, or a workgroup release fence"),
            std::string::npos)
      << t;
}

TEST(GlobalRaceText, Places) {
  Race r = globalRace(Order::ReadAfterWrite, access(R, 0, 3, {at(12, 3)}), access(W, 1, 3, {at(9, 3)}));
  auto place = [&] {
    std::string t = text(r);
    size_t begin = t.find(", 4 bytes at ");
    return t.substr(begin, t.find('\n') - begin);
  };
  r.place.kind = MemoryPlace::Kind::RegisteredHost;
  EXPECT_EQ(place(), ", 4 bytes at registered host memory 3 (4096 bytes) + 16");
  r.place.kind = MemoryPlace::Kind::KernelArguments;
  EXPECT_EQ(place(), ", 4 bytes at kernel argument memory 3 (4096 bytes) + 16");
  r.place = {};
  EXPECT_EQ(place(), ", 4 bytes at an unknown offset"); // in `out`
  r.variable.clear();
  EXPECT_EQ(place(), ", 4 bytes at a place outside the memory that WaveSan follows");
  r.place.kind = MemoryPlace::Kind::DeviceVariable;
  r.place.name = "table";
  r.place.bytes = 64;
  r.place.offset = 8;
  r.variable.clear();
  EXPECT_EQ(place(), ", 4 bytes at table+8 (__device__ variable, 64 bytes)");
  EXPECT_NE(text(r).find(" on `table`, "), std::string::npos) << text(r);
}

TEST(GlobalRaceText, NoWaveSizeNoteBetweenWorkgroups) {
  Race r = globalRace(Order::ReadAfterWrite, access(R, 0, 3, {at(12, 3)}), access(W, 1, 3, {at(9, 3)}));
  r.waveSize = 32;
  EXPECT_EQ(text(r).find("lockstep"), std::string::npos);
  inOneWorkgroup(r);
  EXPECT_NE(text(r).find("lockstep"), std::string::npos);
}
