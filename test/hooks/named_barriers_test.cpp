// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What named barriers order, by the hooks alone.
#include "named_barrier_order.h"
#include "native_hooks_fixture.h"

namespace wavesan::cpu {
namespace {

using abi::NamedBarrierOperation;
constexpr uint32_t kWrite = abi::kAccessWrite, kRead = abi::kAccessRead;

class NamedBarrierHooks : public NativeHooksTest {
protected:
  void named(uint32_t wave, NamedBarrierOperation what, uint32_t barrier, uint64_t phase) {
    with(wave, [&](WaveView &v) { Hooks->namedBarrier(v, ~0ull, what, barrier, phase); });
  }
  void signal(uint32_t wave, uint32_t barrier, uint64_t phase) {
    named(wave, NamedBarrierOperation::Signal, barrier, phase);
  }
  void wait(uint32_t wave, uint32_t barrier, uint64_t phase) {
    named(wave, NamedBarrierOperation::Wait, barrier, phase);
  }
  void fence(uint32_t wave) {
    with(wave, [&](WaveView &v) {
      Hooks->fence(v, ~0ull,
                   abi::fenceInfo(abi::kFenceRelease | abi::kFenceAcquire | abi::kFenceLds | abi::kFenceGlobal,
                                  abi::Scope::Workgroup));
    });
  }
  std::vector<abi::RaceClass> classes() {
    std::vector<abi::RaceClass> all;
    for (const abi::RaceRecord &r : races())
      all.push_back(abi::RaceClass(r.raceClass));
    return all;
  }
  alignas(64) int Memory[64];
};

using Classes = std::vector<abi::RaceClass>;

TEST_F(NamedBarrierHooks, OrderWhoWaitsBehindWhoSignalled) {
  start(2);
  access(0, kWrite, 1);
  global(0, kWrite, 2, Memory);
  fence(0);
  signal(0, 3, 1);
  wait(1, 3, 1);
  access(1, kRead, 3);
  global(1, kWrite, 4, Memory);
  EXPECT_TRUE(races().empty());
  // Not the other way round: wave 0 has not waited.
  access(0, kWrite, 5);
  EXPECT_EQ(classes(), Classes{abi::RaceClass::Race});
  finish();
}

TEST_F(NamedBarrierHooks, OrderNobodyElse) {
  start(3);
  access(0, kWrite, 1);
  fence(0);
  signal(0, 1, 1);
  signal(2, 2, 1);
  wait(1, 2, 1); // of another barrier
  access(1, kRead, 3);
  EXPECT_EQ(classes(), Classes{abi::RaceClass::Race});
  finish();
}

TEST_F(NamedBarrierHooks, OrderTransitively) {
  start(3);
  access(0, kWrite, 1);
  fence(0);
  signal(0, 1, 1);
  wait(1, 1, 1);
  signal(1, 2, 1);
  wait(2, 2, 1);
  access(2, kWrite, 3);
  EXPECT_TRUE(races().empty());
  finish();
}

TEST_F(NamedBarrierHooks, CompleteNoAccess) {
  start(2);
  access(0, kWrite, 1);
  global(0, kWrite, 2, Memory);
  signal(0, 1, 1);
  wait(1, 1, 1);
  access(1, kRead, 3);
  global(1, kWrite, 4, Memory);
  EXPECT_EQ(classes(), (Classes{abi::RaceClass::MissingFence, abi::RaceClass::MissingFence}));
  finish();
}

TEST_F(NamedBarrierHooks, OrderByTheirPhase) {
  start(2);
  access(0, kWrite, 1);
  fence(0);
  signal(0, 1, 1);
  access(0, kWrite, 2, 4, ~0ull, 256);
  fence(0);
  signal(0, 1, 2);
  wait(1, 1, 1); // whatever has been signalled since
  access(1, kRead, 3);
  EXPECT_TRUE(races().empty());
  access(1, kRead, 4, 4, ~0ull, 256);
  EXPECT_EQ(classes(), Classes{abi::RaceClass::Race});
  wait(1, 1, 2);
  access(1, kRead, 5, 4, ~0ull, 256);
  EXPECT_EQ(classes().size(), 1u);
  finish();
}

TEST_F(NamedBarrierHooks, LeavingCounts) {
  start(2);
  access(0, kWrite, 1);
  fence(0);
  named(0, NamedBarrierOperation::Leave, 1, 1);
  wait(1, 1, 1);
  access(1, kWrite, 2);
  EXPECT_TRUE(races().empty());
  finish();
}

TEST_F(NamedBarrierHooks, InitialisingDropsWhatWasSignalled) {
  start(3);
  access(0, kWrite, 1);
  fence(0);
  signal(0, 1, 1);
  named(2, NamedBarrierOperation::Init, 1, 1);
  signal(2, 1, 1);
  wait(1, 1, 1);
  access(1, kWrite, 2);
  EXPECT_EQ(classes(), Classes{abi::RaceClass::Race});
  finish();
}

// Phases that nobody waits for are not kept for ever. What they order is unknown then, and said to be.
TEST_F(NamedBarrierHooks, ForgottenPhasesAreCounted) {
  start(2);
  access(0, kWrite, 1);
  fence(0);
  for (uint64_t phase = 1; phase <= NamedBarrierOrder::kKept + 1; ++phase)
    signal(0, 1, phase);
  wait(1, 1, 1);
  access(1, kWrite, 2);
  EXPECT_TRUE(races().empty());
  finish();
  EXPECT_EQ(Counters.orderUnknown, 1u);
}

} // namespace
} // namespace wavesan::cpu
