// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workgroups that wait for one another end; all others run in order, one at a time.
#include "engine_fixture.h"

#include "interleave.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace wavesan::cpu::test {
namespace {

const char kDeclarations[] = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.sleep(i32)
declare void @llvm.trap()
declare void @__wavesan_kernel_begin(ptr addrspace(5), ptr addrspace(1))
declare void @__wavesan_kernel_end(ptr addrspace(5))
declare void @__wavesan_wait(ptr addrspace(5), i32)
)";

/// Writes down which workgroup calls, and checks that each one keeps its own data.
struct Groups : HookHandler {
  struct Data {
    uint32_t id;
  };
  std::vector<uint32_t> order; ///< workgroup of each call
  std::atomic<uint32_t> begun{0}, ended{0};
  bool dispatchEnded = false;

  void note(WaveView &w) {
    ASSERT_NE(w.workgroupData, nullptr);
    EXPECT_EQ(static_cast<Data *>(w.workgroupData)->id, w.workgroup[0]);
    order.push_back(w.workgroup[0]);
  }
  void kernelBegin(WaveView &w, LaneMask, const abi::DispatchContext *) override {
    if (!w.workgroupData) {
      w.workgroupData = new Data{w.workgroup[0]};
      ++begun;
    }
    note(w);
  }
  void kernelEnd(WaveView &w, LaneMask) override { note(w); }
  void wait(WaveView &w, LaneMask, uint32_t) override { note(w); }
  void workgroupEnd(void *data) override {
    ++ended;
    delete static_cast<Data *>(data);
  }
  void dispatchEnd(void *) override {
    EXPECT_EQ(begun.load(), ended.load());
    dispatchEnded = true;
  }
  void ldsAccess(WaveView &, LaneMask, const uint32_t *, uint32_t, uint32_t, uint32_t) override {}
  void genericAccess(WaveView &, LaneMask, const uint64_t *, uint32_t, uint32_t) override {}
  void ldsRange(WaveView &, LaneMask, const uint32_t *, const uint64_t *, uint32_t, uint32_t, uint32_t) override {}
  void genericRange(WaveView &, LaneMask, const uint64_t *, const uint64_t *, uint32_t, uint32_t) override {}
  void barrierArrive(WaveView &, LaneMask, uint32_t) override {}
  void barrierLeave(WaveView &, LaneMask, uint32_t) override {}
  void fence(WaveView &, LaneMask, uint32_t) override {}
};

// Workgroup g spins until workgroup g + 1 has set its flag; the last one waits for nobody.
const char kChain[] = R"(
define amdgpu_kernel void @k(ptr addrspace(1) %flags, i32 %last) {
entry:
  %state = alloca [64 x i8], align 8, addrspace(5)
  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %flags)
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %next = add i32 %g, 1
  %theirs = getelementptr i32, ptr addrspace(1) %flags, i32 %next
  %mine = getelementptr i32, ptr addrspace(1) %flags, i32 %g
  %free = icmp eq i32 %g, %last
  br i1 %free, label %set, label %spin
spin:
  %v = load atomic i32, ptr addrspace(1) %theirs syncscope("agent") acquire, align 4
  %ready = icmp ne i32 %v, 0
  br i1 %ready, label %set, label %spin
set:
  store atomic i32 1, ptr addrspace(1) %mine syncscope("agent") release, align 4
  call void @__wavesan_kernel_end(ptr addrspace(5) %state)
  ret void
}
)";

TEST(Interleave, SpinningOnALaterWorkgroupEnds) {
  std::vector<uint32_t> flags(9);
  Groups groups;
  Options options;
  options.hooks = &groups;
  runText(std::string(kChain) + kDeclarations, linear(8 * 64, 64), arguments(flags.data(), 7), options);
  for (uint32_t g = 0; g < 8; ++g)
    EXPECT_EQ(flags[g], 1u) << g;
  EXPECT_EQ(groups.begun, 8u);
  EXPECT_TRUE(groups.dispatchEnded);
}

TEST(Interleave, OneWaiterDoesNotDisturbTheOrderOfTheOthers) {
  // Workgroup 0 waits for the last of 200, the others only store.
  std::vector<uint32_t> flags(201);
  std::string ir = kChain;
  const std::string from = "%free = icmp eq i32 %g, %last", next = "%next = add i32 %g, 1";
  ir.replace(ir.find(from), from.size(), "%free = icmp ne i32 %g, 0");
  ir.replace(ir.find(next), next.size(), "%next = add i32 %last, 0");
  Groups groups;
  Options options;
  options.hooks = &groups;
  runText(ir + kDeclarations, linear(200 * 64, 64), arguments(flags.data(), 199), options);
  std::vector<uint32_t> expected{0};
  for (uint32_t g = 1; g < 200; ++g)
    expected.insert(expected.end(), {g, g});
  expected.push_back(0);
  EXPECT_EQ(groups.order, expected);
}

// Each round: count, then wait for all workgroups of the grid. Thread 0 does it for its workgroup; LDS and registers
// must survive. %sleep is replaced.
const char kGridBarrier[] = R"(
@a = internal addrspace(3) global [128 x i32] poison
define amdgpu_kernel void @k(ptr addrspace(1) %counter, ptr addrspace(1) %out, i32 %groups, i32 %rounds) {
entry:
  %state = alloca [64 x i8], align 8, addrspace(5)
  %kept = alloca i32, addrspace(5)
  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %out)
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %size = mul i32 %g, 128
  %id = add i32 %size, %t
  %lp = getelementptr i32, ptr addrspace(3) @a, i32 %t
  store i32 %id, ptr addrspace(3) %lp
  store i32 %id, ptr addrspace(5) %kept
  %first = icmp eq i32 %t, 0
  br label %round
round:
  %n = phi i32 [ 1, %entry ], [ %n1, %next ]
  call void @llvm.amdgcn.s.barrier()
  br i1 %first, label %arrive, label %wait
arrive:
  %goal = mul i32 %n, %groups
  %o = atomicrmw add ptr addrspace(1) %counter, i32 1 syncscope("agent") acq_rel
  br label %spin
spin:
  SLEEP
  %v = load atomic i32, ptr addrspace(1) %counter syncscope("agent") acquire, align 4
  %ready = icmp uge i32 %v, %goal
  br i1 %ready, label %wait, label %spin
wait:
  call void @llvm.amdgcn.s.barrier()
  %seen = load atomic i32, ptr addrspace(1) %counter syncscope("agent") acquire, align 4
  %all = mul i32 %n, %groups
  %early = icmp ult i32 %seen, %all
  br i1 %early, label %bad, label %next
bad:
  call void @llvm.trap()
  unreachable
next:
  call void @__wavesan_wait(ptr addrspace(5) %state, i32 1)
  %n1 = add i32 %n, 1
  %more = icmp ule i32 %n1, %rounds
  br i1 %more, label %round, label %exit
exit:
  %x = load i32, ptr addrspace(3) %lp
  %y = load i32, ptr addrspace(5) %kept
  %z = mul i32 %y, 1000
  %r = add i32 %x, %z
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %id
  store i32 %r, ptr addrspace(1) %p
  call void @__wavesan_kernel_end(ptr addrspace(5) %state)
  ret void
}
)";

std::string gridBarrier(const char *sleep) {
  std::string ir = kGridBarrier;
  ir.replace(ir.find("SLEEP"), 5, sleep);
  return ir + kDeclarations;
}

TEST(Interleave, GridBarrierByAtomics) {
  for (const char *sleep : {"", "call void @llvm.amdgcn.s.sleep(i32 1)"}) {
    auto program = load(assemble(gridBarrier(sleep)));
    std::vector<uint32_t> firstOrder;
    for (uint64_t seed : {7, 7, 8}) {
      uint32_t counter = 0;
      std::vector<uint32_t> out(64 * 128);
      Groups groups;
      Options options;
      options.hooks = &groups;
      options.fixedLds = 512;
      options.seed = seed;
      const Outcome outcome =
          run(*program, "k", linear(64 * 128, 128), arguments(&counter, out.data(), 64, 3), options);
      ASSERT_TRUE(outcome) << outcome.message;
      EXPECT_EQ(counter, 3u * 64);
      for (uint32_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], 1001 * i);
      EXPECT_EQ(groups.begun, 64u);
      if (seed == 8)
        continue;
      if (firstOrder.empty())
        firstOrder = groups.order;
      EXPECT_EQ(groups.order, firstOrder);
    }
  }
}

TEST(Interleave, PlainWorkgroupsRunOneAfterTheOther) {
  // 4 waves with 1000 stores each: within the budget.
  Groups groups;
  Options options;
  options.hooks = &groups;
  options.fixedLds = 1024;
  const char ir[] = R"(
@a = internal addrspace(3) global [256 x i32] poison
define amdgpu_kernel void @k(ptr addrspace(1) %ctx, i32 %rounds) {
entry:
  %state = alloca [64 x i8], align 8, addrspace(5)
  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %ctx)
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr [256 x i32], ptr addrspace(3) @a, i32 0, i32 %t
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
  store i32 %n, ptr addrspace(3) %p
  %n1 = add i32 %n, 1
  %c = icmp ult i32 %n1, %rounds
  br i1 %c, label %loop, label %exit
exit:
  call void @__wavesan_kernel_end(ptr addrspace(5) %state)
  ret void
}
)";
  auto program = load(assemble(std::string(ir) + kDeclarations));
  ASSERT_TRUE(run(*program, "k", linear(20 * 256, 256), arguments(uint64_t(0), 1000), options));
  EXPECT_EQ(groups.order.size(), 20u * 8);
  EXPECT_TRUE(std::is_sorted(groups.order.begin(), groups.order.end()));
  EXPECT_EQ(groups.ended, 20u);

  // Beyond the budget they take turns, and still all end.
  groups.order.clear();
  ASSERT_TRUE(run(*program, "k", linear(3 * 256, 256), arguments(uint64_t(0), 100000), options));
  EXPECT_EQ(groups.order.size(), 3u * 8);
  EXPECT_FALSE(std::is_sorted(groups.order.begin(), groups.order.end()));
}

TEST(Interleave, ErrorsAndCancellationEndTheSuspendedWorkgroups) {
  // Workgroup 3 traps while the others wait for it.
  std::vector<uint32_t> flags(9);
  std::string ir = kChain;
  const std::string set = "set:\n";
  ir.replace(ir.find(set), set.size(), "set:\n  call void @llvm.trap()\n");
  Groups groups;
  Options options;
  options.hooks = &groups;
  auto trapping = load(assemble(ir + kDeclarations));
  EXPECT_EQ(run(*trapping, "k", linear(8 * 64, 64), arguments(flags.data(), 3), options).kind, Outcome::Trap);
  EXPECT_EQ(groups.begun, 4u);
  EXPECT_TRUE(groups.dispatchEnded);

  // Nobody sets flag 8.
  std::atomic<bool> cancel{false};
  Groups waiting;
  options.hooks = &waiting;
  options.cancel = &cancel;
  auto program = load(assemble(std::string(kChain) + kDeclarations));
  std::thread timer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    cancel = true;
  });
  EXPECT_EQ(run(*program, "k", linear(8 * 64, 64), arguments(flags.data(), 100), options).kind, Outcome::Cancelled);
  timer.join();
  EXPECT_TRUE(waiting.dispatchEnded);
  // The program and its pooled memory stay usable.
  options.cancel = nullptr;
  options.hooks = nullptr;
  EXPECT_TRUE(run(*program, "k", linear(8 * 64, 64), arguments(flags.data(), 7), options));
  EXPECT_EQ(flags[0], 1u);
}

TEST(Interleave, ResidentsAreBoundedByNumberAndMemory) {
  engine::Function entry;
  Launch launch{};
  engine::LaunchState state;
  state.launch = &launch;
  state.entry = &entry;
  engine::Shape shape{};
  shape.waves = 16;
  shape.scratchStride = 64;
  EXPECT_EQ(engine::residentLimit(state, shape), 1024u);
  launch.groupSegmentBytes = 16 << 20;
  EXPECT_EQ(engine::residentLimit(state, shape), 63u);
  launch.groupSegmentBytes = 0;
  shape.scratchStride = 64 << 10;
  EXPECT_EQ(engine::residentLimit(state, shape), 16u);
  entry.hasCalls = true; // the stacks are there but hardly touched
  EXPECT_EQ(engine::residentLimit(state, shape), 64u);
  entry.hasCalls = false;
  shape.scratchStride = 4 << 20;
  EXPECT_EQ(engine::residentLimit(state, shape), 1u);
}

TEST(Interleave, ABarrierOfMoreWorkgroupsThanFitRunsUntilItIsCancelled) {
  auto program = load(assemble(gridBarrier("call void @llvm.amdgcn.s.sleep(i32 1)")));
  uint32_t counter = 0;
  std::vector<uint32_t> out(1100 * 128);
  std::atomic<bool> cancel{false};
  Groups groups;
  Options options;
  options.hooks = &groups;
  options.fixedLds = 512;
  options.cancel = &cancel;
  std::thread timer([&] {
    for (int k = 0; k < 3000 && groups.begun < 1024; ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    cancel = true;
  });
  EXPECT_EQ(run(*program, "k", linear(1100 * 64, 64), arguments(&counter, out.data(), 1100, 1), options).kind,
            Outcome::Cancelled);
  timer.join();
  EXPECT_EQ(groups.begun, 1024u);
  EXPECT_EQ(groups.ended, 1024u);
}

TEST(Interleave, ADeadlockBehindASpinIsStillReported) {
  // Workgroup 0 spins for ever on workgroup 1, whose waves disagree about their barriers.
  auto program = load(assemble(std::string(R"(
declare void @llvm.amdgcn.s.barrier.signal(i32)
declare void @llvm.amdgcn.s.barrier.wait(i16)
define amdgpu_kernel void @k(ptr addrspace(1) %flag) {
entry:
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %zero = icmp eq i32 %g, 0
  br i1 %zero, label %spin, label %stuck
spin:
  %v = load atomic i32, ptr addrspace(1) %flag syncscope("agent") acquire, align 4
  %ready = icmp ne i32 %v, 0
  br i1 %ready, label %exit, label %spin
stuck:
  call void @llvm.amdgcn.s.barrier.signal(i32 -1)
  call void @llvm.amdgcn.s.barrier.wait(i16 -1)
  call void @llvm.amdgcn.s.barrier.wait(i16 -1)
  br label %exit
exit:
  ret void
}
)") + kDeclarations));
  uint32_t flag = 0;
  const Outcome outcome = run(*program, "k", linear(256, 128), arguments(&flag));
  EXPECT_EQ(outcome.kind, Outcome::Deadlock);
  EXPECT_NE(outcome.message.find("workgroup (1, 0, 0)"), std::string::npos) << outcome.message;
}

} // namespace
} // namespace wavesan::cpu::test
