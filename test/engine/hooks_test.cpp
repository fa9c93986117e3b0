// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hook calls reach the handler with the right operands, and schedules are repeatable.
#include "engine_fixture.h"
#include "ir_texts.h"

#include "wavesan/abi/hooks.h"

#include <set>
#include <sstream>

namespace wavesan::cpu::test {
namespace {

const std::string kDeclarations = std::string(kHookDeclarations) + R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
)";

/// Writes every call down.
struct Recorder : HookHandler {
  std::ostringstream log;
  std::vector<uint32_t> order; ///< wave of each call
  int open = 0;

  std::ostream &head(WaveView &w, const char *name, LaneMask exec) {
    order.push_back(w.wave);
    return log << name << " wg" << w.workgroup[0] << " w" << w.wave << "/" << w.waveCount << " " << std::hex << exec
               << std::dec;
  }
  void kernelBegin(WaveView &w, LaneMask exec, const abi::DispatchContext *context) override {
    if (!w.workgroupData) {
      w.workgroupData = this;
      ++open;
    }
    head(w, "begin", exec) << " " << reinterpret_cast<uintptr_t>(context) << "\n";
  }
  void kernelEnd(WaveView &w, LaneMask exec) override { head(w, "end", exec) << "\n"; }
  void ldsAccess(WaveView &w, LaneMask exec, const uint32_t *address, uint32_t info, uint32_t site,
                 uint32_t variable) override {
    head(w, "lds", exec) << " a" << address[__builtin_ctzll(exec)] << ".." << address[63 - __builtin_clzll(exec)]
                         << " i" << info << " s" << site << " v" << int(variable) << "\n";
  }
  void genericAccess(WaveView &w, LaneMask exec, const uint64_t *address, uint32_t info, uint32_t site) override {
    const uint64_t first = address[__builtin_ctzll(exec)];
    const bool shared = first >= uint64_t(w.lds) && first < uint64_t(w.lds) + w.ldsBytes;
    head(w, "generic", exec) << (shared ? " shared+" + std::to_string(first - uint64_t(w.lds)) : " global") << " i"
                             << info << " s" << site << "\n";
  }
  void ldsRange(WaveView &w, LaneMask exec, const uint32_t *address, const uint64_t *length, uint32_t info,
                uint32_t site, uint32_t variable) override {
    head(w, "ldsrange", exec) << " a" << address[0] << " n" << length[0] << " i" << info << " s" << site << " v"
                              << variable << "\n";
  }
  void genericRange(WaveView &w, LaneMask exec, const uint64_t *, const uint64_t *length, uint32_t info,
                    uint32_t site) override {
    head(w, "genericrange", exec) << " n" << length[0] << " i" << info << " s" << site << "\n";
  }
  void globalAccess(WaveView &w, LaneMask exec, const uint64_t *address, uint32_t info, uint32_t site) override {
    head(w, "global", exec) << " " << address[__builtin_ctzll(exec)] << " i" << info << " s" << site << "\n";
  }
  void globalRange(WaveView &w, LaneMask exec, const uint64_t *, const uint64_t *length, uint32_t info,
                   uint32_t site) override {
    head(w, "globalrange", exec) << " n" << length[0] << " i" << info << " s" << site << "\n";
  }
  void atomicDone(WaveView &w, LaneMask exec, const uint64_t *address, uint32_t info, uint32_t site,
                  LaneMask wrote) override {
    head(w, "done", exec) << " " << address[__builtin_ctzll(exec)] << " i" << info << " s" << site << " wrote "
                          << std::hex << wrote << std::dec << "\n";
  }
  void barrierArrive(WaveView &w, LaneMask exec, uint32_t site) override {
    head(w, "arrive", exec) << " s" << site << "\n";
  }
  void barrierLeave(WaveView &w, LaneMask exec, uint32_t site) override {
    head(w, "leave", exec) << " s" << site << "\n";
  }
  void fence(WaveView &w, LaneMask exec, uint32_t info) override { head(w, "fence", exec) << " i" << info << "\n"; }
  void wait(WaveView &w, LaneMask exec, uint32_t completed) override {
    head(w, "wait", exec) << " c" << completed << "\n";
  }
  void workgroupEnd(void *data) override {
    EXPECT_EQ(data, this);
    --open;
    log << "workgroup end\n";
  }
};

TEST(Hooks, EveryHookWithItsOperands) {
  Recorder recorder;
  Options options;
  options.hooks = &recorder;
  options.fixedLds = 512;
  uint64_t context = 0;
  runText(std::string(R"(
@a = internal addrspace(3) global [64 x i32] poison, align 16
@b = internal addrspace(3) global [32 x i32] poison, align 16
define amdgpu_kernel void @k(ptr addrspace(1) %ctx) {
entry:
  %state = alloca [64 x i8], align 8, addrspace(5)
  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %ctx)
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr [32 x i32], ptr addrspace(3) @b, i32 0, i32 %t
  %c = icmp ult i32 %t, 16
  br i1 %c, label %then, label %join
then:
  %i = ptrtoint ptr addrspace(3) %p to i32
  call void @__wavesan_lds_access(ptr addrspace(5) %state, i32 %i, i32 1026, i32 5, i32 ptrtoint (ptr addrspace(3) @b to i32))
  br label %join
join:
  call void @__wavesan_lds_access(ptr addrspace(5) %state, i32 8, i32 1025, i32 6, i32 -1)
  %g = addrspacecast ptr addrspace(3) %p to ptr
  call void @__wavesan_generic_access(ptr addrspace(5) %state, ptr %g, i32 1025, i32 7)
  %x = addrspacecast ptr addrspace(1) %ctx to ptr
  call void @__wavesan_generic_access(ptr addrspace(5) %state, ptr %x, i32 1025, i32 8)
  call void @__wavesan_lds_range(ptr addrspace(5) %state, i32 ptrtoint (ptr addrspace(3) @a to i32), i64 24, i32 2, i32 9, i32 0)
  call void @__wavesan_generic_range(ptr addrspace(5) %state, ptr %x, i64 24, i32 2, i32 10)
  call void @__wavesan_fence(ptr addrspace(5) %state, i32 518)
  call void @__wavesan_barrier_arrive(ptr addrspace(5) %state, i32 11)
  call void @llvm.amdgcn.s.barrier()
  call void @__wavesan_barrier_leave(ptr addrspace(5) %state, i32 11)
  call void @__wavesan_wait(ptr addrspace(5) %state, i32 3)
  call void @__wavesan_kernel_end(ptr addrspace(5) %state)
  ret void
}
)") + kDeclarations,
          linear(32, 32), arguments(&context), options);
  const std::string all = "wg0 w0/1 ffffffff";
  const std::string expected = "begin " + all + " " + std::to_string(uintptr_t(&context)) + "\n" +
                               "lds wg0 w0/1 ffff a256..316 i1026 s5 v256\n" + "lds " + all + " a8..8 i1025 s6 v-1\n" +
                               "generic " + all + " shared+256 i1025 s7\n" + "generic " + all + " global i1025 s8\n" +
                               "ldsrange " + all + " a0 n24 i2 s9 v0\n" + "genericrange " + all + " n24 i2 s10\n" +
                               "fence " + all + " i518\n" + "arrive " + all + " s11\n" + "leave " + all + " s11\n" +
                               "wait " + all + " c3\n" + "end " + all + "\nworkgroup end\n";
  EXPECT_EQ(recorder.log.str(), expected);
  EXPECT_EQ(recorder.open, 0);
}

TEST(Hooks, GlobalMemoryAndAtomics) {
  Recorder recorder;
  Options options;
  options.hooks = &recorder;
  uint32_t memory[32] = {};
  memory[3] = 7;
  runText(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %m) {
  %state = alloca [64 x i8], align 8, addrspace(5)
  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %m)
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(1) %m, i32 %t
  %g = addrspacecast ptr addrspace(1) %p to ptr
  call void @__wavesan_global_range(ptr addrspace(5) %state, ptr %g, i64 4, i32 1, i32 1)
  call void @__wavesan_global_access(ptr addrspace(5) %state, ptr %g, i32 1031, i32 2)
  %x = cmpxchg ptr addrspace(1) %p, i32 0, i32 9 monotonic monotonic
  %ok = extractvalue { i32, i1 } %x, 1
  call void @__wavesan_atomic_done(ptr addrspace(5) %state, ptr %g, i32 1031, i32 2, i1 %ok)
  ret void
}
)") + kDeclarations,
          linear(32, 32), arguments(memory), options);
  const std::string all = "wg0 w0/1 ffffffff", first = " " + std::to_string(uintptr_t(memory));
  EXPECT_EQ(recorder.log.str(), "begin " + all + first + "\nglobalrange " + all + " n4 i1 s1\nglobal " + all + first +
                                    " i1031 s2\ndone " + all + first + " i1031 s2 wrote fffffff7\nworkgroup end\n");
}

TEST(Hooks, NoOtherWaveRunsBetweenAnAtomicAndItsHooks) {
  auto program = load(assemble(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %m) {
entry:
  %state = alloca [64 x i8], align 8, addrspace(5)
  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %m)
  %g = addrspacecast ptr addrspace(1) %m to ptr
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
  call void @__wavesan_global_access(ptr addrspace(5) %state, ptr %g, i32 1031, i32 2)
  %x = atomicrmw add ptr addrspace(1) %m, i32 1 monotonic
  call void @__wavesan_atomic_done(ptr addrspace(5) %state, ptr %g, i32 1031, i32 2, i1 true)
  %n1 = add i32 %n, 1
  %c = icmp ult i32 %n1, 20
  br i1 %c, label %loop, label %exit
exit:
  ret void
}
)") + kDeclarations));
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Recorder recorder;
    Options options;
    options.hooks = &recorder;
    options.seed = seed;
    uint32_t memory = 0;
    ASSERT_TRUE(run(*program, "k", linear(256, 256), arguments(&memory), options));
    EXPECT_EQ(memory, 20u * 256);
    std::istringstream lines(recorder.log.str());
    std::string name, group, wave, open, rest;
    std::set<std::string> switches;
    while (lines >> name >> group >> wave && std::getline(lines, rest)) {
      if (name == "global") {
        EXPECT_EQ(open, "");
        open = wave;
      } else if (name == "done") {
        EXPECT_EQ(open, wave);
        open.clear();
        switches.insert(wave);
      }
    }
    EXPECT_EQ(switches.size(), 4u);
  }
}

const char kInterleaved[] = R"(
@a = internal addrspace(3) global [256 x i32] poison
define amdgpu_kernel void @k(ptr addrspace(1) %ctx) {
entry:
  %state = alloca [64 x i8], align 8, addrspace(5)
  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %ctx)
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr [256 x i32], ptr addrspace(3) @a, i32 0, i32 %t
  %i = ptrtoint ptr addrspace(3) %p to i32
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
  call void @__wavesan_lds_access(ptr addrspace(5) %state, i32 %i, i32 1026, i32 %n, i32 -1)
  store i32 %n, ptr addrspace(3) %p
  %n1 = add i32 %n, 1
  %c = icmp ult i32 %n1, 20
  br i1 %c, label %loop, label %exit
exit:
  call void @__wavesan_kernel_end(ptr addrspace(5) %state)
  ret void
}
)";

TEST(Hooks, TheSameSeedGivesTheSameInterleavingAndOthersDiffer) {
  auto program = load(assemble(std::string(kInterleaved) + kDeclarations));
  const auto interleaving = [&](uint64_t seed) {
    Recorder recorder;
    Options options;
    options.hooks = &recorder;
    options.fixedLds = 1024;
    options.seed = seed;
    EXPECT_TRUE(run(*program, "k", linear(512, 256), arguments(uint64_t(0)), options));
    return recorder.order;
  };
  std::set<std::vector<uint32_t>> different;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto first = interleaving(seed);
    EXPECT_EQ(first.size(), 2u * 4 * 22);
    EXPECT_EQ(first, interleaving(seed));
    different.insert(first);
  }
  EXPECT_GE(different.size(), 9u);
}

TEST(Hooks, ProgramsRunWithoutAHandler) {
  Options options;
  options.fixedLds = 1024;
  runText(std::string(kInterleaved) + kDeclarations, linear(256, 256), arguments(uint64_t(0)), options);
}

TEST(Hooks, WorkgroupsEndAlsoAfterErrors) {
  Recorder recorder;
  Options options;
  options.hooks = &recorder;
  auto program = load(assemble(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %ctx) {
  %state = alloca [64 x i8], align 8, addrspace(5)
  call void @__wavesan_kernel_begin(ptr addrspace(5) %state, ptr addrspace(1) %ctx)
  call void @llvm.trap()
  ret void
}
declare void @llvm.trap()
)") + kDeclarations));
  EXPECT_EQ(run(*program, "k", linear(256, 64), arguments(uint64_t(0)), options).kind, Outcome::Trap);
  EXPECT_EQ(recorder.open, 0);
  EXPECT_NE(recorder.log.str().find("workgroup end"), std::string::npos);
}

} // namespace
} // namespace wavesan::cpu::test
