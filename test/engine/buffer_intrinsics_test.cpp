// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every buffer intrinsic once, in its four forms: raw and struct (with an index), with the resource as a pointer of
// address space 8 and as <4 x i32>. Which addresses are in range is buffer_test.cpp's.
#include "elementwise.h"

#include <cmath>

namespace wavesan::cpu::test {
namespace {

constexpr uint64_t kSeed = 20260808;
constexpr uint32_t kLanes = 64;

struct Form {
  bool indexed, pointer;
};
const Form kForms[] = {{false, false}, {false, true}, {true, false}, {true, true}};

/// `call` has RESOURCE, INDEX and NAME replaced: lane t addresses dword t of `memory`. Stores %v (i32) to out[t].
void runForm(const Form &form, const std::string &target, std::string call, const std::string &declaration,
             uint32_t *memory, const uint32_t *operands, uint32_t *out) {
  std::string text = call, declare = declaration;
  const std::string prefix = std::string(form.indexed ? "struct." : "raw.") + (form.pointer ? "ptr." : "");
  const auto replace = [](std::string &s, const std::string &from, const std::string &to) {
    for (size_t at; (at = s.find(from)) != std::string::npos;)
      s.replace(at, from.size(), to);
  };
  for (std::string *s : {&text, &declare})
    replace(*s, "NAME", prefix);
  replace(text, "RESOURCE", form.pointer ? "ptr addrspace(8) %rp" : "<4 x i32> %rv");
  replace(text, "INDEX", form.indexed ? "i32 %t, i32 0" : "i32 %offset");
  replace(declare, "RESOURCE", form.pointer ? "ptr addrspace(8)" : "<4 x i32>");
  replace(declare, "INDEX", form.indexed ? "i32, i32" : "i32");
  Options options;
  options.target = target;
  options.fixedLds = 4 * kLanes;
  // Word 3: on gfx12, what says whether the index or the offset is checked.
  const bool old = target == "gfx90a";
  const std::string flags = std::to_string(old ? 0x20000u : (form.indexed ? 1u : 3u) << 28 | 0x16000u);
  // Strides of raw buffers are 0.
  const std::string stride = form.indexed ? "4" : "0", records = std::to_string(form.indexed ? kLanes : 4 * kLanes);
  runText(
      "@tile = internal addrspace(3) global [64 x i32] poison\n"
      "define amdgpu_kernel void @k(ptr addrspace(1) %memory, ptr addrspace(1) %operands, ptr addrspace(1) %out) {\n"
      "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %offset = mul i32 %t, 4\n"
      "  %rp = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %memory, i16 " +
          stride + ", i64 " + records + ", i32 " + flags +
          ")\n  %bits = ptrtoint ptr addrspace(8) %rp to i128\n"
          "  %rv = bitcast i128 %bits to <4 x i32>\n"
          "  %px = getelementptr i32, ptr addrspace(1) %operands, i32 %t\n  %x = load i32, ptr addrspace(1) %px\n"
          "  %f = load float, ptr addrspace(1) %px\n  %lds = getelementptr i32, ptr addrspace(3) @tile, i32 0\n" +
          text +
          "\n  %po = getelementptr i32, ptr addrspace(1) %out, i32 %t\n  store i32 %v, ptr addrspace(1) %po\n  ret "
          "void\n}\n"
          "declare i32 @llvm.amdgcn.workitem.id.x()\n"
          "declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)\n" +
          declare,
      linear(kLanes, kLanes), arguments(memory, operands, out), options);
}

class BufferIntrinsics : public testing::Test {
protected:
  void SetUp() override {
    std::mt19937_64 random(kSeed);
    const Values a = shuffled(edgesAndRandom(32, random, kLanes), random), b = shuffled(a, random);
    for (uint32_t k = 0; k < kLanes; ++k)
      before[k] = uint32_t(a[k].low), operands[k] = k % 5 ? uint32_t(b[k].low) : before[k];
  }
  uint32_t before[kLanes], operands[kLanes];
};

TEST_F(BufferIntrinsics, Atomics) {
  using U = uint32_t;
  struct Atomic {
    const char *name;
    U (*f)(U, U);
    const char *target = "gfx90a";
  };
  const Atomic atomics[] = {
      {"swap", [](U, U x) { return x; }},
      {"add", [](U a, U x) { return a + x; }},
      {"sub", [](U a, U x) { return a - x; }},
      {"smin", [](U a, U x) { return int32_t(a) < int32_t(x) ? a : x; }},
      {"umin", [](U a, U x) { return a < x ? a : x; }},
      {"smax", [](U a, U x) { return int32_t(a) > int32_t(x) ? a : x; }},
      {"umax", [](U a, U x) { return a > x ? a : x; }},
      {"and", [](U a, U x) { return a & x; }},
      {"or", [](U a, U x) { return a | x; }},
      {"xor", [](U a, U x) { return a ^ x; }},
      {"inc", [](U a, U x) { return a >= x ? 0 : a + 1; }},
      {"dec", [](U a, U x) { return a == 0 || a > x ? x : a - 1; }},
      {"cond.sub.u32", [](U a, U x) { return a >= x ? a - x : a; }, "gfx1201"},
      {"sub.clamp.u32", [](U a, U x) { return a >= x ? a - x : 0; }, "gfx1201"},
  };
  for (const Atomic &atomic : atomics)
    for (const Form &form : kForms) {
      U memory[kLanes], out[kLanes];
      std::copy(std::begin(before), std::end(before), memory);
      const std::string name = std::string("@llvm.amdgcn.NAMEbuffer.atomic.") + atomic.name + ".i32";
      runForm(form, atomic.target, "  %v = call i32 " + name + "(i32 %x, RESOURCE, INDEX, i32 0, i32 0)",
              "declare i32 " + name + "(i32, RESOURCE, INDEX, i32, i32)\n", memory, operands, out);
      for (U k = 0; k < kLanes; ++k) {
        ASSERT_EQ(out[k], before[k]) << atomic.name << " gives what was there";
        ASSERT_EQ(memory[k], atomic.f(before[k], operands[k]))
            << atomic.name << std::hex << " of " << before[k] << ", " << operands[k] << "; seed " << std::dec << kSeed;
      }
    }
}

TEST_F(BufferIntrinsics, AtomicsOfFloats) {
  const std::pair<const char *, float (*)(float, float)> atomics[] = {
      {"fadd", [](float a, float x) { return a + x; }},
      {"fmin", [](float a, float x) { return std::fmin(a, x); }},
      {"fmax", [](float a, float x) { return std::fmax(a, x); }}};
  for (const auto &[operation, f] : atomics)
    for (const Form &form : kForms) {
      float memory[kLanes], old[kLanes], values[kLanes];
      uint32_t words[kLanes], in[kLanes], out[kLanes];
      for (uint32_t k = 0; k < kLanes; ++k)
        old[k] = std::ldexp(float(int32_t(before[k])), -16), values[k] = std::ldexp(float(int32_t(operands[k])), -20);
      std::memcpy(words, old, sizeof(words)), std::memcpy(in, values, sizeof(in));
      const std::string name = std::string("@llvm.amdgcn.NAMEbuffer.atomic.") + operation + ".f32";
      runForm(form, "gfx90a",
              "  %vf = call float " + name +
                  "(float %f, RESOURCE, INDEX, i32 0, i32 0)\n  %v = bitcast float %vf to i32",
              "declare float " + name + "(float, RESOURCE, INDEX, i32, i32)\n", words, in, out);
      std::memcpy(memory, words, sizeof(memory));
      for (uint32_t k = 0; k < kLanes; ++k) {
        ASSERT_EQ(std::memcmp(&out[k], &old[k], 4), 0) << operation;
        ASSERT_EQ(memory[k], f(old[k], values[k])) << operation << " of " << old[k] << ", " << values[k];
      }
    }
}

TEST_F(BufferIntrinsics, CompareAndSwap) {
  for (const Form &form : kForms) {
    uint32_t memory[kLanes], out[kLanes];
    std::copy(std::begin(before), std::end(before), memory);
    // Where the operand is what is there, a new value is.
    runForm(form, "gfx90a",
            "  %v = call i32 @llvm.amdgcn.NAMEbuffer.atomic.cmpswap.i32(i32 %t, i32 %x, RESOURCE, INDEX, i32 0, i32 0)",
            "declare i32 @llvm.amdgcn.NAMEbuffer.atomic.cmpswap.i32(i32, i32, RESOURCE, INDEX, i32, i32)\n", memory,
            operands, out);
    for (uint32_t k = 0; k < kLanes; ++k) {
      ASSERT_EQ(out[k], before[k]);
      ASSERT_EQ(memory[k], before[k] == operands[k] ? k : before[k]);
    }
  }
}

TEST_F(BufferIntrinsics, LoadsStoresAndCopies) {
  for (const Form &form : kForms) {
    uint32_t memory[kLanes], out[kLanes];
    for (const std::string name : {"buffer.load", "atomic.buffer.load"}) {
      std::copy(std::begin(before), std::end(before), memory);
      runForm(form, "gfx90a", "  %v = call i32 @llvm.amdgcn.NAME" + name + ".i32(RESOURCE, INDEX, i32 0, i32 0)",
              "declare i32 @llvm.amdgcn.NAME" + name + ".i32(RESOURCE, INDEX, i32, i32)\n", memory, operands, out);
      for (uint32_t k = 0; k < kLanes; ++k)
        ASSERT_EQ(out[k], before[k]) << name;
    }
    runForm(
        form, "gfx90a",
        "  call void @llvm.amdgcn.NAMEbuffer.store.i32(i32 %x, RESOURCE, INDEX, i32 0, i32 0)\n  %v = add i32 %t, 0",
        "declare void @llvm.amdgcn.NAMEbuffer.store.i32(i32, RESOURCE, INDEX, i32, i32)\n", memory, operands, out);
    for (uint32_t k = 0; k < kLanes; ++k)
      ASSERT_EQ(memory[k], operands[k]);
    // Lane t's dword comes to LDS at 4 * t behind the address that all give.
    runForm(form, "gfx90a",
            "  call void @llvm.amdgcn.NAMEbuffer.load.lds(RESOURCE, ptr addrspace(3) %lds, i32 4, INDEX, i32 0, i32 0, "
            "i32 0)\n"
            "  call void @llvm.amdgcn.s.waitcnt(i32 0)\n  %pt = getelementptr i32, ptr addrspace(3) @tile, i32 %t\n"
            "  %v = load i32, ptr addrspace(3) %pt",
            "declare void @llvm.amdgcn.s.waitcnt(i32)\n"
            "declare void @llvm.amdgcn.NAMEbuffer.load.lds(RESOURCE, ptr addrspace(3), i32, INDEX, i32, i32, i32)\n",
            memory, operands, out);
    for (uint32_t k = 0; k < kLanes; ++k)
      ASSERT_EQ(out[k], operands[k]) << "LDS";
  }
}

} // namespace
} // namespace wavesan::cpu::test
