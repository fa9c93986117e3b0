// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Divergence, reconvergence, phis, calls.
#include "engine_fixture.h"

namespace wavesan::cpu::test {
namespace {

const char kDeclarations[] = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i64 @llvm.amdgcn.ballot.i64(i1)
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare void @llvm.amdgcn.endpgm()
)";

/// Runs @k(out) on one wave of 64 and returns what it stored in out[0..64).
std::vector<uint64_t> wave(const std::string &body, uint32_t lanes = 64) {
  std::vector<uint64_t> out(64, 0xdead);
  runText(body + kDeclarations, linear(lanes, lanes), arguments(out.data()));
  return out;
}

const char kStore[] = R"(
  %p = getelementptr i64, ptr addrspace(1) %out, i32 %t
  store i64 %r, ptr addrspace(1) %p
)";

TEST(Control, NestedIfs) {
  const auto out = wave(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %low = icmp ult i32 %t, 20
  br i1 %low, label %a, label %b
a:
  %odd = trunc i32 %t to i1
  br i1 %odd, label %aodd, label %aeven
aodd:
  br label %join
aeven:
  %x = mul i32 %t, 10
  br label %join
b:
  %y = add i32 %t, 1000
  br label %join
join:
  %v = phi i32 [ 7, %aodd ], [ %x, %aeven ], [ %y, %b ]
  %all = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  %full = icmp eq i64 %all, -1
  %wide = zext i32 %v to i64
  %r = select i1 %full, i64 %wide, i64 0
)") + kStore + "  ret void\n}\n");
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i < 20 ? (i % 2 ? 7 : i * 10) : i + 1000) << i;
}

TEST(Control, LoopWithDivergentTripCountsAndSwappedPhis) {
  // Fibonacci by swapping two phis; lane i makes i rounds, and all lanes meet again behind the loop.
  const auto out = wave(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n1, %body ]
  %a = phi i64 [ 0, %entry ], [ %b, %body ]
  %b = phi i64 [ 1, %entry ], [ %s, %body ]
  %x = phi i64 [ 3, %entry ], [ %y, %body ]
  %y = phi i64 [ 4, %entry ], [ %x, %body ]
  %done = icmp eq i32 %n, %t
  br i1 %done, label %exit, label %body
body:
  %s = add i64 %a, %b
  %n1 = add i32 %n, 1
  br label %loop
exit:
  %all = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  %full = icmp eq i64 %all, -1
  %z = mul i64 %x, 1000000000000000
  %az = add i64 %a, %z
  %r = select i1 %full, i64 %az, i64 0
)") + kStore + "  ret void\n}\n");
  uint64_t a = 0, b = 1;
  for (uint64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(out[i], a + (i % 2 ? 4 : 3) * 1000000000000000u) << i;
    const uint64_t s = a + b;
    a = b;
    b = s;
  }
}

TEST(Control, BreakAndContinue) {
  const auto out = wave(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n1, %latch ]
  %sum = phi i64 [ 0, %entry ], [ %sum1, %latch ]
  %p3 = urem i32 %n, 3
  %skip = icmp eq i32 %p3, 1
  br i1 %skip, label %latch, label %work
work:
  %w = zext i32 %n to i64
  %added = add i64 %sum, %w
  %prod = mul i32 %n, %n
  %stop = icmp ugt i32 %prod, %t
  br i1 %stop, label %exit, label %latch
latch:
  %sum1 = phi i64 [ %sum, %loop ], [ %added, %work ]
  %n1 = add i32 %n, 1
  %more = icmp ult i32 %n1, 6
  br i1 %more, label %loop, label %exit
exit:
  %r = phi i64 [ %added, %work ], [ %sum1, %latch ]
)") + kStore + "  ret void\n}\n");
  for (uint64_t t = 0; t < 64; ++t) {
    uint64_t sum = 0;
    for (uint64_t n = 0; n < 6; ++n) {
      if (n % 3 == 1)
        continue;
      sum += n;
      if (n * n > t)
        break;
    }
    EXPECT_EQ(out[t], sum) << t;
  }
}

TEST(Control, LanesThatReturnOrEndLeaveTheOthersAlone) {
  const auto out = wave(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %early = icmp ult i32 %t, 10
  br i1 %early, label %gone, label %next
gone:
  ret void
next:
  %late = icmp ugt i32 %t, 60
  br i1 %late, label %kill, label %work
kill:
  call void @llvm.amdgcn.endpgm()
  unreachable
work:
  %r = call i64 @llvm.amdgcn.ballot.i64(i1 true)
)") + kStore + "  ret void\n}\n");
  const uint64_t live = (~uint64_t(0) >> 3) & (~uint64_t(0) << 10);
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i >= 10 && i <= 60 ? live : 0xdead) << i;
}

TEST(Control, SwitchGroupsLanes) {
  const auto out = wave(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %m = urem i32 %t, 6
  switch i32 %m, label %other [ i32 0, label %zero
                                i32 2, label %two
                                i32 5, label %two ]
zero:
  %bz = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  br label %join
two:
  %w = phi i64 [ 1, %entry ], [ 1, %entry ]
  br label %join
other:
  br label %join
join:
  %r = phi i64 [ %bz, %zero ], [ %w, %two ], [ 99, %other ]
)") + kStore + "  ret void\n}\n");
  uint64_t zeros = 0;
  for (uint64_t i = 0; i < 64; i += 6)
    zeros |= uint64_t(1) << i;
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i % 6 == 0 ? zeros : i % 6 == 2 || i % 6 == 5 ? 1 : 99) << i;
}

TEST(Control, IrreducibleLoop) {
  // Two entries into one cycle: collatz-like steps between %x and %y.
  const auto out = wave(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %odd = trunc i32 %t to i1
  br i1 %odd, label %x, label %y
x:
  %a = phi i32 [ %t, %entry ], [ %d, %y ]
  %b = add i32 %a, 3
  %stopx = icmp ugt i32 %b, 100
  br i1 %stopx, label %exit, label %y
y:
  %c = phi i32 [ %t, %entry ], [ %b, %x ]
  %d = add i32 %c, 5
  %stopy = icmp ugt i32 %d, 90
  br i1 %stopy, label %exit, label %x
exit:
  %e = phi i32 [ %b, %x ], [ %d, %y ]
  %r = zext i32 %e to i64
)") + kStore + "  ret void\n}\n");
  for (uint64_t t = 0; t < 64; ++t) {
    uint64_t v = t;
    for (bool x = t % 2;; x = !x) {
      v += x ? 3 : 5;
      if (v > (x ? 100u : 90u))
        break;
    }
    EXPECT_EQ(out[t], v) << t;
  }
}

TEST(Control, ValuesOfInactiveLanesSurviveALoop) {
  // A value of the last round is used behind the loop by lanes that left at different times.
  const auto out = wave(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %limit = urem i32 %t, 7
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
  %sq = mul i32 %n, %n
  %v0 = insertelement <2 x i32> poison, i32 %sq, i32 0
  %v = insertelement <2 x i32> %v0, i32 %n, i32 1
  %n1 = add i32 %n, 1
  %more = icmp ult i32 %n, %limit
  br i1 %more, label %loop, label %exit
exit:
  %e0 = extractelement <2 x i32> %v, i32 0
  %e1 = extractelement <2 x i32> %v, i32 1
  %e2 = mul i32 %e1, 1000
  %e = add i32 %e0, %e2
  %r = zext i32 %e to i64
)") + kStore + "  ret void\n}\n");
  for (uint64_t t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], (t % 7) * (t % 7) + (t % 7) * 1000);
}

TEST(Control, DirectRecursiveAndIndirectCalls) {
  const auto out = wave(std::string(R"(
@table = internal addrspace(4) constant [3 x ptr] [ptr @twice, ptr @fact, ptr @twice]
define i64 @fact(i64 %n) {
  %z = icmp eq i64 %n, 0
  br i1 %z, label %base, label %more
base:
  ret i64 1
more:
  %m = sub i64 %n, 1
  %f = call i64 @fact(i64 %m)
  %p = mul i64 %f, %n
  ret i64 %p
}
define i64 @twice(i64 %n) {
  %p = mul i64 %n, 2
  ret i64 %p
}
define {i64, i32, <2 x i16>} @many(i64 %a, <2 x i16> %v) {
  %b = trunc i64 %a to i32
  %r0 = insertvalue {i64, i32, <2 x i16>} poison, i64 %a, 0
  %r1 = insertvalue {i64, i32, <2 x i16>} %r0, i32 %b, 1
  %r2 = insertvalue {i64, i32, <2 x i16>} %r1, <2 x i16> %v, 2
  ret {i64, i32, <2 x i16>} %r2
}
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %w = zext i32 %t to i64
  %m = urem i64 %w, 8
  %i = urem i32 %t, 3
  %q = getelementptr [3 x ptr], ptr addrspace(4) @table, i32 0, i32 %i
  %f = load ptr, ptr addrspace(4) %q
  %c = call i64 %f(i64 %m)
  %s = trunc i64 %m to i16
  %v = insertelement <2 x i16> <i16 5, i16 6>, i16 %s, i32 1
  %x = call {i64, i32, <2 x i16>} @many(i64 %c, <2 x i16> %v)
  %x0 = extractvalue {i64, i32, <2 x i16>} %x, 0
  %x2 = extractvalue {i64, i32, <2 x i16>} %x, 2
  %x21 = extractelement <2 x i16> %x2, i32 1
  %y = zext i16 %x21 to i64
  %z = mul i64 %y, 1000000
  %r = add i64 %x0, %z
)") + kStore + "  ret void\n}\n");
  const uint64_t factorial[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (uint64_t t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], (t % 3 == 1 ? factorial[t % 8] : 2 * (t % 8)) + (t % 8) * 1000000) << t;
}

TEST(Control, CallsByATypeOfTheSameRegisters) {
  const auto out = wave(std::string(R"(
define internal ptr addrspace(1) @next(ptr %p, i32 %k) noinline {
  %i = ptrtoint ptr %p to i64
  %w = zext i32 %k to i64
  %s = add i64 %i, %w
  %q = inttoptr i64 %s to ptr addrspace(1)
  ret ptr addrspace(1) %q
}
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %r = call i64 @next(i64 1000, i32 %t)
)") + kStore + "  ret void\n}\n");
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 1000 + i);
}

TEST(Control, EndingInsideACallEndsOnlyThoseLanes) {
  const auto out = wave(std::string(R"(
define i64 @f(i32 %t) {
  %x = icmp ult i32 %t, 5
  br i1 %x, label %end, label %go
end:
  call void @llvm.amdgcn.endpgm()
  unreachable
go:
  ret i64 42
}
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %r = call i64 @f(i32 %t)
)") + kStore + "  ret void\n}\n");
  for (uint64_t t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], t < 5 ? 0xdead : 42);
}

TEST(Control, PartialWave) {
  const auto out = wave(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %r = call i64 @llvm.amdgcn.ballot.i64(i1 true)
)") + kStore + "  ret void\n}\n",
                        37);
  for (uint64_t t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], t < 37 ? (uint64_t(1) << 37) - 1 : 0xdead);
}

} // namespace
} // namespace wavesan::cpu::test
