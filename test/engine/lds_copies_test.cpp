// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between global memory and LDS, of every size that an intrinsic has. How they are ordered is the subject of
// other tests; here each is waited for.
#include "engine_fixture.h"

#include <random>

namespace wavesan::cpu::test {
namespace {

constexpr uint32_t kLanes = 32;

std::vector<uint8_t> randomBytes(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(kLanes * 16);
  for (uint8_t &b : bytes)
    b = uint8_t(random());
  return bytes;
}

void runCopy(const std::string &body, const std::string &declarations, const std::string &target,
             std::vector<uint8_t> &in, std::vector<uint8_t> &out) {
  Options options;
  options.target = target;
  options.fixedLds = 1024;
  runText(
      "@tile = internal addrspace(3) global [1024 x i8] poison, align 16\n"
      "define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {\n"
      "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %o = mul i32 %t, 16\n"
      "  %p = getelementptr i8, ptr addrspace(1) %in, i32 %o\n  %q = getelementptr i8, ptr addrspace(3) @tile, i32 %o\n"
      "  %r = getelementptr i8, ptr addrspace(1) %out, i32 %o\n" +
          body + "  ret void\n}\ndeclare i32 @llvm.amdgcn.workitem.id.x()\n" + declarations,
      linear(kLanes, kLanes), arguments(in.data(), out.data()), options);
}

TEST(LdsCopies, AsynchronousOfEverySize) {
  for (const uint32_t bytes : {1u, 4u, 8u, 16u}) {
    std::vector<uint8_t> in = randomBytes(bytes), out(in.size(), 0xee);
    const std::string size = "b" + std::to_string(8 * bytes), load = "@llvm.amdgcn.global.load.async.to.lds." + size,
                      store = "@llvm.amdgcn.global.store.async.from.lds." + size,
                      types = "(ptr addrspace(1), ptr addrspace(3), i32, i32)\n";
    runCopy("  call void " + load +
                "(ptr addrspace(1) %p, ptr addrspace(3) %q, i32 0, i32 0)\n"
                "  call void @llvm.amdgcn.s.wait.asynccnt(i16 0)\n"
                "  call void " +
                store +
                "(ptr addrspace(1) %r, ptr addrspace(3) %q, i32 0, i32 0)\n"
                "  call void @llvm.amdgcn.s.wait.asynccnt(i16 0)\n",
            "declare void " + load + types + "declare void " + store + types +
                "declare void @llvm.amdgcn.s.wait.asynccnt(i16)\n",
            "gfx1250", in, out);
    for (uint32_t k = 0; k < in.size(); ++k)
      ASSERT_EQ(out[k], k % 16 < bytes ? in[k] : 0xee) << size << " byte " << k;
  }
}

// Lane t's bytes come to the address that the first lane gives, and t times the size behind it.
TEST(LdsCopies, DirectOfEverySize) {
  for (const std::string name : {"global.load.lds", "load.to.lds.p1"})
    for (const uint32_t bytes : {4u, 12u, 16u}) {
      std::vector<uint8_t> in = randomBytes(bytes), out(in.size(), 0xee);
      const std::string size = std::to_string(bytes);
      runCopy("  call void @llvm.amdgcn." + name + "(ptr addrspace(1) %p, ptr addrspace(3) @tile, i32 " + size +
                  ", i32 0, i32 0)\n  call void @llvm.amdgcn.s.waitcnt(i32 0)\n"
                  "  %at = mul i32 %t, " +
                  size +
                  "\n  %l = getelementptr i8, ptr addrspace(3) @tile, i32 %at\n"
                  "  call void @llvm.memcpy.p1.p3.i32(ptr addrspace(1) %r, ptr addrspace(3) %l, i32 " +
                  size + ", i1 false)\n",
              "declare void @llvm.amdgcn." + name +
                  "(ptr addrspace(1), ptr addrspace(3), i32, i32, i32)\n"
                  "declare void @llvm.amdgcn.s.waitcnt(i32)\n"
                  "declare void @llvm.memcpy.p1.p3.i32(ptr addrspace(1), ptr addrspace(3), i32, i1)\n",
              "gfx950", in, out);
      for (uint32_t k = 0; k < in.size(); ++k)
        ASSERT_EQ(out[k], k % 16 < bytes ? in[k] : 0xee) << name << " " << size << " byte " << k;
    }
}

} // namespace
} // namespace wavesan::cpu::test
