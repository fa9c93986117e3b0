// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes wrong in a program, or cannot be executed, ends a dispatch with a named outcome.
#include "engine_fixture.h"

#include <chrono>
#include <thread>

namespace wavesan::cpu::test {
namespace {

const char kDeclarations[] = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.barrier.signal(i32)
declare void @llvm.amdgcn.s.barrier.wait(i16)
declare void @llvm.trap()
declare float @llvm.amdgcn.cubeid(float, float, float)
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
)";

Outcome outcomeOf(const std::string &ir, const Arguments &a = arguments(uint64_t(0)), const Options &options = {},
                  const Size &size = linear(64, 64)) {
  auto program = load(assemble(ir + kDeclarations), options);
  return program ? run(*program, "k", size, a, options) : Outcome{};
}

void expectOutcome(const Outcome &outcome, Outcome::Kind kind, std::initializer_list<const char *> parts) {
  EXPECT_EQ(outcome.kind, kind) << outcome.message;
  for (const char *part : parts)
    EXPECT_NE(outcome.message.find(part), std::string::npos) << "no \"" << part << "\" in: " << outcome.message;
  EXPECT_EQ(outcome.message.find('\n'), std::string::npos);
}

TEST(Errors, UnsupportedInstructionIsNamedWithItsPosition) {
  const char ir[] = R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) !dbg !4 {
  %r = call float @llvm.amdgcn.cubeid(float 1.0, float 1.0, float 1.0), !dbg !5
  store float %r, ptr addrspace(1) %out, !dbg !5
  ret void, !dbg !5
}
define amdgpu_kernel void @other(ptr addrspace(1) %out) {
  store i32 5, ptr addrspace(1) %out
  ret void
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "blur.hip", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !{})
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 10, type: !3, unit: !0)
!5 = !DILocation(line: 12, column: 3, scope: !4)
)";
  auto program = load(assemble(std::string(ir) + kDeclarations));
  uint64_t out = 0;
  expectOutcome(run(*program, "k", linear(64, 64), arguments(&out)), Outcome::UnsupportedInstruction,
                {"llvm.amdgcn.cubeid", "(kernel k, blur.hip:12)"});
  // Other kernels of the module run.
  EXPECT_TRUE(run(*program, "other", linear(64, 64), arguments(&out)));
  EXPECT_EQ(out, 5u);
}

TEST(Errors, InlineAssemblyIsNamed) {
  expectOutcome(outcomeOf(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %r = call i32 asm sideeffect "v_rcp_iflag_f32 $0, 1", "=v"()
  ret void
})"),
                Outcome::UnsupportedInstruction, {"v_rcp_iflag_f32", "kernel k"});
  // Empty assembly only hides values.
  uint32_t out = 0;
  EXPECT_TRUE(outcomeOf(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %r = call i32 asm sideeffect "", "=v,0"(i32 17)
  call void asm sideeffect "; nothing", "~{memory}"()
  store i32 %r, ptr addrspace(1) %out
  ret void
})",
                        arguments(&out)));
  EXPECT_EQ(out, 17u);
}

TEST(Errors, InlineAssemblyWithoutDataEffectIsExecuted) {
  const auto kernel = [](const char *text) {
    return std::string("define amdgpu_kernel void @k(ptr addrspace(1) %out) {\n  call void asm sideeffect \"") + text +
           "\", \"~{memory}\"()\n  store i32 3, ptr addrspace(1) %out\n  ret void\n}\n";
  };
  for (const char *text :
       {"s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0) ; all of LDS\\0A\\09s_nop 0", "v_mov_b32 v0, 1",
        "s_nop 0 /* \\0A */", "\\0A  // waits\\0A  s_waitcnt vmcnt(0) lgkmcnt(0)\\0A\\0A s_setprio 1 // up\\0A",
        "s_sleep 2", "s_sethalt 0", "; v_mov_b32 v0, 1", "", "s_barrier", "s_nop 1\\0As_sleep 1"}) {
    uint32_t out = 0;
    const Outcome outcome = outcomeOf(kernel(text), arguments(&out));
    EXPECT_TRUE(outcome) << outcome.message;
    EXPECT_EQ(out, 3u) << text;
  }
  for (const char *text :
       {"s_waitcnt vmcnt(0)\\0A v_rcp_iflag_f32 v0, 1", "s_sethalt 1", "s_wait_idle", "v_mov_b32 v0, v1",
        "v_add_f32 v0, -v0, v0", "s_barrier 1", "s_waitcntx", "s_endpgm", "s_wait", "s_nop 0\\0As_trap 2", "s_nop$$ 0",
        "label: s_nop 0", "global_load_dword v0, v1, s[0:1]"}) {
    uint32_t out = 0;
    expectOutcome(outcomeOf(kernel(text), arguments(&out)), Outcome::UnsupportedInstruction,
                  {"inline assembly", "kernel k"});
    EXPECT_EQ(out, 0u) << text;
  }
  // Immediates do not matter, tied values pass, and other outputs would be guesses.
  uint32_t out = 0;
  EXPECT_TRUE(outcomeOf(R"ir(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  call void asm sideeffect "s_waitcnt vmcnt($0)", "n"(i32 2)
  %r = call i32 asm sideeffect "s_waitcnt lgkmcnt(0)", "=v,0,~{memory}"(i32 17)
  store i32 %r, ptr addrspace(1) %out
  ret void
})ir",
                        arguments(&out)));
  EXPECT_EQ(out, 17u);
  expectOutcome(outcomeOf("define amdgpu_kernel void @k() {\n  %r = call i32 asm sideeffect \"s_nop 0\", \"=v\"()\n  "
                          "ret void\n}\n"),
                Outcome::UnsupportedInstruction, {"output", "kernel k"});
}

TEST(Errors, InlineAssemblyBarriersAreBarriers) {
  Options options;
  options.fixedLds = 1024;
  for (options.seed = 0; options.seed < 10; ++options.seed) {
    std::vector<uint32_t> out(256);
    EXPECT_TRUE(outcomeOf(R"(
@a = internal addrspace(3) global [256 x i32] poison
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(3) @a, i32 %t
  store i32 7, ptr addrspace(3) %p
  call void asm sideeffect "s_waitcnt lgkmcnt(0)\0A\09s_barrier\0A\09s_nop 0\0As_barrier", "~{memory}"()
  store i32 %t, ptr addrspace(3) %p
  call void asm sideeffect "s_waitcnt lgkmcnt(0) ; s_nop\0A\09s_barrier", "~{memory}"()
  %x = xor i32 %t, 192
  %q = getelementptr i32, ptr addrspace(3) @a, i32 %x
  %v = load i32, ptr addrspace(3) %q
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %o
  ret void
})",
                          arguments(out.data()), options, linear(256, 256)));
    for (uint32_t i = 0; i < 256; ++i)
      ASSERT_EQ(out[i], i ^ 192);
  }
}

TEST(Errors, UndefinedFunctionsAndSymbols) {
  expectOutcome(
      outcomeOf("declare void @missing()\ndefine amdgpu_kernel void @k() {\n  call void @missing()\n  ret void\n}\n"),
      Outcome::UnsupportedInstruction, {"missing", "kernel k"});
  expectOutcome(outcomeOf("@gone = external addrspace(1) global i32\ndefine amdgpu_kernel void @k() {\n  store i32 1, "
                          "ptr addrspace(1) @gone\n  ret void\n}\n"),
                Outcome::UnsupportedInstruction, {"gone"});
}

TEST(Errors, LdsBeyondTheGroupSegment) {
  Options options;
  options.fixedLds = 128;
  for (const char *access : {"store i32 %t, ptr addrspace(3) %p", "%v = load i32, ptr addrspace(3) %p",
                             "%v = atomicrmw add ptr addrspace(3) %p, i32 1 monotonic"})
    expectOutcome(
        outcomeOf(std::string("@a = internal addrspace(3) global [32 x i32] poison\n"
                              "define amdgpu_kernel void @k() {\n  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
                              "  %p = getelementptr i32, ptr addrspace(3) @a, i32 %t\n  ") +
                      access + "\n  ret void\n}\n",
                  arguments(), options),
        Outcome::MemoryFault, {"LDS offset 0x80", "lane 32", "128 bytes", "kernel k"});
}

TEST(Errors, NullAndWildPointers) {
  uint64_t out = 0;
  expectOutcome(
      outcomeOf(
          "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n  %q = getelementptr i32, ptr addrspace(1) %p, i32 5\n"
          "  store i32 1, ptr addrspace(1) %q\n  ret void\n}\n"),
      Outcome::MemoryFault, {"store", "0x14", "kernel k"});
  expectOutcome(outcomeOf("define amdgpu_kernel void @k(ptr %p) {\n  %v = load i32, ptr %p\n  ret void\n}\n",
                          arguments(uint64_t(0x8000'0000'0000'0000))),
                Outcome::MemoryFault, {"load", "0x8000000000000000"});
  expectOutcome(
      outcomeOf(
          "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n  %q = getelementptr i8, ptr addrspace(1) %p, i32 1\n"
          "  %v = atomicrmw add ptr addrspace(1) %q, i32 1 monotonic\n  ret void\n}\n",
          arguments(&out)),
      Outcome::MemoryFault, {"misaligned"});
  expectOutcome(outcomeOf("define amdgpu_kernel void @k(ptr %p) {\n  call void %p()\n  ret void\n}\n", arguments(&out)),
                Outcome::MemoryFault, {"no function"});
}

TEST(Errors, EndlessRecursionAndPrivateMemory) {
  expectOutcome(outcomeOf("define void @f(i32 %n) {\n  %m = add i32 %n, 1\n  call void @f(i32 %m)\n  ret void\n}\n"
                          "define amdgpu_kernel void @k() {\n  call void @f(i32 0)\n  ret void\n}\n"),
                Outcome::MemoryFault, {"call depth", "kernel k"});
  expectOutcome(
      outcomeOf(
          "define void @f(i32 %n) {\n  %a = alloca [1000 x i32], addrspace(5)\n  store i32 %n, ptr addrspace(5) %a\n"
          "  call void @f(i32 0)\n  ret void\n}\ndefine amdgpu_kernel void @k() {\n  call void @f(i32 0)\n  ret "
          "void\n}\n"),
      Outcome::MemoryFault, {"private memory", "kernel k"});
  expectOutcome(
      outcomeOf(
          "define amdgpu_kernel void @k() {\n  %a = alloca [4 x i32], addrspace(5)\n"
          "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %i = mul i32 %t, 100\n"
          "  %p = getelementptr i32, ptr addrspace(5) %a, i32 %i\n  store i32 1, ptr addrspace(5) %p\n  ret void\n}\n"),
      Outcome::MemoryFault, {"private offset", "lane 1"});
}

TEST(Errors, TrapsAndUnreachable) {
  expectOutcome(outcomeOf("define amdgpu_kernel void @k() {\n  call void @llvm.trap()\n  unreachable\n}\n"),
                Outcome::Trap, {"trap", "kernel k"});
  expectOutcome(outcomeOf("define amdgpu_kernel void @k() {\n  unreachable\n}\n"), Outcome::Trap, {"unreachable"});
}

TEST(Errors, DeadlockIsReported) {
  // Wave 0 waits twice but signals once; wave 1 signals and waits once.
  const Outcome outcome = outcomeOf(R"(
define amdgpu_kernel void @k() {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  call void @llvm.amdgcn.s.barrier.signal(i32 -1)
  call void @llvm.amdgcn.s.barrier.wait(i16 -1)
  call void @llvm.amdgcn.s.barrier.wait(i16 -1)
  ret void
})",
                                    arguments(), {}, linear(128, 128));
  expectOutcome(outcome, Outcome::Deadlock,
                {"deadlock", "2 of 2 waves", "wave 0 at an unknown line, wave 1 at", "kernel k"});
}

TEST(Errors, EndedWavesSatisfyBarriers) {
  std::vector<uint32_t> out(256);
  EXPECT_TRUE(outcomeOf(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %early = icmp ult i32 %t, 64
  br i1 %early, label %end, label %go
go:
  call void @llvm.amdgcn.s.barrier()
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 1, ptr addrspace(1) %p
  br label %end
end:
  ret void
})",
                        arguments(out.data()), {}, linear(256, 256)));
  EXPECT_EQ(out[63], 0u);
  EXPECT_EQ(out[64], 1u);
}

TEST(Errors, SplitBarriers) {
  Options options;
  options.fixedLds = 512;
  std::vector<uint32_t> out(128);
  for (options.seed = 0; options.seed < 10; ++options.seed) {
    EXPECT_TRUE(outcomeOf(R"(
@a = internal addrspace(3) global [128 x i32] poison
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(3) @a, i32 %t
  store i32 %t, ptr addrspace(3) %p
  call void @llvm.amdgcn.s.barrier.signal(i32 -1)
  call void @llvm.amdgcn.s.barrier.wait(i16 -1)
  %x = xor i32 %t, 64
  %q = getelementptr i32, ptr addrspace(3) @a, i32 %x
  %v = load i32, ptr addrspace(3) %q
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %o
  ret void
})",
                          arguments(out.data()), options, linear(128, 128)));
    for (uint32_t i = 0; i < 128; ++i)
      ASSERT_EQ(out[i], i ^ 64);
  }
}

TEST(Errors, InvalidLaunches) {
  auto program = load(assemble(
      "@a = internal addrspace(3) global [32 x i32] poison\n"
      "define amdgpu_kernel void @k(ptr %p, [100 x i64] %big) {\n  store i32 1, ptr addrspace(3) @a\n  ret void\n}\n"));
  const std::array<uint64_t, 100> big{};
  Options options;
  expectOutcome(run(*program, "nothing", linear(1, 1), arguments()), Outcome::InvalidLaunch, {"nothing"});
  expectOutcome(run(*program, "k", linear(1, 1), arguments(uint64_t(0), big), options), Outcome::InvalidLaunch,
                {"LDS", "128"});
  options.fixedLds = 128;
  EXPECT_TRUE(run(*program, "k", linear(1, 1), arguments(uint64_t(0), big), options));
  expectOutcome(run(*program, "k", linear(1, 1), arguments(uint64_t(0)), options), Outcome::InvalidLaunch, {"kernarg"});
  expectOutcome(run(*program, "k", linear(2048, 2048), arguments(uint64_t(0), big), options), Outcome::InvalidLaunch,
                {"1024"});
  expectOutcome(run(*program, "k", linear(0, 64), arguments(uint64_t(0), big), options), Outcome::InvalidLaunch,
                {"zero"});
  // 2^64 workgroups are not none.
  expectOutcome(run(*program, "k", {{1u << 31, 1u << 31, 4}, {1, 1, 1}}, arguments(uint64_t(0), big), options),
                Outcome::InvalidLaunch, {"2^64"});
}

TEST(Errors, ReadsBeyondTheKernargSegment) {
  expectOutcome(
      outcomeOf("define amdgpu_kernel void @k(ptr %x) {\n  %p = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
                "  %q = getelementptr i8, ptr addrspace(4) %p, i32 256\n  %v = load i32, ptr addrspace(4) %q\n  ret "
                "void\n}\n"),
      Outcome::MemoryFault, {"kernarg"});
}

TEST(Errors, BrokenModules) {
  std::string error;
  EXPECT_EQ(Program::load("not bitcode", "gfx90a", nullptr, error), nullptr);
  EXPECT_FALSE(error.empty());
  error.clear();
  EXPECT_EQ(Program::load(assemble("define void @f() { ret void }"), "sm_90", nullptr, error), nullptr);
  EXPECT_NE(error.find("sm_90"), std::string::npos);
}

TEST(Errors, CancelStopsAnEndlessLoop) {
  std::atomic<bool> cancel{false};
  Options options;
  options.cancel = &cancel;
  std::thread timer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancel = true;
  });
  const Outcome outcome = outcomeOf(
      "define amdgpu_kernel void @k() {\nentry:\n  br label %loop\nloop:\n  br label %loop\n}\n", arguments(), options);
  timer.join();
  expectOutcome(outcome, Outcome::Cancelled, {"cancelled", "kernel k"});
}

} // namespace
} // namespace wavesan::cpu::test
