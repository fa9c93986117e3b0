// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named barriers: their state by itself, and kernels that use them.
#include "named_barriers.h"

#include "engine_fixture.h"

namespace wavesan::cpu::test {
namespace {

using engine::NamedBarriers;
using Member = NamedBarriers::Member;

TEST(NamedBarriers, AddressesAreThoseOfTheBackend) {
  EXPECT_EQ(NamedBarriers::addressOf(1), 0x802010u);
  EXPECT_EQ(NamedBarriers::numberOf(0x802010), 1u);
  EXPECT_EQ(NamedBarriers::numberOf(NamedBarriers::addressOf(16)), 16u);
  for (uint32_t other : {0u, 16u, 0x802000u, 0x802011u, 0x802110u + 0x10u, 0xffffffffu})
    EXPECT_EQ(NamedBarriers::numberOf(other), 0u) << other;
}

TEST(NamedBarriers, SignalsCompleteAPhase) {
  NamedBarriers b;
  Member m;
  EXPECT_FALSE(b.init(1, 2));
  EXPECT_FALSE(b.join(m, 1));
  EXPECT_EQ(b.nextPhase(1), 1u);
  EXPECT_FALSE(b.signal(1, 0));
  EXPECT_FALSE(b.wait(m));
  EXPECT_TRUE(m.waits());
  EXPECT_EQ(b.describe(m, {"full"}), "named barrier `full`: 1 of 2 signals");
  EXPECT_FALSE(b.signal(1, 0));
  EXPECT_TRUE(b.passed(m));
  EXPECT_EQ(m.waited, 1u);
  EXPECT_EQ(b.nextPhase(1), 2u);
  EXPECT_EQ(b.completions(), 1u);
}

TEST(NamedBarriers, WaitsTakePhasesSinceTheJoinInTheirOrder) {
  NamedBarriers b;
  Member early, late;
  EXPECT_FALSE(b.init(3, 1));
  EXPECT_FALSE(b.join(early, 3));
  EXPECT_FALSE(b.signal(3, 0));
  EXPECT_FALSE(b.signal(3, 0));
  EXPECT_FALSE(b.join(late, 3)); // behind both phases
  for (uint64_t phase : {1, 2}) {
    EXPECT_FALSE(b.wait(early));
    EXPECT_FALSE(early.waits());
    EXPECT_EQ(early.waited, phase);
  }
  EXPECT_FALSE(b.wait(late));
  EXPECT_TRUE(late.waits());
  EXPECT_FALSE(b.signal(3, 0));
  EXPECT_TRUE(b.passed(late));
}

TEST(NamedBarriers, BarriersAreApart) {
  NamedBarriers b;
  Member m;
  EXPECT_FALSE(b.init(1, 1));
  EXPECT_FALSE(b.init(2, 1));
  EXPECT_FALSE(b.join(m, 1));
  EXPECT_FALSE(b.signal(2, 0));
  EXPECT_FALSE(b.wait(m));
  EXPECT_TRUE(m.waits());
  EXPECT_FALSE(b.passed(m));
}

TEST(NamedBarriers, LeavingLowersWhatIsExpected) {
  NamedBarriers b;
  Member stays, leaves;
  EXPECT_FALSE(b.init(1, 3));
  EXPECT_FALSE(b.join(stays, 1));
  EXPECT_FALSE(b.join(leaves, 1));
  EXPECT_FALSE(b.signal(1, 0));
  EXPECT_FALSE(b.wait(stays));
  EXPECT_FALSE(b.signal(1, 0));
  EXPECT_FALSE(b.passed(stays));
  EXPECT_FALSE(b.leave(leaves)); // two of two now
  EXPECT_TRUE(b.passed(stays));
  EXPECT_EQ(leaves.barrier, 0u);
  EXPECT_TRUE(b.wait(leaves)); // has joined none any more
  EXPECT_TRUE(b.leave(leaves));
  EXPECT_FALSE(b.signal(1, 0));
  EXPECT_EQ(b.nextPhase(1), 2u);
  EXPECT_FALSE(b.signal(1, 0));
  EXPECT_EQ(b.nextPhase(1), 3u);
}

TEST(NamedBarriers, InitialisingForgetsSignals) {
  NamedBarriers b;
  EXPECT_FALSE(b.init(1, 2));
  EXPECT_FALSE(b.signal(1, 0));
  EXPECT_FALSE(b.init(1, 2));
  EXPECT_FALSE(b.signal(1, 0));
  EXPECT_EQ(b.nextPhase(1), 1u);
  EXPECT_FALSE(b.signal(1, 0));
  EXPECT_EQ(b.nextPhase(1), 2u);
}

TEST(NamedBarriers, SignalsCanSetTheCount) {
  NamedBarriers b;
  EXPECT_FALSE(b.signal(5, 2)); // in place of an init
  EXPECT_FALSE(b.signal(5, 3));
  EXPECT_EQ(b.nextPhase(5), 1u);
  EXPECT_TRUE(b.signal(5, 2)); // two have come already
  EXPECT_FALSE(b.signal(5, 0));
  EXPECT_EQ(b.nextPhase(5), 2u);
}

TEST(NamedBarriers, WhatTheModelLeavesUndefinedIsAnError) {
  NamedBarriers b;
  Member m;
  EXPECT_TRUE(b.init(0, 1));
  EXPECT_TRUE(b.init(17, 1));
  EXPECT_TRUE(b.init(1, 0));
  EXPECT_TRUE(b.init(1, 64));
  EXPECT_TRUE(b.signal(1, 0)); // not initialised
  EXPECT_TRUE(b.join(m, 0));
  EXPECT_TRUE(b.wait(m));
  EXPECT_TRUE(b.leave(m));
  EXPECT_FALSE(b.join(m, 1));
  EXPECT_TRUE(b.leave(m)); // not initialised
}

TEST(NamedBarriers, PendingTellsStatesApart) {
  NamedBarriers b;
  EXPECT_FALSE(b.init(1, 4));
  const uint64_t before = b.pending();
  EXPECT_FALSE(b.signal(1, 0));
  EXPECT_NE(b.pending(), before);
}

const char *const kDeclarations = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.barrier.init(ptr addrspace(3), i32)
declare void @llvm.amdgcn.s.barrier.join(ptr addrspace(3))
declare void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3), i32)
declare void @llvm.amdgcn.s.barrier.signal(i32)
declare void @llvm.amdgcn.s.barrier.wait(i16)
declare void @llvm.amdgcn.s.barrier.leave(i16)
@b = internal addrspace(3) global target("amdgcn.named.barrier", 0) poison
@two = internal addrspace(3) global [2 x target("amdgcn.named.barrier", 0)] poison
@lds = internal addrspace(3) global [64 x i32] poison
)";

Options gfx1250(uint64_t seed) {
  Options o;
  o.target = "gfx1250";
  o.fixedLds = 256; // barriers take no LDS
  o.seed = seed;
  return o;
}

// Wave 0 hands numbers to wave 1 through one word, over two barriers of an array that is indexed at run time.
TEST(NamedBarriers, HandOver) {
  const std::string ir = std::string(kDeclarations) + R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) #0 {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %half = lshr i32 %t, 5
  %wave = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %half)
  %other = xor i32 %wave, 1
  %mine = getelementptr [2 x target("amdgcn.named.barrier", 0)], ptr addrspace(3) @two, i32 0, i32 %wave
  %theirs = getelementptr [2 x target("amdgcn.named.barrier", 0)], ptr addrspace(3) @two, i32 0, i32 %other
  call void @llvm.amdgcn.s.barrier.join(ptr addrspace(3) %mine)
  call void @llvm.amdgcn.s.barrier() ; a phase that is complete before a join is not waited for
  %first = icmp eq i32 %wave, 0
  br i1 %first, label %loop, label %check
loop:
  %i = phi i32 [ 0, %entry ], [ %n, %again ]
  store volatile i32 %i, ptr addrspace(3) @lds
  call void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3) %theirs, i32 1)
  call void @llvm.amdgcn.s.barrier.wait(i16 1)
  br label %latch
check:
  %j = phi i32 [ 0, %entry ], [ %n, %again ]
  call void @llvm.amdgcn.s.barrier.wait(i16 1)
  %v = load volatile i32, ptr addrspace(3) @lds
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %j
  store i32 %v, ptr addrspace(1) %p
  call void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3) %theirs, i32 1)
  br label %latch
latch:
  %k = phi i32 [ %i, %loop ], [ %j, %check ]
  %n = add i32 %k, 1
  %more = icmp ult i32 %n, 50
  br i1 %more, label %again, label %end
again:
  br i1 %first, label %loop, label %check
end:
  ret void
}
attributes #0 = { "target-cpu"="gfx1250" "target-features"="+wavefrontsize32" }
)";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<uint32_t> out(50, 1000);
    runText(ir, linear(64, 64), arguments(out.data()), gfx1250(seed));
    for (uint32_t i = 0; i < 50; ++i)
      ASSERT_EQ(out[i], i) << "seed " << seed;
  }
}

Outcome outcomeOf(const std::string &body, uint32_t threads = 64) {
  auto program = load(
      assemble(
          std::string(kDeclarations) + "define amdgpu_kernel void @k() #0 {\n" + body +
          "  ret void\n}\nattributes #0 = { \"target-cpu\"=\"gfx1250\" \"target-features\"=\"+wavefrontsize32\" }\n"),
      gfx1250(1));
  return run(*program, "k", linear(threads, threads), arguments(), gfx1250(1));
}

TEST(NamedBarriers, WavesThatWaitForEverAreNamed) {
  const Outcome outcome = outcomeOf(R"(
  call void @llvm.amdgcn.s.barrier.join(ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @two, i32 16))
  call void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @two, i32 16), i32 3)
  call void @llvm.amdgcn.s.barrier.wait(i16 1)
)");
  EXPECT_EQ(outcome.kind, Outcome::Deadlock);
  for (const char *part : {"2 of 2 waves", "wave 0 at", "wave 1 at", "named barrier `two[1]`: 2 of 3 signals"})
    EXPECT_NE(outcome.message.find(part), std::string::npos) << outcome.message;
}

TEST(NamedBarriers, MembersThatAreSetByInit) {
  const Outcome outcome = outcomeOf(R"(
  call void @llvm.amdgcn.s.barrier.init(ptr addrspace(3) @b, i32 2)
  call void @llvm.amdgcn.s.barrier.join(ptr addrspace(3) @b)
  call void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3) @b, i32 0)
  call void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3) @b, i32 0)
  call void @llvm.amdgcn.s.barrier.wait(i16 1)
)",
                                    32);
  EXPECT_EQ(outcome.kind, Outcome::Success) << outcome.message;
  const Outcome tooFew = outcomeOf(R"(
  call void @llvm.amdgcn.s.barrier.init(ptr addrspace(3) @b, i32 3)
  call void @llvm.amdgcn.s.barrier.join(ptr addrspace(3) @b)
  call void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3) @b, i32 0)
  call void @llvm.amdgcn.s.barrier.wait(i16 1)
)",
                                   32);
  EXPECT_EQ(tooFew.kind, Outcome::Deadlock) << tooFew.message;
}

// By number: immediates, and M0 with a count of members in its high half.
TEST(NamedBarriers, ByNumber) {
  const Outcome numbers = outcomeOf(R"(
  call void asm sideeffect "s_mov_b32 m0, $0\0As_barrier_init 3", "s"(i32 131072)
  call void asm sideeffect "s_barrier_join 3", ""()
  call void @llvm.amdgcn.s.barrier.signal(i32 3)
  call void asm sideeffect "s_barrier_signal 3\0As_barrier_wait 3\0As_barrier_leave", ""()
)",
                                    32);
  EXPECT_EQ(numbers.kind, Outcome::Success) << numbers.message;
  const Outcome inM0 = outcomeOf(R"(
  call void asm sideeffect "s_mov_b32 m0, $0\0As_barrier_init m0\0As_barrier_join m0", "s"(i32 262148)
  call void asm sideeffect "s_mov_b32 m0, $0\0As_barrier_signal m0\0As_barrier_signal m0\0As_barrier_wait 4", "s"(i32 131076)
)",
                                 32);
  EXPECT_EQ(inM0.kind, Outcome::Success) << inM0.message;
  const Outcome tooFew = outcomeOf(R"(
  call void asm sideeffect "s_mov_b32 m0, $0\0As_barrier_init m0\0As_barrier_join m0", "s"(i32 196612)
  call void asm sideeffect "s_barrier_signal 4\0As_barrier_wait 4", ""()
)",
                                   32);
  EXPECT_EQ(tooFew.kind, Outcome::Deadlock) << tooFew.message;
  EXPECT_NE(tooFew.message.find("named barrier 4: 1 of 3 signals"), std::string::npos) << tooFew.message;
  const Outcome none = outcomeOf("  call void asm sideeffect \"s_barrier_join 0\", \"\"()\n");
  EXPECT_EQ(none.kind, Outcome::UnsupportedInstruction);
}

TEST(NamedBarriers, UndefinedUseIsNamed) {
  const Outcome unjoined = outcomeOf("  call void @llvm.amdgcn.s.barrier.wait(i16 1)\n");
  EXPECT_EQ(unjoined.kind, Outcome::Trap);
  EXPECT_NE(unjoined.message.find("without having joined"), std::string::npos) << unjoined.message;
  const Outcome data = outcomeOf("  call void @llvm.amdgcn.s.barrier.join(ptr addrspace(3) @lds)\n");
  EXPECT_EQ(data.kind, Outcome::Trap);
  EXPECT_NE(data.message.find("not that of a named barrier"), std::string::npos) << data.message;
}

// The last of three waves leaves instead of signalling.
TEST(NamedBarriers, Leave) {
  EXPECT_TRUE(outcomeOf(R"(
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  call void @llvm.amdgcn.s.barrier.join(ptr addrspace(3) @b)
  %last = icmp uge i32 %t, 64
  br i1 %last, label %leaves, label %stays
leaves:
  call void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3) @b, i32 3)
  call void @llvm.amdgcn.s.barrier.wait(i16 1)
  call void @llvm.amdgcn.s.barrier.leave(i16 1)
  br label %end
stays:
  call void @llvm.amdgcn.s.barrier.signal.var(ptr addrspace(3) @b, i32 3)
  call void @llvm.amdgcn.s.barrier.wait(i16 1)
  call void @llvm.amdgcn.s.barrier.join(ptr addrspace(3) @b)
  br label %end
end:
)",
                        96));
}

} // namespace
} // namespace wavesan::cpu::test
