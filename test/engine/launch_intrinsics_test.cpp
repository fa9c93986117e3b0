// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel learns of its launch, clocks, and intrinsics that change nothing that can be observed.
#include "engine_fixture.h"

namespace wavesan::cpu::test {
namespace {

/// Every work-item of the grid stores `value` (i64) at its place in the grid, x first.
std::vector<uint64_t> storedBy(const std::string &body, const std::string &declarations, const Size &size,
                               const Options &options = {}) {
  std::vector<uint64_t> out(size_t(size.grid[0]) * size.grid[1] * size.grid[2], 0xdead);
  std::string ids, flat;
  const char axes[] = "xyz";
  for (int a = 0; a < 3; ++a) {
    const std::string c(1, axes[a]);
    ids += "  %t" + c + " = call i32 @llvm.amdgcn.workitem.id." + c + "()\n  %w" + c +
           " = call i32 @llvm.amdgcn.workgroup.id." + c + "()\n  %b" + c + " = mul i32 %w" + c + ", " +
           std::to_string(size.workgroup[a]) + "\n  %g" + c + " = add i32 %b" + c + ", %t" + c + "\n";
    flat += "declare i32 @llvm.amdgcn.workitem.id." + c + "()\ndeclare i32 @llvm.amdgcn.workgroup.id." + c + "()\n";
  }
  runText("@lds = internal addrspace(3) global [24 x i32] poison\ndefine amdgpu_kernel void @k(ptr addrspace(1) %out, "
          "i64 %x) {\n" +
              ids + "  %gzy = mul i32 %gz, " + std::to_string(size.grid[1]) +
              "\n  %gzyy = add i32 %gzy, %gy\n  %row = mul i32 %gzyy, " + std::to_string(size.grid[0]) +
              "\n  %at = add i32 %row, %gx\n" + body +
              "\n  %po = getelementptr i64, ptr addrspace(1) %out, i32 %at\n  store i64 %r, ptr addrspace(1) %po\n  "
              "ret void\n}\n" +
              flat + declarations,
          size, arguments(out.data(), uint64_t(0x1122334455667788)), options);
  return out;
}

TEST(LaunchIntrinsics, PlacesInTheGrid) {
  const Size size{{10, 6, 5}, {4, 3, 2}}; // partial workgroups at the ends of x and z
  const std::string pack =
      "  %s0 = shl i32 %ty, 4\n  %s1 = shl i32 %tz, 8\n  %s2 = shl i32 %wx, 12\n  %s3 = shl i32 %wy, 16\n"
      "  %s4 = shl i32 %wz, 20\n  %o0 = or i32 %tx, %s0\n  %o1 = or i32 %o0, %s1\n  %o2 = or i32 %o1, %s2\n"
      "  %o3 = or i32 %o2, %s3\n  %o4 = or i32 %o3, %s4\n  %r = zext i32 %o4 to i64";
  for (const char *target : {"gfx90a", "gfx1100"}) {
    Options options;
    options.target = target;
    const auto out = storedBy(pack, "", size, options);
    for (uint32_t z = 0, k = 0; z < 5; ++z)
      for (uint32_t y = 0; y < 6; ++y)
        for (uint32_t x = 0; x < 10; ++x, ++k)
          ASSERT_EQ(out[k], x % 4 | y % 3 << 4 | z % 2 << 8 | x / 4 << 12 | y / 3 << 16 | z / 2 << 20)
              << x << " " << y << " " << z;
  }
}

TEST(LaunchIntrinsics, PointersAndSizes) {
  Options options;
  options.queue = 0x123456789abc, options.dispatchId = 77, options.fixedLds = 96;
  const auto one = [&](const std::string &body, const std::string &declarations) {
    const auto out = storedBy(body, declarations, linear(64, 64), options);
    for (const uint64_t v : out)
      EXPECT_EQ(v, out[0]);
    return out[0];
  };
  const std::string pointer = "declare ptr addrspace(4) @llvm.amdgcn.";
  EXPECT_EQ(one("  %p = call ptr addrspace(4) @llvm.amdgcn.queue.ptr()\n  %r = ptrtoint ptr addrspace(4) %p to i64",
                pointer + "queue.ptr()\n"),
            options.queue);
  EXPECT_EQ(one("  %r = call i64 @llvm.amdgcn.dispatch.id()", "declare i64 @llvm.amdgcn.dispatch.id()\n"),
            options.dispatchId);
  EXPECT_EQ(one("  %s = call i32 @llvm.amdgcn.groupstaticsize()\n  %r = zext i32 %s to i64",
                "declare i32 @llvm.amdgcn.groupstaticsize()\n"),
            96u);
  // The second argument; hidden arguments begin behind the two.
  EXPECT_EQ(one("  %p = call ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()\n  %q = getelementptr i8, ptr "
                "addrspace(4) %p, "
                "i32 8\n  %r = load i64, ptr addrspace(4) %q",
                pointer + "kernarg.segment.ptr()\n"),
            0x1122334455667788u);
  EXPECT_EQ(one("  %p = call ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()\n  %q = call ptr addrspace(4) "
                "@llvm.amdgcn.implicitarg.ptr()\n  %a = ptrtoint ptr addrspace(4) %p to i64\n  %b = ptrtoint ptr "
                "addrspace(4) %q "
                "to i64\n  %r = sub i64 %b, %a",
                pointer + "kernarg.segment.ptr()\n" + pointer + "implicitarg.ptr()\n"),
            16u);
  EXPECT_EQ(one("  %p = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()\n  %q = getelementptr i8, ptr addrspace(4) "
                "%p, i32 12\n"
                "  %g = load i32, ptr addrspace(4) %q\n  %r = zext i32 %g to i64",
                pointer + "dispatch.ptr()\n"),
            64u);
}

TEST(LaunchIntrinsics, ClocksAdvance) {
  for (const std::string name : {"amdgcn.s.memtime", "amdgcn.s.memrealtime", "readcyclecounter", "readsteadycounter"}) {
    const auto out = storedBy(
        "  %a = call i64 @llvm." + name + "()\n  %b = call i64 @llvm." + name + "()\n  %c = call i64 @llvm." + name +
            "()\n  %ab = icmp ult i64 %a, %b\n  %bc = icmp ult i64 %b, %c\n  %f = and i1 %ab, %bc\n"
            "  %d = sub i64 %c, %a\n  %r = select i1 %f, i64 %d, i64 0",
        "declare i64 @llvm." + name + "()\n", linear(128, 64));
    for (const uint64_t v : out)
      EXPECT_GT(v, 0u) << name;
  }
}

TEST(LaunchIntrinsics, HintsAndCachesChangeNothing) {
  std::string calls, declarations;
  const auto add = [&](const std::string &name, const std::string &operands, const std::string &types) {
    calls += "  call void @llvm." + name + "(" + operands + ")\n";
    declarations += "declare void @llvm." + name + "(" + types + ")\n";
  };
  for (const char *name :
       {"amdgcn.wave.barrier", "amdgcn.s.dcache.inv", "amdgcn.s.dcache.inv.vol", "amdgcn.s.dcache.wb",
        "amdgcn.s.dcache.wb.vol", "amdgcn.buffer.wbinvl1", "amdgcn.buffer.wbinvl1.sc", "amdgcn.buffer.wbinvl1.vol",
        "sideeffect", "donothing", "debugtrap"})
    add(name, "", "");
  for (const char *name : {"amdgcn.sched.barrier", "amdgcn.iglp.opt", "amdgcn.s.incperflevel", "amdgcn.s.decperflevel",
                           "amdgcn.s.ttracedata", "amdgcn.s.sleep", "amdgcn.s.sleep.var", "amdgcn.s.waitcnt"})
    add(name, "i32 0", "i32");
  for (const char *name : {"amdgcn.s.nop", "amdgcn.s.setprio", "amdgcn.s.wait.bvhcnt", "amdgcn.s.wait.dscnt",
                           "amdgcn.s.wait.expcnt", "amdgcn.s.wait.kmcnt", "amdgcn.s.wait.loadcnt",
                           "amdgcn.s.wait.samplecnt", "amdgcn.s.wait.storecnt", "amdgcn.s.wait.asynccnt"})
    add(name, "i16 0", "i16");
  add("amdgcn.sched.group.barrier", "i32 8, i32 1, i32 0", "i32, i32, i32");
  add("amdgcn.s.sendmsg", "i32 1, i32 0", "i32, i32");
  add("amdgcn.ds.gws.init", "i32 0, i32 0", "i32, i32");
  add("assume", "i1 true", "i1");
  add("fake.use", "i32 %at", "...");
  calls.replace(calls.find("call void @llvm.fake.use"), 24, "call void (...) @llvm.fake.use");
  add("prefetch.p1", "ptr addrspace(1) %out, i32 0, i32 3, i32 1", "ptr addrspace(1), i32, i32, i32");
  add("pseudoprobe", "i64 1, i64 1, i32 0, i64 -1", "i64, i64, i32, i64");
  add("experimental.noalias.scope.decl", "metadata !2", "metadata");
  calls = "  %slot = alloca i64, align 8, addrspace(5)\n" + calls;
  add("lifetime.start.p5", "ptr addrspace(5) %slot", "ptr addrspace(5)");
  calls += "  %state = call ptr addrspace(5) @llvm.stacksave.p5()\n  store i64 %x, ptr addrspace(5) %slot\n"
           "  %inv = call ptr @llvm.invariant.start.p5(i64 8, ptr addrspace(5) %slot)\n  %y = load i64, ptr "
           "addrspace(5) %slot\n"
           "  call void @llvm.invariant.end.p5(ptr %inv, i64 8, ptr addrspace(5) %slot)\n"
           "  call void @llvm.stackrestore.p5(ptr addrspace(5) %state)\n"
           "  call void @llvm.var.annotation.p5.p1(ptr addrspace(5) %slot, ptr addrspace(1) null, ptr addrspace(1) "
           "null, i32 1, "
           "ptr addrspace(1) null)\n";
  add("lifetime.end.p5", "ptr addrspace(5) %slot", "ptr addrspace(5)");
  declarations +=
      "declare ptr addrspace(5) @llvm.stacksave.p5()\ndeclare void @llvm.stackrestore.p5(ptr addrspace(5))\n"
      "declare ptr @llvm.invariant.start.p5(i64, ptr addrspace(5))\n"
      "declare void @llvm.invariant.end.p5(ptr, i64, ptr addrspace(5))\n"
      "declare void @llvm.var.annotation.p5.p1(ptr addrspace(5), ptr addrspace(1), ptr addrspace(1), i32, ptr "
      "addrspace(1))\n!0 = distinct !{!0}\n!1 = distinct !{!1, !0}\n!2 = !{!1}\n";
  const auto out = storedBy(calls + "  %w = zext i32 %at to i64\n  %r = add i64 %y, %w", declarations, linear(128, 64));
  for (size_t k = 0; k < out.size(); ++k)
    ASSERT_EQ(out[k], 0x1122334455667788 + k);
}

TEST(LaunchIntrinsics, WhatReturnsItsOperand) {
  const auto out = storedBy(
      "  %w = zext i32 %at to i64\n  %a = call i64 @llvm.expect.i64(i64 %w, i64 3)\n"
      "  %b = call i64 @llvm.expect.with.probability.i64(i64 %a, i64 3, double 0.5)\n  %c = call i64 "
      "@llvm.ssa.copy.i64(i64 %b)\n"
      "  %d = call i64 @llvm.annotation.i64.p1(i64 %c, ptr addrspace(1) null, ptr addrspace(1) null, i32 1)\n"
      "  %f = uitofp i64 %d to double\n  %g = call double @llvm.arithmetic.fence.f64(double %f)\n  %h = fptoui double "
      "%g to i64\n"
      "  %p = inttoptr i64 %h to ptr\n  %q = call ptr @llvm.launder.invariant.group.p0(ptr %p)\n"
      "  %s = call ptr @llvm.strip.invariant.group.p0(ptr %q)\n"
      "  %u = call ptr @llvm.ptr.annotation.p0.p1(ptr %s, ptr addrspace(1) null, ptr addrspace(1) null, i32 1, ptr "
      "addrspace(1) null)\n"
      "  %i = ptrtoint ptr %u to i64\n  %k = call i1 @llvm.is.constant.i64(i64 %w)\n  %r = select i1 %k, i64 -1, i64 "
      "%i",
      "declare i64 @llvm.expect.i64(i64, i64)\ndeclare i64 @llvm.expect.with.probability.i64(i64, i64, double)\n"
      "declare i64 @llvm.ssa.copy.i64(i64)\n"
      "declare i64 @llvm.annotation.i64.p1(i64, ptr addrspace(1), ptr addrspace(1), i32)\n"
      "declare double @llvm.arithmetic.fence.f64(double)\ndeclare ptr @llvm.launder.invariant.group.p0(ptr)\n"
      "declare ptr @llvm.strip.invariant.group.p0(ptr)\n"
      "declare ptr @llvm.ptr.annotation.p0.p1(ptr, ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1))\n"
      "declare i1 @llvm.is.constant.i64(i64)\n",
      linear(128, 64));
  for (size_t k = 0; k < out.size(); ++k)
    ASSERT_EQ(out[k], k);
}

TEST(LaunchIntrinsics, CopiesOfKnownSizeAndAddresses) {
  // memset of 24 bytes, then 8 of them overwritten from the kernarg segment's copy in private memory.
  const auto out = storedBy(
      "  %slot = alloca [3 x i64], align 8, addrspace(5)\n  %from = alloca i64, align 8, addrspace(5)\n"
      "  store i64 %x, ptr addrspace(5) %from\n  call void @llvm.memset.inline.p5.i32(ptr addrspace(5) %slot, i8 7, "
      "i32 24, i1 false)\n"
      "  %second = getelementptr i64, ptr addrspace(5) %slot, i32 1\n"
      "  call void @llvm.memcpy.inline.p5.p5.i32(ptr addrspace(5) %second, ptr addrspace(5) %from, i32 8, i1 false)\n"
      "  %flat = call ptr @llvm.amdgcn.addrspacecast.nonnull.p0.p5(ptr addrspace(5) %slot)\n"
      "  %third = getelementptr i64, ptr %flat, i32 2\n  %a = load i64, ptr %flat\n  %b = load i64, ptr addrspace(5) "
      "%second\n"
      "  %c = load i64, ptr %third\n  %ab = add i64 %a, %b\n  %abc = add i64 %ab, %c\n"
      "  %exec = call i64 @llvm.read_volatile_register.i64(metadata !0)\n  %full = icmp eq i64 %exec, -1\n"
      "  %r = select i1 %full, i64 %abc, i64 0",
      "declare void @llvm.memset.inline.p5.i32(ptr addrspace(5), i8, i32, i1)\n"
      "declare void @llvm.memcpy.inline.p5.p5.i32(ptr addrspace(5), ptr addrspace(5), i32, i1)\n"
      "declare ptr @llvm.amdgcn.addrspacecast.nonnull.p0.p5(ptr addrspace(5))\n"
      "declare i64 @llvm.read_volatile_register.i64(metadata)\n!0 = !{!\"exec\"}\n",
      linear(64, 64));
  for (const uint64_t v : out)
    ASSERT_EQ(v, 2 * uint64_t(0x0707070707070707) + 0x1122334455667788);
}

TEST(LaunchIntrinsics, TrapsAndEnds) {
  const auto outcomeOf = [](const std::string &body, const std::string &declarations) {
    auto program = load(assemble("define amdgpu_kernel void @k() {\n" + body + "}\n" + declarations));
    return program ? run(*program, "k", linear(64, 64), arguments()) : Outcome{Outcome::InvalidLaunch, "not loaded"};
  };
  const Outcome ubsan =
      outcomeOf("  call void @llvm.ubsantrap(i8 3)\n  unreachable\n", "declare void @llvm.ubsantrap(i8)\n");
  EXPECT_EQ(ubsan.kind, Outcome::Trap) << ubsan.message;
  const Outcome unreachable =
      outcomeOf("  call void @llvm.amdgcn.unreachable()\n  ret void\n", "declare void @llvm.amdgcn.unreachable()\n");
  EXPECT_EQ(unreachable.kind, Outcome::Trap) << unreachable.message;
  const Outcome end =
      outcomeOf("  call void @llvm.amdgcn.endpgm()\n  unreachable\n", "declare void @llvm.amdgcn.endpgm()\n");
  EXPECT_EQ(end.kind, Outcome::Success) << end.message;
}

} // namespace
} // namespace wavesan::cpu::test
