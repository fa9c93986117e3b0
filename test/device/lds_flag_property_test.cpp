// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Property: on random programs of a workgroup whose waves synchronise through atomics on LDS, the device runtime names
// the racy bytes of the naive model, in LDS and in global memory, unless it counts a lost record; and never another
// byte.
#include "global_dispatch.h"
#include "workgroup_programs.h"

#include "wavesan/abi/lds_order.h"

#include <cstdlib>
#include <set>

namespace wavesan {
namespace {

using namespace test;
using namespace device;
using Step = WorkgroupStep;

class LdsFlagProperty : public WithLds {
protected:
  alignas(256) static inline uint8_t Global[64];

  struct Outcome {
    RacyBytes racy;
    uint64_t lost = 0, unknown = 0;
  };
  static Outcome run(const WorkgroupProgram &p, bool cellsInLds) {
    static std::vector<char> pool;
    pool.assign(1 << 16, 0x5a);
    uint32_t locks[1] = {};
    Dispatch d(1, p.waves, 64, 8, 5, nullptr, 0, ~0u, [&](abi::DispatchContext &c) {
      c.ldsBytes = WorkgroupProgram::kLdsBytes;
      c.granuleLog2 = p.granuleLog2;
      c.slotPool = uint64_t(pool.data());
      c.slotLocks = uint64_t(locks);
      c.slotCount = 1;
      c.slotBytes = uint32_t(pool.size());
      c.flags = cellsInLds ? abi::kContextCellsInLds : 0;
      c.ldsOrder = 1 + (cellsInLds ? 0 : uint32_t(abi::shadowBytes(c.ldsBytes, c.granuleLog2)));
    });
    std::vector<bool> ended(p.waves);
    const auto running = [&](auto what) {
      for (uint32_t w = 0; w < p.waves; ++w)
        if (!ended[w])
          what(d.wave(0, w));
    };
    for (const Step &s : p.steps) {
      if (s.kind == Step::Barrier) {
        running([&](Dispatch::Wave w) {
          if (s.release)
            w.fence(abi::kFenceRelease, abi::Scope::Workgroup);
          __wavesan_barrier_arrive(w.state(), 0);
        });
        running([&](Dispatch::Wave w) {
          __wavesan_barrier_leave(w.state(), 0);
          if (s.release)
            w.fence(abi::kFenceAcquire, abi::Scope::Workgroup);
        });
        continue;
      }
      if (!ended[s.wave])
        step(d.wave(0, s.wave), s, p.granuleLog2);
      ended[s.wave] = ended[s.wave] || s.kind == Step::End;
    }
    running([&](Dispatch::Wave w) { __wavesan_kernel_end(w.state()); });
    EXPECT_EQ(locks[0], 0u) << "the slot is given back";
    const abi::DispatchCounters &c = d.counters();
    EXPECT_EQ(c.racesDropped + c.outsideShadow + c.generationOverflow + c.outsideBudget, 0u);
    Outcome out{{}, c.historyOverflow, c.orderUnknown};
    for (const abi::RaceRecord &r : d.races())
      for (uint32_t b = 0; b < r.size; ++b)
        if (r.space == uint32_t(abi::RaceSpace::Lds))
          out.racy.lds.insert(uint32_t(r.address) + b);
        else if (r.space == uint32_t(abi::RaceSpace::Global))
          out.racy.global.insert(uint32_t(r.address - uint64_t(Global)) + b);
    return out;
  }
  static void step(Dispatch::Wave w, const Step &s, uint32_t granuleLog2) {
    PrivateState *state = w.state();
    const auto access = [&] {
      s.granules(granuleLog2, [&](uint32_t address, uint32_t info, uint32_t site) {
        if (s.global)
          return __wavesan_global_access(state, Global + address, info, site);
        // As a kernel that orders waves through LDS does.
        __wavesan_check_ordered(address, 0, abi::accessSize(info), state->record, Operation(site, info).bits, 0);
      });
    };
    switch (s.kind) {
    case Step::Plain:
      return access();
    case Step::Atomic:
      if (s.release)
        __wavesan_fence(state, s.fence(true));
      access();
      __wavesan_lds_begin(state->record);
      __wavesan_lds_done(s.address, state->record, s.info(), s.stores());
      if (s.acquire)
        __wavesan_fence(state, s.fence(false));
      return;
    case Step::Fence:
      return __wavesan_fence(state, s.fence(false));
    case Step::Wait:
      return __wavesan_wait(state, abi::waitInfo(abi::kWaitLds | abi::kWaitVmem, 0, 0));
    case Step::End:
      return __wavesan_kernel_end(state);
    case Step::Barrier:
      return;
    }
  }
};

/// Empty if it holds.
std::string violation(const RacyBytes &found, const RacyBytes &expected, uint64_t lost) {
  const auto isIn = [](const std::set<uint32_t> &some, const std::set<uint32_t> &all) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
  };
  if (!isIn(found.lds, expected.lds) || !isIn(found.global, expected.global))
    return "a byte is named that is not racy";
  if (lost == 0 && found != expected)
    return "a racy byte is missed and nothing is counted";
  return {};
}

TEST_F(LdsFlagProperty, DeviceRuntimeAgreesWithTheNaiveModel) {
  const char *count = std::getenv("WAVESAN_PROPERTY_PROGRAMS"), *first = std::getenv("WAVESAN_PROPERTY_SEED");
  const uint64_t programs = count ? strtoull(count, nullptr, 0) : 10000,
                 start = first ? strtoull(first, nullptr, 0) : 1;
  uint64_t racy = 0, clean = 0, overflowed = 0;
  for (uint64_t seed = start; seed < start + programs; ++seed) {
    const bool inLds = seed % 2 != 0;
    const auto wrong = [&](const WorkgroupProgram &q) {
      const Outcome out = run(q, inLds);
      return violation(out.racy, WorkgroupModelOfOrder(q).racy, out.lost + out.unknown);
    };
    const WorkgroupProgram p = generateWorkgroupProgram(seed, {.limitedFences = true});
    if (!wrong(p).empty()) {
      const WorkgroupProgram small =
          shrinkWorkgroupProgram(p, [&](const WorkgroupProgram &q) { return !wrong(q).empty(); });
      FAIL() << wrong(small) << "\nseed " << seed
             << " (WAVESAN_PROPERTY_SEED), model:" << bytesText(WorkgroupModelOfOrder(small).racy)
             << " | runtime:" << bytesText(run(small, inLds).racy) << "\n"
             << small.text();
    }
    (WorkgroupModelOfOrder(p).racy.empty() ? clean : racy) += 1;
    const Outcome out = run(p, inLds);
    overflowed += out.lost != 0;
    EXPECT_EQ(out.unknown, 0u) << "seed " << seed;
  }
  std::printf("seeds %llu..%llu: %llu racy, %llu clean, %llu with counted overflow\n", (unsigned long long)start,
              (unsigned long long)(start + programs - 1), (unsigned long long)racy, (unsigned long long)clean,
              (unsigned long long)overflowed);
  if (programs >= 1000) {
    EXPECT_GT(racy, programs / 20);
    EXPECT_GT(clean, programs / 20);
    EXPECT_LT(overflowed, programs / 4);
  }
}

} // namespace
} // namespace wavesan
