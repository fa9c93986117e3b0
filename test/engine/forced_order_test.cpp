// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two accesses of different waves in a given order; and schedules that the seed perturbs.
#include "engine_fixture.h"

#include <algorithm>
#include <set>

namespace wavesan::cpu::test {
namespace {

constexpr uint64_t kSeeds = 40;

/// Every lane: accesses site 1, then 2; `rounds` times, with a barrier between them if `barriers`.
std::string kernel(int rounds, bool barriers) {
  return R"(
declare void @llvm.amdgcn.s.barrier()
declare void @__wavesan_global_access(ptr addrspace(5), ptr, i32, i32)
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %p = addrspacecast ptr addrspace(1) %out to ptr
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void @__wavesan_global_access(ptr addrspace(5) null, ptr %p, i32 1, i32 1)
  store volatile i32 1, ptr addrspace(1) %out
)" + std::string(barriers ? "  fence syncscope(\"workgroup\") release\n  call void @llvm.amdgcn.s.barrier()\n" : "") +
         R"(
  call void @__wavesan_global_access(ptr addrspace(5) null, ptr %p, i32 1, i32 2)
  store volatile i32 2, ptr addrspace(1) %out
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, )" +
         std::to_string(rounds) + R"(
  br i1 %more, label %loop, label %done
done:
  ret void
})";
}

struct Event {
  uint32_t workgroup, wave, site;
  bool operator==(const Event &) const = default;
};

struct Recorder : NoHooks {
  std::vector<Event> events;
  bool made = false; ///< Outcome::orderMade
  void globalAccess(WaveView &w, LaneMask, const uint64_t *, uint32_t, uint32_t site) override {
    events.push_back({w.workgroup[0], w.wave, site});
  }
  /// Where the n-th such event stands.
  size_t find(Event event, size_t n = 0) const {
    for (size_t i = 0; i < events.size(); ++i)
      if (events[i] == event && n-- == 0)
        return i;
    ADD_FAILURE() << "no event of wave " << event.wave << " at site " << event.site;
    return 0;
  }
};

Recorder record(const std::string &ir, const Size &size, uint64_t seed, const ForcedOrder *forced,
                bool perturb = false) {
  Recorder recorder;
  Options options;
  options.hooks = &recorder;
  options.seed = seed;
  options.forced = forced;
  options.perturb = perturb;
  static int memory;
  recorder.made = runText(ir, size, arguments(&memory), options).orderMade;
  return recorder;
}

using Preference = ForcedOrder::Preference;

ForcedOrder order(Event first, Event second, Preference preference = Preference::None) {
  return {{first.site, {first.workgroup, 0, 0}, first.wave},
          {second.site, {second.workgroup, 0, 0}, second.wave},
          false,
          0,
          0,
          preference};
}

TEST(ForcedOrder, WavesOfOneWorkgroup) {
  const std::string ir = kernel(1, false);
  const Event late{0, 0, 2}, early{0, 1, 1};
  size_t lateFirst = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ForcedOrder against = order(late, early), along = order(early, late);
    const Recorder a = record(ir, linear(256, 256), seed, &against), b = record(ir, linear(256, 256), seed, &along),
                   free = record(ir, linear(256, 256), seed, nullptr);
    EXPECT_LT(a.find(late), a.find(early));
    EXPECT_LT(b.find(early), b.find(late));
    EXPECT_EQ(a.events.size(), 8u);
    EXPECT_TRUE(a.made && b.made && !free.made);
    lateFirst += free.find(late) < free.find(early);
  }
  EXPECT_GT(lateFirst, 0u); // else nothing was forced
  EXPECT_LT(lateFirst, kSeeds);
}

TEST(ForcedOrder, AskedAnewBehindEachBarrier) {
  constexpr int kRounds = 5;
  const std::string ir = kernel(kRounds, true);
  // Between two barriers stand site 2 of one round and site 1 of the next.
  const Event reads{0, 1, 2}, writes{0, 0, 1};
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ForcedOrder against = order(writes, reads), along = order(reads, writes);
    const Recorder a = record(ir, linear(128, 128), seed, &against), b = record(ir, linear(128, 128), seed, &along);
    for (int round = 0; round + 1 < kRounds; ++round) {
      EXPECT_LT(a.find(writes, size_t(round) + 1), a.find(reads, size_t(round)));
      EXPECT_LT(b.find(reads, size_t(round)), b.find(writes, size_t(round) + 1));
    }
  }
}

TEST(ForcedOrder, WhatABarrierForbidsIsNotForced) {
  const std::string ir = kernel(1, true);
  const Event before{0, 0, 1}, behind{0, 1, 2};
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ForcedOrder impossible = order(behind, before);
    const Recorder a = record(ir, linear(128, 128), seed, &impossible);
    EXPECT_LT(a.find(before), a.find(behind));
    EXPECT_FALSE(a.made);
  }
}

TEST(ForcedOrder, AnAccessThatNeverHappensHoldsNobody) {
  const ForcedOrder never = order({0, 0, 77}, {0, 1, 1}), nobody = order({0, 9, 1}, {0, 1, 1}),
                    nowhere = order({55, 0, 1}, {0, 1, 1});
  for (ForcedOrder forced : {never, nobody, nowhere})
    for (const Preference preference : {Preference::None, Preference::First, Preference::Second})
      for (const bool barriers : {false, true}) {
        forced.preference = preference;
        const Recorder r = record(kernel(3, barriers), linear(256, 128), 1, &forced, true);
        EXPECT_EQ(r.events.size(), 24u);
        EXPECT_FALSE(r.made);
      }
}

TEST(ForcedOrder, Workgroups) {
  const std::string ir = kernel(1, false);
  for (uint64_t seed = 1; seed <= kSeeds; ++seed)
    for (const bool perturb : {false, true})
      for (const uint32_t other : {1u, 30u}) {
        const Event a{0, 0, 1}, b{other, 1, 2};
        const ForcedOrder along = order(a, b), against = order(b, a);
        const Size size = linear(40 * 128, 128);
        const Recorder x = record(ir, size, seed, &along, perturb), y = record(ir, size, seed, &against, perturb);
        EXPECT_LT(x.find(a), x.find(b));
        EXPECT_LT(y.find(b), y.find(a));
        EXPECT_TRUE(x.made && y.made);
        EXPECT_EQ(y.events.size(), 160u);
      }
}

/// Every lane goes over eight places: wave 0 upwards with site 1, wave 1 downwards with site 2, no barrier anywhere.
/// `access` gets the address, `end` follows the operands that it needs.
std::string sweeps(const std::string &declaration, const std::string &pointer, const std::string &call,
                   const std::string &end) {
  return R"(
@lds = internal addrspace(3) global [8 x i32] poison
declare i32 @llvm.amdgcn.workitem.id.x()
)" + declaration +
         R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %generic = addrspacecast ptr addrspace(1) %out to ptr
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %wave1 = icmp uge i32 %t, 64
  %site = select i1 %wave1, i32 2, i32 1
  %uniform = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %site)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %down = sub i32 7, %i
  %at = select i1 %wave1, i32 %down, i32 %i
  )" + pointer +
         "\n  " + call + " i32 1025, i32 %uniform" + end + R"()
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 8
  br i1 %more, label %loop, label %done
done:
  ret void
}
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
)";
}

struct PlaceRecorder : NoHooks {
  struct Access {
    uint32_t wave, place;
  };
  std::vector<Access> accesses;
  uint64_t base = 0;
  void note(const WaveView &w, uint64_t address) { accesses.push_back({w.wave, uint32_t((address - base) / 4)}); }
  void globalAccess(WaveView &w, LaneMask, const uint64_t *address, uint32_t, uint32_t) override { note(w, *address); }
  void genericAccess(WaveView &w, LaneMask, const uint64_t *address, uint32_t, uint32_t) override {
    note(w, *address -
                (*address - reinterpret_cast<uint64_t>(w.lds) < w.ldsBytes ? reinterpret_cast<uint64_t>(w.lds) : 0));
  }
  void ldsAccess(WaveView &w, LaneMask, const uint32_t *address, uint32_t, uint32_t, uint32_t) override {
    note(w, *address);
  }
  void globalRange(WaveView &w, LaneMask, const uint64_t *address, const uint64_t *, uint32_t, uint32_t) override {
    note(w, *address);
  }
  size_t find(uint32_t wave, uint32_t place) const {
    for (size_t i = 0; i < accesses.size(); ++i)
      if (accesses[i].wave == wave && accesses[i].place == place)
        return i;
    ADD_FAILURE() << "wave " << wave << " never at " << place;
    return 0;
  }
};

/// A site in a loop is many accesses: the pair is those that touch the bytes.
TEST(ForcedOrder, OnlyAccessesToTheBytesCount) {
  struct Kind {
    const char *name;
    std::string ir;
    bool lds, inMemory;
  };
  const std::string global = "%p = getelementptr i32, ptr %generic, i32 %at",
                    generic = "%l = getelementptr i32, ptr addrspace(3) @lds, i32 %at\n"
                              "  %p = addrspacecast ptr addrspace(3) %l to ptr",
                    local = "%l = getelementptr i32, ptr addrspace(3) @lds, i32 %at\n"
                            "  %p = ptrtoint ptr addrspace(3) %l to i32";
  const Kind kinds[] = {
      {"global",
       sweeps("declare void @__wavesan_global_access(ptr addrspace(5), ptr, i32, i32)", global,
              "call void @__wavesan_global_access(ptr addrspace(5) null, ptr %p,", ""),
       false, true},
      {"global range",
       sweeps("declare void @__wavesan_global_range(ptr addrspace(5), ptr, i64, i32, i32)", global,
              "call void @__wavesan_global_range(ptr addrspace(5) null, ptr %p, i64 4,", ""),
       false, true},
      {"generic, global memory",
       sweeps("declare void @__wavesan_generic_access(ptr addrspace(5), ptr, i32, i32)", global,
              "call void @__wavesan_generic_access(ptr addrspace(5) null, ptr %p,", ""),
       false, true},
      {"generic, LDS",
       sweeps("declare void @__wavesan_generic_access(ptr addrspace(5), ptr, i32, i32)", generic,
              "call void @__wavesan_generic_access(ptr addrspace(5) null, ptr %p,", ""),
       true, false},
      {"LDS",
       sweeps("declare void @__wavesan_lds_access(ptr addrspace(5), i32, i32, i32, i32)", local,
              "call void @__wavesan_lds_access(ptr addrspace(5) null, i32 %p,", ", i32 -1"),
       true, false},
  };
  static uint32_t memory[8];
  for (const Kind &kind : kinds)
    for (uint32_t place = 0; place < 8; ++place)
      for (const uint32_t first : {0u, 1u})
        for (uint64_t seed = 1; seed <= 4; ++seed) {
          SCOPED_TRACE(std::string(kind.name) + ", place " + std::to_string(place) + ", first " +
                       std::to_string(first));
          ForcedOrder forced{{first + 1, {0, 0, 0}, first}, {2 - first, {0, 0, 0}, 1 - first}, kind.lds, 0, 1};
          forced.begin = (kind.inMemory ? reinterpret_cast<uint64_t>(memory) : 0) + 4 * place + 2;
          PlaceRecorder recorder;
          recorder.base = kind.inMemory ? reinterpret_cast<uint64_t>(memory) : 0;
          Options options;
          options.fixedLds = 32;
          options.hooks = &recorder;
          options.seed = seed;
          options.forced = &forced;
          EXPECT_TRUE(runText(kind.ir, linear(128, 128), arguments(&memory[0]), options).orderMade);
          ASSERT_EQ(recorder.accesses.size(), 16u);
          EXPECT_LT(recorder.find(first, place), recorder.find(1 - first, place));
          // Another space, or other bytes: nobody is held, and nothing is said to have come about.
          forced.lds = !kind.lds;
          EXPECT_FALSE(runText(kind.ir, linear(128, 128), arguments(&memory[0]), options).orderMade);
          forced.lds = kind.lds;
          forced.begin += 4 * 8;
          EXPECT_FALSE(runText(kind.ir, linear(128, 128), arguments(&memory[0]), options).orderMade);
        }
}

/// With the same order of the pair, everything else that the two waves do comes in both orders.
TEST(ForcedOrder, PreferenceMovesAllElse) {
  const std::string ir = kernel(3, false);
  for (const uint32_t workgroup : {0u, 1u})
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const Event first{0, 0, 1}, second{workgroup, 1, 1}, firstLast{0, 0, 2}, secondLast{workgroup, 1, 2};
      const ForcedOrder early = order(first, second, Preference::First),
                        late = order(first, second, Preference::Second);
      const Recorder a = record(ir, linear(512, 128), seed, &early, true),
                     b = record(ir, linear(512, 128), seed, &late, true);
      for (const Recorder *r : {&a, &b}) {
        EXPECT_EQ(r->events.size(), 48u);
        EXPECT_LT(r->find(first), r->find(second));
      }
      EXPECT_LT(a.find(firstLast, 2), a.find(second));
      EXPECT_LT(b.find(secondLast, 2), b.find(firstLast));
    }
}

TEST(Perturbation, SeedsDecideTheOrderOfWorkgroups) {
  const std::string ir = kernel(20, false);
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Recorder a = record(ir, linear(8 * 64, 64), seed, nullptr, true),
                   b = record(ir, linear(8 * 64, 64), seed, nullptr, true);
    EXPECT_EQ(a.events, b.events);
    std::vector<uint32_t> ends;
    for (auto it = a.events.rbegin(); it != a.events.rend(); ++it)
      if (std::find(ends.begin(), ends.end(), it->workgroup) == ends.end())
        ends.push_back(it->workgroup);
    EXPECT_EQ(ends.size(), 8u);
    orders.insert(ends);
  }
  EXPECT_GT(orders.size(), kSeeds / 2);
}

} // namespace
} // namespace wavesan::cpu::test
