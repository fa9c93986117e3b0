// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffer resources: which bytes an access reads or writes, by the tables of the ISA documents ("Range checking").
#include "engine_fixture.h"

#include <algorithm>
#include <numeric>

namespace wavesan::cpu::test {
namespace {

constexpr uint32_t kRaw = 0x00020000u; ///< word 3 of a raw buffer on gfx9
constexpr uint32_t word3(uint32_t check) { return check << 28 | 0x16000u; }

struct Resource {
  uint64_t base;
  uint32_t stride, records, flags;
};

const char kDeclarations[] = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
)";

/// `body` sees %t (lane), %r (ptr addrspace(8)), %offset = lane * step, %out = &out[lane * 16].
void runBuffer(const std::string &body, const std::string &declarations, const Resource &r, int step, void *out,
               const std::string &target, uint32_t fixedLds = 0) {
  Options options;
  options.target = target;
  options.fixedLds = fixedLds;
  runText("define amdgpu_kernel void @k(ptr addrspace(1) %base, i16 %stride, i64 %records, i32 %flags, "
          "ptr addrspace(1) %result) {\n"
          "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
          "  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %base, i16 %stride, "
          "i64 %records, i32 %flags)\n"
          "  %offset = mul i32 %t, " +
              std::to_string(step) +
              "\n  %o = mul i32 %t, 16\n  %out = getelementptr i8, ptr addrspace(1) %result, i32 %o\n" + body +
              "  ret void\n}\n" + kDeclarations + declarations,
          linear(32, 32), arguments(r.base, uint16_t(r.stride), uint64_t(r.records), r.flags, out), options);
}

/// What 32 lanes load at step bytes from one another.
std::vector<uint8_t> loaded(const std::string &type, const Resource &r, int step, const std::string &target,
                            const std::string &index = "", int scalar = 0) {
  std::vector<uint8_t> out(32 * 16, 0xee);
  const std::string kind = index.empty() ? "raw" : "struct";
  const std::string name = "@llvm.amdgcn." + kind + ".ptr.buffer.load." + type;
  const std::string ir = type[0] == 'v' ? "<" + type.substr(1, 1) + " x " + type.substr(2) + ">" : type;
  const auto spelled = [&](std::string s) {
    for (const auto &[from, to] : {std::pair{"f16", "half"}, {"f32", "float"}, {"f64", "double"}})
      if (const auto at = s.find(from); at != std::string::npos)
        s.replace(at, 3, to);
    return s;
  };
  runBuffer("  %v = call " + spelled(ir) + " " + name + "(ptr addrspace(8) %r, " +
                (index.empty() ? "" : "i32 " + index + ", ") + "i32 %offset, i32 " + std::to_string(scalar) +
                ", i32 0)\n  store " + spelled(ir) + " %v, ptr addrspace(1) %out\n",
            "declare " + spelled(ir) + " " + name + "(ptr addrspace(8), " + (index.empty() ? "" : "i32, ") +
                "i32, i32, i32)\n",
            r, step, out.data(), target);
  return out;
}

class Buffer : public ::testing::Test {
protected:
  std::vector<uint8_t> memory = std::vector<uint8_t>(1024);
  void SetUp() override { std::iota(memory.begin(), memory.end(), uint8_t(1)); }
  uint64_t base() const { return reinterpret_cast<uint64_t>(memory.data()); }

  /// `bytesInRange`: of a lane, from its address on.
  template <class Address, class InRange>
  void expectLoaded(const std::vector<uint8_t> &out, int bytes, Address address, InRange inRange) {
    for (int lane = 0; lane < 32; ++lane)
      for (int k = 0; k < bytes; ++k)
        ASSERT_EQ(out[size_t(lane * 16 + k)], k < inRange(lane) ? memory[size_t(address(lane) + k)] : 0)
            << "lane " << lane << " byte " << k;
  }
};

TEST_F(Buffer, EveryTypeThatALoadCanHave) {
  const std::pair<const char *, int> types[] = {
      {"i8", 1},    {"i16", 2},   {"f16", 2}, {"i32", 4},    {"f32", 4},    {"v2f16", 4},  {"v2i16", 4}, {"i64", 8},
      {"v2i32", 8}, {"v4f16", 8}, {"f64", 8}, {"v3i32", 12}, {"v4i32", 16}, {"v4f32", 16}, {"v2i64", 16}};
  for (const auto &[type, bytes] : types) {
    SCOPED_TRACE(type);
    // In range up to byte 200.
    expectLoaded(
        loaded(type, {base(), 0, 200, kRaw}, 16, "gfx90a"), bytes, [](int lane) { return lane * 16; },
        [&](int lane) { return std::clamp(200 - lane * 16, 0, bytes); });
  }
}

TEST_F(Buffer, DwordsAreInRangeByTheirFirstByteUpToGfx10) {
  for (const auto &[target, flags] : {std::pair{"gfx90a", kRaw}, {"gfx1030", word3(3)}}) {
    SCOPED_TRACE(target);
    expectLoaded(
        loaded("v4i32", {base(), 0, 102, flags}, 12, target), 16, [](int lane) { return lane * 12; },
        [](int lane) { // whole dwords whose first byte is below 102
          int in = 0;
          while (in < 16 && lane * 12 + in < 102)
            in += 4;
          return in;
        });
  }
}

TEST_F(Buffer, DwordsAreInRangeByTheirLastByteSinceGfx11) {
  for (const char *target : {"gfx1100", "gfx1201"}) {
    SCOPED_TRACE(target);
    expectLoaded(
        loaded("v4i32", {base(), 0, 102, word3(3)}, 12, target), 16, [](int lane) { return lane * 12; },
        [](int lane) {
          int in = 0;
          while (in < 16 && lane * 12 + in + 4 <= 102)
            in += 4;
          return in;
        });
    expectLoaded(
        loaded("i16", {base(), 0, 33, word3(3)}, 2, target), 2, [](int lane) { return lane * 2; },
        [](int lane) { return lane * 2 + 2 <= 33 ? 2 : 0; });
  }
}

TEST_F(Buffer, ScalarOffsetCountsInTheRangeOfGfx9Only) {
  const auto address = [](int lane) { return lane * 4 + 40; };
  expectLoaded(loaded("i32", {base(), 0, 100, kRaw}, 4, "gfx90a", "", 40), 4, address,
               [](int lane) { return lane * 4 < 100 - 40 ? 4 : 0; });
  expectLoaded(loaded("i32", {base(), 0, 100, word3(3)}, 4, "gfx1030", "", 40), 4, address,
               [](int lane) { return lane * 4 < 100 ? 4 : 0; });
  // More than the whole buffer.
  expectLoaded(loaded("i32", {base(), 0, 100, kRaw}, 4, "gfx90a", "", 140), 4, address, [](int) { return 0; });
}

TEST_F(Buffer, RecordsOfAnArray) {
  // Lane t reads record t, 20 bytes long, at offset 8. Ten records.
  const auto address = [](int lane) { return lane * 20 + 8; };
  const auto tenRecords = [](int lane) { return lane < 10 ? 4 : 0; };
  const auto read = [&](const char *target, uint32_t flags, const std::string &offset) {
    std::vector<uint8_t> out(32 * 16, 0xee);
    runBuffer("  %v = call i32 @llvm.amdgcn.struct.ptr.buffer.load.i32(ptr addrspace(8) %r, i32 %t, i32 " + offset +
                  ", i32 0, i32 0)\n  store i32 %v, ptr addrspace(1) %out\n",
              "declare i32 @llvm.amdgcn.struct.ptr.buffer.load.i32(ptr addrspace(8), i32, i32, i32, i32)\n",
              {base(), 20, 10, flags}, 1, out.data(), target);
    return out;
  };
  expectLoaded(read("gfx90a", kRaw, "8"), 4, address, tenRecords);
  expectLoaded(read("gfx1030", word3(0), "8"), 4, address, tenRecords);
  expectLoaded(read("gfx1030", word3(1), "8"), 4, address, tenRecords);
  expectLoaded(read("gfx1100", word3(0), "8"), 4, address, tenRecords);
  // Behind the end of the record: checked in one mode only.
  const auto next = [](int lane) { return lane * 20 + 24; };
  expectLoaded(read("gfx90a", kRaw, "24"), 4, next, tenRecords);
  expectLoaded(read("gfx1030", word3(0), "24"), 4, next, [](int) { return 0; });
  expectLoaded(read("gfx1030", word3(1), "24"), 4, next, tenRecords);
  // Half of it behind the end.
  const auto across = [](int lane) { return lane * 20 + 18; };
  expectLoaded(read("gfx1030", word3(0), "18"), 4, across, tenRecords);
  expectLoaded(read("gfx1100", word3(0), "18"), 4, across, [](int) { return 0; });
}

TEST_F(Buffer, WithoutRecordsNothingIsInRange) {
  expectLoaded(
      loaded("i32", {base(), 0, 8, word3(2)}, 4, "gfx1030"), 4, [](int lane) { return lane * 4; },
      [](int) { return 4; });
  expectLoaded(
      loaded("i32", {base(), 0, 0, word3(2)}, 4, "gfx1030"), 4, [](int lane) { return lane * 4; },
      [](int) { return 0; });
}

TEST_F(Buffer, OffsetsDoNotWrapAround) {
  // Lane 1 is at 2^32 - 4.
  std::vector<uint8_t> out = loaded("v2i32", {base() + 64, 0, 100, kRaw}, -4, "gfx90a");
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + 8, memory.begin() + 64));
  EXPECT_TRUE(std::all_of(out.begin() + 16, out.begin() + 24, [](uint8_t b) { return b == 0; }));
}

TEST_F(Buffer, StoresOutOfRangeAreDropped) {
  for (const auto &[target, flags] : {std::pair{"gfx90a", kRaw}, {"gfx1030", word3(3)}}) {
    SCOPED_TRACE(target);
    std::fill(memory.begin(), memory.end(), uint8_t(0));
    runBuffer("  %a = insertelement <3 x i32> splat(i32 -1), i32 %t, i32 0\n"
              "  call void @llvm.amdgcn.raw.ptr.buffer.store.v3i32(<3 x i32> %a, ptr addrspace(8) %r, i32 %offset, i32 "
              "4, i32 0)\n",
              "declare void @llvm.amdgcn.raw.ptr.buffer.store.v3i32(<3 x i32>, ptr addrspace(8), i32, i32, i32)\n",
              {base(), 0, 200, flags}, 12, nullptr, target);
    const uint32_t limit = target == std::string("gfx90a") ? 196 : 200; // of the offset
    for (uint32_t at = 0; at < memory.size() / 4; ++at) {
      uint32_t value;
      std::memcpy(&value, &memory[at * 4], 4);
      const uint32_t dword = at - 1; // scalar offset of 4
      const bool written = at >= 1 && dword < 96 && dword * 4 < limit;
      ASSERT_EQ(value, !written ? 0u : dword % 3 ? ~0u : dword / 3) << at;
    }
  }
}

TEST_F(Buffer, TheDeprecatedFormTakesFourDwords) {
  std::vector<uint8_t> out(32 * 16, 0xee);
  runBuffer("  %i = ptrtoint ptr addrspace(8) %r to i128\n  %w = bitcast i128 %i to <4 x i32>\n"
            "  %v = call <2 x i32> @llvm.amdgcn.raw.buffer.load.v2i32(<4 x i32> %w, i32 %offset, i32 0, i32 0)\n"
            "  store <2 x i32> %v, ptr addrspace(1) %out\n",
            "declare <2 x i32> @llvm.amdgcn.raw.buffer.load.v2i32(<4 x i32>, i32, i32, i32)\n", {base(), 0, 128, kRaw},
            8, out.data(), "gfx90a");
  expectLoaded(out, 8, [](int lane) { return lane * 8; }, [](int lane) { return lane < 16 ? 8 : 0; });
}

/// An atomic of all lanes on dword lane / 4; 6 of 8 dwords are in range. `operation`: "add.i32" and so on.
void atomicOf(const std::string &operation, const std::string &type, const std::string &value, uint32_t *memory,
              uint32_t *old) {
  const std::string name = "@llvm.amdgcn.raw.ptr.buffer.atomic." + operation;
  const bool compares = operation.starts_with("cmpswap");
  const std::string operand = type + " " + value + (compares ? ", " + type + " 100" : std::string());
  runBuffer("  %d = lshr i32 %t, 2\n  %at = shl i32 %d, 2\n  %f = uitofp i32 %t to float\n  %v = call " + type + " " +
                name + "(" + operand + ", ptr addrspace(8) %r, i32 %at, i32 0, i32 0)\n  store " + type +
                " %v, ptr addrspace(1) %out\n",
            "declare " + type + " " + name + "(" + type + (compares ? ", " + type : "") +
                ", ptr addrspace(8), i32, i32, i32)\n",
            {reinterpret_cast<uint64_t>(memory), 0, 24, kRaw}, 4, old, "gfx90a");
}

TEST_F(Buffer, Atomics) {
  uint32_t dwords[8], old[128];
  const auto reset = [&] { std::fill(std::begin(dwords), std::end(dwords), 100u); };
  reset();
  atomicOf("add.i32", "i32", "%t", dwords, old);
  for (uint32_t k = 0; k < 8; ++k)
    EXPECT_EQ(dwords[k], k < 6 ? 100 + 16 * k + 6 : 100) << k;
  for (uint32_t lane = 0; lane < 32; ++lane) { // lanes one after the other
    uint32_t before = 100;
    for (uint32_t l = lane / 4 * 4; l < lane; ++l)
      before += l;
    EXPECT_EQ(old[lane * 4], lane < 24 ? before : 0) << lane;
  }
  reset();
  atomicOf("umax.i32", "i32", "%t", dwords, old);
  atomicOf("smin.i32", "i32", "%t", dwords, old);
  for (uint32_t k = 0; k < 8; ++k)
    EXPECT_EQ(dwords[k], k < 6 ? 4 * k : 100) << k;
  reset();
  atomicOf("cmpswap.i32", "i32", "%t", dwords, old);
  for (uint32_t k = 0; k < 8; ++k) {
    EXPECT_EQ(dwords[k], k < 6 ? 4 * k : 100) << k; // the first of four lanes wins
    EXPECT_EQ(old[(4 * k + 3) * 4], k < 6 ? 4 * k : 0) << k;
  }
  float floats[8] = {};
  std::memcpy(dwords, floats, sizeof(floats));
  atomicOf("fadd.f32", "float", "%f", dwords, old);
  std::memcpy(floats, dwords, sizeof(floats));
  for (int k = 0; k < 8; ++k)
    EXPECT_EQ(floats[k], k < 6 ? 16.f * float(k) + 6 : 0) << k;
}

TEST_F(Buffer, CopiesToLdsWriteZeroForLanesOutOfRange) {
  std::vector<uint8_t> out(32 * 16, 0xee);
  runBuffer("  %p = getelementptr i32, ptr addrspace(3) @tile, i32 %t\n  store i32 -1, ptr addrspace(3) %p\n"
            "  fence syncscope(\"workgroup\") release\n"
            "  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @tile, i32 4, i32 "
            "%offset, i32 0, i32 0, i32 0)\n"
            "  call void @llvm.amdgcn.s.waitcnt(i32 0)\n  %v = load i32, ptr addrspace(3) %p\n"
            "  store i32 %v, ptr addrspace(1) %out\n",
            "@tile = internal addrspace(3) global [64 x i32] undef\n"
            "declare void @llvm.amdgcn.s.waitcnt(i32)\n"
            "declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, "
            "i32)\n",
            {base(), 0, 100, kRaw}, 8, out.data(), "gfx90a", 256);
  expectLoaded(out, 4, [](int lane) { return lane * 8; }, [](int lane) { return lane * 8 < 100 ? 4 : 0; });
}

TEST_F(Buffer, WhatIsNotExecutedIsNamed) {
  const auto refused = [&](const Resource &r, const char *target, const char *kind, const char *expected) {
    Options options;
    options.target = target;
    const bool indexed = std::string(kind) == "struct";
    const std::string name = std::string("@llvm.amdgcn.") + kind + ".ptr.buffer.load.i32",
                      index = indexed ? "i32 0, " : "";
    const auto program = load(
        assemble(
            "define amdgpu_kernel void @k(ptr addrspace(1) %base, i16 %stride, i64 %records, i32 %flags) {\n"
            "  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %base, i16 %stride, "
            "i64 %records, i32 %flags)\n  %v = call i32 " +
            name + "(ptr addrspace(8) %r, " + index + "i32 0, i32 0, i32 0)\n  ret void\n}\n" + kDeclarations +
            "declare i32 " + name + "(ptr addrspace(8), " + (indexed ? "i32, " : "") + "i32, i32, i32)\n"),
        options);
    const Outcome outcome = run(*program, "k", linear(32, 32),
                                arguments(r.base, uint16_t(r.stride), uint64_t(r.records), r.flags), options);
    EXPECT_EQ(outcome.kind, Outcome::UnsupportedInstruction) << expected;
    EXPECT_NE(outcome.message.find(expected), std::string::npos) << outcome.message;
  };
  refused({base(), 0x8000 | 16, 10, kRaw}, "gfx90a", "raw", "a swizzled buffer is not supported");
  refused({base(), 0x4000 | 16, 10, word3(3)}, "gfx1100", "raw", "a swizzled buffer is not supported");
  refused({base(), 16, 10, kRaw | 1u << 23}, "gfx90a", "raw", "adds the lane number");
  refused({base(), 16, 10, kRaw | 1u << 30}, "gfx90a", "raw", "not that of a buffer");
  refused({base(), 16, 10, word3(3)}, "gfx1030", "struct", "checked by its size in bytes");
  refused({base(), 0, 10, kRaw}, "gfx1250", "raw", "this target's buffer resources");
}

} // namespace
} // namespace wavesan::cpu::test
