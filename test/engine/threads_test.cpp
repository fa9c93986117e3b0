// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several threads execute one dispatch: which kernels, that nobody sees a difference, and how errors end it.
#include "engine_fixture.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <sys/resource.h>
#include <thread>

namespace wavesan::cpu::test {
namespace {

const char kDeclarations[] = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i64 @llvm.amdgcn.s.memtime()
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.ds.gws.barrier(i32, i32)
declare i32 @llvm.amdgcn.raw.ptr.buffer.atomic.add.i32(i32, ptr addrspace(8), i32, i32, i32)
declare void @llvm.memcpy.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
declare void @llvm.trap()
declare void @__wavesan_fence(ptr addrspace(5), i32)
declare i32 @elsewhere(i32)
@lds = internal addrspace(3) global [64 x i32] poison
define internal void @quiet(ptr addrspace(1) %p) noinline {
  store i32 1, ptr addrspace(1) %p
  ret void
}
define internal void @loud(ptr addrspace(1) %p) noinline {
  store atomic i32 1, ptr addrspace(1) %p syncscope("agent") monotonic, align 4
  ret void
}
)";

/// Whether several threads are allowed to execute a kernel with this body.
bool isShared(const std::string &body) {
  // Each workgroup has memory of its own.
  auto program = load(assemble("define amdgpu_kernel void @k(ptr addrspace(1) %p0, ptr addrspace(1) %q0) {\n"
                               "%g = call i32 @llvm.amdgcn.workgroup.id.x()\n"
                               "%p = getelementptr [64 x i32], ptr addrspace(1) %p0, i32 %g\n"
                               "%q = getelementptr [64 x i32], ptr addrspace(1) %q0, i32 %g\n" +
                               body + "\n  ret void\n}\n" + kDeclarations));
  std::vector<uint32_t> p(1024), q(1024);
  std::atomic<uint32_t> around{0};
  Options options;
  options.threads = 4;
  options.fixedLds = 256;
  options.aroundThread = [&](const std::function<void()> &work) {
    ++around;
    work();
  };
  run(*program, "k", linear(4 * 64, 64), arguments(p.data(), q.data()), options);
  return around != 0;
}

TEST(Threads, PlainMemoryIsShared) {
  EXPECT_TRUE(isShared("%v = load i32, ptr addrspace(1) %p\n store i32 %v, ptr addrspace(1) %q"));
  EXPECT_TRUE(isShared("call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) %p, ptr addrspace(1) %q, i64 4, i1 false)"));
  EXPECT_TRUE(isShared("call void @quiet(ptr addrspace(1) %p)"));
  EXPECT_TRUE(isShared("fence syncscope(\"workgroup\") acq_rel\n call void @llvm.amdgcn.s.barrier()"));
  EXPECT_TRUE(isShared("%t = call i64 @llvm.amdgcn.s.memtime()"));
  EXPECT_TRUE(isShared("call void asm sideeffect \"\", \"~{memory}\"()"));
}

TEST(Threads, LdsIsTheWorkgroupsOwn) {
  EXPECT_TRUE(
      isShared("%o = atomicrmw xchg ptr addrspace(3) @lds, i32 1 acq_rel\n store i32 %o, ptr addrspace(3) @lds"));
  EXPECT_TRUE(isShared("%o = load volatile i32, ptr addrspace(3) @lds"));
  EXPECT_TRUE(isShared("%f = addrspacecast ptr addrspace(3) @lds to ptr\n %h = getelementptr i32, ptr %f, i32 3\n"
                       "%o = atomicrmw add ptr %h, i32 1 monotonic\n store i32 %o, ptr addrspace(3) @lds"));
}

TEST(Threads, UpdatesWhoseOrderDoesNotShowAreShared) {
  const std::string add = "%a = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic\n";
  EXPECT_TRUE(isShared(add));
  EXPECT_TRUE(isShared(add + "%b = atomicrmw sub ptr addrspace(1) %q, i32 1 monotonic"));
  EXPECT_TRUE(isShared("%a = atomicrmw umax ptr addrspace(1) %p, i32 1 syncscope(\"agent\") monotonic"));
  EXPECT_FALSE(isShared(add + "store i32 %a, ptr addrspace(1) %q"));
  EXPECT_FALSE(isShared(add + "%b = atomicrmw xor ptr addrspace(1) %q, i32 1 monotonic"));
  EXPECT_FALSE(isShared(add + "%b = atomicrmw add ptr addrspace(1) %q, i64 1 monotonic"));
  EXPECT_FALSE(isShared("%a = atomicrmw xchg ptr addrspace(1) %p, i32 1 monotonic"));
  EXPECT_FALSE(isShared("%a = atomicrmw fadd ptr addrspace(1) %p, float 1.0 monotonic"));
  EXPECT_FALSE(isShared("%a = atomicrmw uinc_wrap ptr addrspace(1) %p, i32 7 monotonic"));
  EXPECT_FALSE(isShared("%a = cmpxchg ptr addrspace(1) %p, i32 0, i32 1 monotonic monotonic"));
  EXPECT_FALSE(isShared(
      "%r = inttoptr i128 0 to ptr addrspace(8)\n"
      "%o = call i32 @llvm.amdgcn.raw.ptr.buffer.atomic.add.i32(i32 1, ptr addrspace(8) %r, i32 0, i32 0, i32 0)"));
}

TEST(Threads, WorkgroupsThatTellOneAnotherSomethingRunInOneOrder) {
  EXPECT_FALSE(isShared("%v = load volatile i32, ptr addrspace(1) %p"));
  EXPECT_FALSE(isShared("store volatile i32 1, ptr addrspace(1) %p"));
  EXPECT_FALSE(isShared("%v = load atomic i32, ptr addrspace(1) %p monotonic, align 4"));
  EXPECT_FALSE(isShared("%f = addrspacecast ptr addrspace(1) %p to ptr\n %v = load volatile i32, ptr %f"));
  EXPECT_FALSE(isShared("fence syncscope(\"agent\") acq_rel"));
  EXPECT_FALSE(isShared("fence acq_rel"));
  EXPECT_FALSE(isShared("call void @loud(ptr addrspace(1) %p)"));
  EXPECT_FALSE(
      isShared("call void asm sideeffect \"global_load_dword v0, $0, off\", \"v,~{v0}\"(ptr addrspace(1) %p)"));
  EXPECT_FALSE(isShared("%s = alloca i32, addrspace(5)\n call void @__wavesan_fence(ptr addrspace(5) %s, i32 0)"));
  EXPECT_FALSE(isShared("%v = call i32 @elsewhere(i32 1)"));
  EXPECT_FALSE(isShared("call void @llvm.amdgcn.ds.gws.barrier(i32 3, i32 0)"));
  EXPECT_FALSE(isShared("%f = load ptr, ptr addrspace(1) %p\n call void %f()"));
}

// Each workgroup of 1,024 work-items mixes its own numbers through 64 KiB of LDS, and counts into a histogram.
const char kMix[] = R"(
@a = internal addrspace(3) global [16384 x i32] poison
define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %histogram, i32 %rounds) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %base = mul i32 %g, 1024
  %id = add i32 %base, %t
  %clock = call i64 @llvm.amdgcn.s.memtime()
  %c = trunc i64 %clock to i32
  %start = xor i32 %c, %id
  %mine = mul i32 %t, 16
  %p = getelementptr [16384 x i32], ptr addrspace(3) @a, i32 0, i32 %mine
  %o = add i32 %t, 77
  %m = and i32 %o, 1023
  %theirs = mul i32 %m, 16
  %q = getelementptr [16384 x i32], ptr addrspace(3) @a, i32 0, i32 %theirs
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
  %v = phi i32 [ %start, %entry ], [ %v3, %loop ]
  store i32 %v, ptr addrspace(3) %p
  call void @llvm.amdgcn.s.barrier()
  %w = load i32, ptr addrspace(3) %q
  call void @llvm.amdgcn.s.barrier()
  %v1 = mul i32 %v, 1664525
  %v2 = add i32 %v1, %w
  %v3 = xor i32 %v2, %n
  %n1 = add i32 %n, 1
  %more = icmp ult i32 %n1, %rounds
  br i1 %more, label %loop, label %exit
exit:
  %bin = lshr i32 %v3, 24
  %bp = getelementptr i32, ptr addrspace(1) %histogram, i32 %bin
  %old = atomicrmw add ptr addrspace(1) %bp, i32 1 syncscope("agent") monotonic
  %op = getelementptr i32, ptr addrspace(1) %out, i32 %id
  store i32 %v3, ptr addrspace(1) %op
  ret void
}
)";

TEST(Threads, ResultsAreThoseOfOneThread) {
  auto program = load(assemble(std::string(kMix) + kDeclarations));
  for (const uint32_t rounds : {3u, 300u}) { // the latter are suspended now and then
    std::vector<uint32_t> expected, expectedBins;
    for (const uint32_t threads : {1u, 2u, 4u, 8u}) {
      const uint32_t groups = rounds == 3 ? 100 : 9;
      std::vector<uint32_t> out(groups * 1024), bins(256);
      Options options;
      options.threads = threads;
      options.fixedLds = 64 << 10;
      const Outcome outcome =
          run(*program, "k", linear(groups * 1024, 1024), arguments(out.data(), bins.data(), rounds), options);
      ASSERT_TRUE(outcome) << outcome.message;
      if (threads == 1) {
        expected = out;
        expectedBins = bins;
        EXPECT_NE(out[0], out[1]);
      }
      EXPECT_EQ(out, expected) << threads;
      EXPECT_EQ(bins, expectedBins) << threads;
    }
  }
}

TEST(Threads, AllOfThemWork) {
  auto program = load(assemble(std::string(kMix) + kDeclarations));
  std::vector<uint32_t> out(400 * 1024), bins(256);
  std::mutex mutex;
  std::set<std::thread::id> who;
  std::atomic<uint32_t> begun{0};
  Options options;
  options.threads = 4;
  options.fixedLds = 64 << 10;
  options.aroundThread = [&](const std::function<void()> &work) {
    {
      std::lock_guard lock(mutex);
      who.insert(std::this_thread::get_id());
    }
    ++begun;
    while (begun < 4)
      std::this_thread::yield();
    work();
  };
  ASSERT_TRUE(run(*program, "k", linear(400 * 1024, 1024), arguments(out.data(), bins.data(), 3), options));
  EXPECT_EQ(who.size(), 4u);
  EXPECT_TRUE(who.contains(std::this_thread::get_id()));
}

// Workgroup g traps if bit g of %bad is set, after %rounds of work if it is even.
const char kTraps[] = R"(
define amdgpu_kernel void @k(ptr addrspace(1) %bad, ptr addrspace(1) %out, i32 %rounds) {
entry:
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %p = getelementptr i32, ptr addrspace(1) %bad, i32 %g
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %g
  %traps = load i32, ptr addrspace(1) %p
  %even = and i32 %g, 1
  %odd = icmp ne i32 %even, 0
  br i1 %odd, label %end, label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
  store i32 %n, ptr addrspace(1) %o
  %n1 = add i32 %n, 1
  %more = icmp ult i32 %n1, %rounds
  br i1 %more, label %loop, label %end
end:
  %now = icmp ne i32 %traps, 0
  br i1 %now, label %trap, label %exit
trap:
  store i32 -1, ptr addrspace(1) null
  br label %exit
exit:
  ret void
}
)";

TEST(Threads, TheLowestErrorIsTheOutcome) {
  std::string ir = kTraps; // the address that faults names the workgroup
  const std::string null = "store i32 -1, ptr addrspace(1) null";
  ir.replace(ir.find(null), null.size(),
             "%low = zext i32 %g to i64\n %where = inttoptr i64 %low to ptr addrspace(1)\n"
             "store i32 -1, ptr addrspace(1) %where");
  auto program = load(assemble(ir + kDeclarations));
  for (uint32_t round = 0; round < 20; ++round) {
    std::vector<uint32_t> bad(200), out(200);
    // Even workgroups work for long before they fail; the odd ones behind them fail at once.
    for (uint32_t g = 10 + round * 2; g < 200; g += 1 + round % 3)
      bad[g] = 1;
    std::string expected;
    for (const uint32_t threads : {1u, 2u, 4u, 8u}) {
      Options options;
      options.threads = threads;
      const Outcome outcome =
          run(*program, "k", linear(200 * 64, 64), arguments(bad.data(), out.data(), 5000), options);
      EXPECT_EQ(outcome.kind, Outcome::MemoryFault);
      if (expected.empty())
        expected = outcome.message;
      char address[32];
      std::snprintf(address, sizeof(address), "0x%x", 10 + round * 2);
      EXPECT_NE(outcome.message.find(address), std::string::npos) << outcome.message;
      EXPECT_EQ(outcome.message, expected) << threads;
    }
  }
}

TEST(Threads, AnErrorIsNotKeptWaitingByAWorkgroupThatNeverEnds) {
  auto program = load(assemble(std::string(kTraps) + kDeclarations));
  std::vector<uint32_t> bad(8), out(8);
  bad[3] = 1; // workgroups 0, 2, 4, 6 go on for hours
  for (const uint32_t threads : {1u, 4u}) {
    Options options;
    options.threads = threads;
    const Outcome outcome =
        run(*program, "k", linear(8 * 64, 64), arguments(bad.data(), out.data(), 0xffffffffu), options);
    EXPECT_EQ(outcome.kind, Outcome::MemoryFault) << outcome.message;
  }
}

TEST(Threads, CancellationStopsAll) {
  auto program = load(assemble(std::string(kTraps) + kDeclarations));
  std::vector<uint32_t> bad(64), out(64);
  std::atomic<bool> cancel{false};
  Options options;
  options.threads = 4;
  options.cancel = &cancel;
  std::thread timer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    cancel = true;
  });
  EXPECT_EQ(run(*program, "k", linear(64 * 64, 64), arguments(bad.data(), out.data(), 0xffffffffu), options).kind,
            Outcome::Cancelled);
  timer.join();
}

TEST(Threads, TheWatchdogTellsOfAllThreads) {
  auto program = load(assemble(std::string(kTraps) + kDeclarations));
  std::vector<uint32_t> bad(3), out(3);
  std::atomic<bool> cancel{false};
  std::string text;
  Options options;
  options.threads = 3;
  options.cancel = &cancel;
  options.watchAfterMs = 100;
  std::atomic<uint32_t> begun{0};
  options.aroundThread = [&](const std::function<void()> &work) {
    ++begun;
    while (begun < 3) // so that workgroups 0 and 2 are not one thread's
      std::this_thread::yield();
    work();
  };
  options.standing = [&](const std::string &standing) {
    if (standing.find("2 are under way") != std::string::npos) {
      text = standing;
      cancel = true;
    }
  };
  EXPECT_EQ(run(*program, "k", linear(3 * 64, 64), arguments(bad.data(), out.data(), 0xffffffffu), options).kind,
            Outcome::Cancelled);
  EXPECT_NE(text.find("1 of 3 workgroups have ended"), std::string::npos) << text;
  const size_t first = text.find("workgroup (0,0,0):"), second = text.find("workgroup (2,0,0):");
  EXPECT_LT(first, second);
  EXPECT_NE(second, std::string::npos) << text;
}

TEST(Threads, AMillionWorkgroupsInBoundedMemory) {
  const std::string ir = R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %store, label %exit
store:
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %g
  %v = xor i32 %g, 1234567
  store i32 %v, ptr addrspace(1) %p
  br label %exit
exit:
  ret void
}
)";
  constexpr uint32_t kGroups = 1'000'000;
  auto program = load(assemble(ir + kDeclarations));
  std::vector<uint32_t> out(kGroups);
  const auto peakKiB = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = peakKiB();
  Options options;
  options.threads = 4;
  options.fixedLds = 64 << 10;
  ASSERT_TRUE(run(*program, "k", linear(kGroups * 64, 64), arguments(out.data()), options));
  for (uint32_t g = 0; g < kGroups; ++g)
    ASSERT_EQ(out[g], g ^ 1234567);
  // For each thread: one workgroup's LDS, its wave's registers in a block of 256 KiB, and little else.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  EXPECT_LT(peakKiB() - before, 4 * 1024);
#else
  (void)before;
#endif
}

} // namespace
} // namespace wavesan::cpu::test
