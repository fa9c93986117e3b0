// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Property: on random programs of a workgroup whose waves synchronise through atomics on LDS, the native hooks name the
// racy bytes of the naive model, unless they count a lost record; and never another byte.
#include "native_hooks_fixture.h"
#include "workgroup_programs.h"

#include <cstdlib>

namespace wavesan::cpu {
namespace {

using namespace test;
using Step = WorkgroupStep;

class LdsFlagProperty : public NativeHooksTest {
protected:
  LdsFlagProperty() { Capacity = 4096; }
  alignas(64) static inline uint8_t Global[64];

  RacyBytes run(const WorkgroupProgram &p, uint64_t &lost) {
    Data = nullptr;
    if (Dispatch)
      Hooks->dispatchEnd(std::exchange(Dispatch, nullptr));
    start(p.waves, p.granuleLog2);
    GranuleLog2 = p.granuleLog2;
    std::vector<bool> ended(p.waves);
    const auto running = [&](auto what) {
      for (uint32_t w = 0; w < p.waves; ++w)
        if (!ended[w])
          with(w, what);
    };
    for (const Step &s : p.steps) {
      if (s.kind == Step::Barrier) {
        constexpr uint32_t both = abi::kFenceLds | abi::kFenceGlobal;
        running([&](WaveView &v) {
          if (s.release)
            Hooks->fence(v, 1, abi::fenceInfo(abi::kFenceRelease | both, abi::Scope::Workgroup));
          Hooks->barrierArrive(v, ~0ull, 0);
        });
        running([&](WaveView &v) {
          Hooks->barrierLeave(v, ~0ull, 0);
          if (s.release)
            Hooks->fence(v, 1, abi::fenceInfo(abi::kFenceAcquire | both, abi::Scope::Workgroup));
        });
        continue;
      }
      if (!ended[s.wave])
        with(s.wave, [&](WaveView &v) { step(v, s); });
      ended[s.wave] = ended[s.wave] || s.kind == Step::End;
    }
    running([&](WaveView &v) { Hooks->kernelEnd(v, ~0ull); });
    Hooks->workgroupEnd(Data);
    Data = nullptr;
    EXPECT_EQ(Counters.orderUnknown + Counters.racesDropped + Counters.outsideShadow, 0u);
    lost = Counters.historyOverflow;
    RacyBytes racy;
    for (const abi::RaceRecord &r : races())
      for (uint32_t b = 0; b < r.size; ++b)
        if (r.space == uint32_t(abi::RaceSpace::Lds))
          racy.lds.insert(uint32_t(r.address) + b);
        else if (r.space == uint32_t(abi::RaceSpace::Global))
          racy.global.insert(uint32_t(r.address - uint64_t(Global)) + b);
    return racy;
  }
  uint32_t GranuleLog2 = 0;
  void step(WaveView &v, const Step &s) {
    const auto access = [&] {
      s.granules(GranuleLog2, [&](uint32_t address, uint32_t info, uint32_t site) {
        const uint32_t offset[64] = {address};
        const uint64_t flat[64] = {uint64_t(Global) + address};
        if (s.global)
          Hooks->globalAccess(v, 1, flat, info, site);
        else
          Hooks->ldsAccess(v, 1, offset, info, site, 0);
      });
    };
    const uint64_t flat[64] = {uint64_t(Lds.data()) + s.address};
    switch (s.kind) {
    case Step::Plain:
      return access();
    case Step::Atomic:
      if (s.release)
        Hooks->fence(v, 1, s.fence(true));
      access();
      Hooks->atomicDone(v, 1, flat, s.info(), s.site, s.stores());
      if (s.acquire)
        Hooks->fence(v, 1, s.fence(false));
      return;
    case Step::Fence:
      return Hooks->fence(v, 1, s.fence(false));
    case Step::Wait:
      return Hooks->wait(v, 1, abi::waitInfo(abi::kWaitLds | abi::kWaitVmem, 0, 0));
    case Step::End:
      return Hooks->kernelEnd(v, ~0ull);
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

TEST_F(LdsFlagProperty, NativeHooksAgreeWithTheNaiveModel) {
  const char *count = std::getenv("WAVESAN_PROPERTY_PROGRAMS"), *first = std::getenv("WAVESAN_PROPERTY_SEED");
  const uint64_t programs = count ? strtoull(count, nullptr, 0) : 100000,
                 start = first ? strtoull(first, nullptr, 0) : 1;
  uint64_t racy = 0, clean = 0, overflowed = 0;
  for (uint64_t seed = start; seed < start + programs; ++seed) {
    const WorkgroupProgram p = generateWorkgroupProgram(seed, {.limitedFences = true});
    uint64_t lost = 0;
    const auto wrong = [&](const WorkgroupProgram &q) {
      const RacyBytes found = run(q, lost);
      return violation(found, WorkgroupModelOfOrder(q).racy, lost);
    };
    if (!wrong(p).empty()) {
      const WorkgroupProgram small =
          shrinkWorkgroupProgram(p, [&](const WorkgroupProgram &q) { return !wrong(q).empty(); });
      FAIL() << wrong(small) << "\nseed " << seed
             << " (WAVESAN_PROPERTY_SEED), model:" << bytesText(WorkgroupModelOfOrder(small).racy)
             << " | hooks:" << bytesText(run(small, lost)) << "\n"
             << small.text();
    }
    (WorkgroupModelOfOrder(p).racy.empty() ? clean : racy) += 1;
    overflowed += lost != 0;
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
} // namespace wavesan::cpu
