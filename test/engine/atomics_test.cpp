// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic operations of every width, in LDS and global memory, and between host threads.
#include "engine_fixture.h"

#include <cmath>
#include <thread>

namespace wavesan::cpu::test {
namespace {

const char kDeclarations[] = "\ndeclare i32 @llvm.amdgcn.workitem.id.x()\n";

struct Rmw {
  const char *operation;
  uint64_t (*expected)(uint64_t old, uint64_t v, unsigned bits);
};
int64_t sign(uint64_t v, unsigned bits) { return int64_t(v << (64 - bits)) >> (64 - bits); }

class AtomicWidths : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(All, AtomicWidths, testing::Values(8, 16, 32, 64));

TEST_P(AtomicWidths, EveryIntegerOperationInLdsAndGlobalMemory) {
  const unsigned bits = GetParam();
  const std::string type = "i" + std::to_string(bits);
  const Rmw operations[] = {
      {"xchg", [](uint64_t, uint64_t v, unsigned) { return v; }},
      {"add", [](uint64_t o, uint64_t v, unsigned) { return o + v; }},
      {"sub", [](uint64_t o, uint64_t v, unsigned) { return o - v; }},
      {"and", [](uint64_t o, uint64_t v, unsigned) { return o & v; }},
      {"nand", [](uint64_t o, uint64_t v, unsigned) { return ~(o & v); }},
      {"or", [](uint64_t o, uint64_t v, unsigned) { return o | v; }},
      {"xor", [](uint64_t o, uint64_t v, unsigned) { return o ^ v; }},
      {"max", [](uint64_t o, uint64_t v, unsigned b) { return sign(o, b) > sign(v, b) ? o : v; }},
      {"min", [](uint64_t o, uint64_t v, unsigned b) { return sign(o, b) < sign(v, b) ? o : v; }},
      {"umax", [](uint64_t o, uint64_t v, unsigned) { return o > v ? o : v; }},
      {"umin", [](uint64_t o, uint64_t v, unsigned) { return o < v ? o : v; }},
      {"uinc_wrap", [](uint64_t o, uint64_t v, unsigned) { return o >= v ? 0 : o + 1; }},
      {"udec_wrap", [](uint64_t o, uint64_t v, unsigned) { return o == 0 || o > v ? v : o - 1; }},
      {"usub_cond", [](uint64_t o, uint64_t v, unsigned) { return o >= v ? o - v : o; }},
      {"usub_sat", [](uint64_t o, uint64_t v, unsigned) { return o >= v ? o - v : 0; }},
  };
  const uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  for (const Rmw &op : operations)
    for (const bool lds : {false, true}) {
      // Lanes in groups of four share a target; lanes run in order.
      std::vector<uint64_t> memory(16), operand(64), old(64), memoryBefore(16);
      for (size_t i = 0; i < 64; ++i)
        operand[i] = (i * 0x9e3779b97f4a7c15u >> (i % 3 * 20)) & mask;
      for (size_t i = 0; i < 16; ++i)
        memoryBefore[i] = memory[i] = (i * 0xd1342543de82ef95u >> (i % 2 * 40)) & mask;
      Options options;
      options.fixedLds = 128;
      const std::string space = lds ? "3" : "1";
      runText("@lds = internal addrspace(3) global [16 x i64] poison\n"
              "define amdgpu_kernel void @k(ptr addrspace(1) %m, ptr addrspace(1) %v, ptr addrspace(1) %old) {\n"
              "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %g = lshr i32 %t, 2\n"
              "  %mg = getelementptr i64, ptr addrspace(1) %m, i32 %g\n"
              "  %lg = getelementptr i64, ptr addrspace(3) @lds, i32 %g\n"
              "  %init = load " +
                  type + ", ptr addrspace(1) %mg\n  store " + type +
                  " %init, ptr addrspace(3) %lg\n"
                  "  %vp = getelementptr i64, ptr addrspace(1) %v, i32 %t\n  %x = load " +
                  type +
                  ", ptr addrspace(1) %vp\n"
                  "  %o = atomicrmw " +
                  op.operation + " ptr addrspace(" + space + ") " + (lds ? "%lg" : "%mg") + ", " + type +
                  " %x seq_cst\n  %ow = zext " + type + " %o to " + (bits == 64 ? "i128" : "i64") +
                  "\n  %op = getelementptr i64, ptr addrspace(1) %old, i32 %t\n" +
                  (bits == 64 ? "  store i64 %o, ptr addrspace(1) %op\n" : "  store i64 %ow, ptr addrspace(1) %op\n") +
                  "  %last = load " + type + ", ptr addrspace(3) %lg\n" +
                  (lds ? "  store " + type + " %last, ptr addrspace(1) %mg\n" : "") + "  ret void\n}\n" + kDeclarations,
              linear(64, 64), arguments(memory.data(), operand.data(), old.data()), options);
      for (size_t i = 0; i < 64; ++i) {
        uint64_t &m = memoryBefore[i / 4];
        ASSERT_EQ(old[i], m) << op.operation << " " << type << " lane " << i << " lds " << lds;
        m = op.expected(m, operand[i], bits) & mask;
      }
      ASSERT_EQ(memory, memoryBefore) << op.operation << " " << type;
    }
}

TEST(Atomics, FloatingPoint) {
  for (const char *operation : {"fadd", "fsub", "fmax", "fmin"}) {
    float single[4] = {1, 2, 3, 4};
    double wide[4] = {1, 2, 3, 4};
    uint32_t halves[4] = {0x3c003c00, 0x40003c00, 0, 0};
    runText(
        std::string(
            "define amdgpu_kernel void @k(ptr addrspace(1) %f, ptr addrspace(1) %d, ptr addrspace(1) %h) {\n"
            "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %fp = getelementptr float, ptr addrspace(1) %f, i32 %t\n"
            "  %dp = getelementptr double, ptr addrspace(1) %d, i32 %t\n"
            "  %hp = getelementptr i32, ptr addrspace(1) %h, i32 %t\n  %o = atomicrmw ") +
            operation + " ptr addrspace(1) %fp, float 2.5 monotonic\n  %o2 = atomicrmw " + operation +
            " ptr addrspace(1) %dp, double 2.5 monotonic\n  %o3 = atomicrmw " + operation +
            " ptr addrspace(1) %hp, <2 x half> <half 1.0, half 2.0> monotonic\n  ret void\n}\n" + kDeclarations,
        linear(4, 4), arguments(single, wide, halves));
    const auto apply = [&](double a, double b) {
      return std::string(operation) == "fadd"   ? a + b
             : std::string(operation) == "fsub" ? a - b
             : std::string(operation) == "fmax" ? std::fmax(a, b)
                                                : std::fmin(a, b);
    };
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(single[i], float(apply(i + 1, 2.5)));
      EXPECT_EQ(wide[i], apply(i + 1, 2.5));
    }
    // Halves 1.0, 2.0 against memory 1.0, 1.0 and 1.0, 2.0.
    const auto half = [](double v) -> uint32_t {
      return v == 0    ? 0
             : v == 1  ? 0x3c00
             : v == 2  ? 0x4000
             : v == 3  ? 0x4200
             : v == 4  ? 0x4400
             : v == -1 ? 0xbc00
                       : 0xffff;
    };
    EXPECT_EQ(halves[0], half(apply(1, 1)) | half(apply(1, 2)) << 16) << operation;
    EXPECT_EQ(halves[1], half(apply(1, 1)) | half(apply(2, 2)) << 16) << operation;
  }
}

TEST(Atomics, CompareExchangeLoadAndStore) {
  std::vector<uint32_t> memory(64), out(64);
  for (uint32_t i = 0; i < 64; ++i)
    memory[i] = i % 3;
  runText(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %m, ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(1) %m, i32 %t
  %x = cmpxchg ptr addrspace(1) %p, i32 1, i32 50 acq_rel monotonic
  %old = extractvalue { i32, i1 } %x, 0
  %ok = extractvalue { i32, i1 } %x, 1
  %now = load atomic i32, ptr addrspace(1) %p acquire, align 4
  %a = mul i32 %old, 1000
  %b = add i32 %a, %now
  %c = select i1 %ok, i32 %b, i32 7
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store atomic i32 %c, ptr addrspace(1) %o release, align 4
  fence syncscope("agent") seq_cst
  ret void
}
)") + kDeclarations,
          linear(64, 64), arguments(memory.data(), out.data()));
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(memory[i], i % 3 == 1 ? 50 : i % 3);
    EXPECT_EQ(out[i], i % 3 == 1 ? 1050 : 7);
  }
}

TEST(Atomics, LaunchesOnSeveralThreadsShareMemory) {
  auto program = load(assemble(std::string(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %m) {
  %o = atomicrmw add ptr addrspace(1) %m, i32 1 monotonic
  %q = getelementptr i32, ptr addrspace(1) %m, i32 1
  %r = atomicrmw fadd ptr addrspace(1) %q, float 1.0 monotonic
  ret void
}
)") + kDeclarations));
  struct {
    uint32_t count = 0;
    float sum = 0;
  } memory;
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(run(*program, "k", linear(1024, 128), arguments(&memory)));
    });
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(memory.count, 4u * 5 * 1024);
  EXPECT_EQ(memory.sum, 4.0f * 5 * 1024);
}

} // namespace
} // namespace wavesan::cpu::test
