// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations between the lanes of a wave.
#include "engine_fixture.h"

#include <bit>

namespace wavesan::cpu::test {
namespace {

const char kDeclarations[] = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i64 @llvm.amdgcn.ballot.i64(i1)
declare i32 @llvm.amdgcn.ballot.i32(i1)
declare i64 @llvm.amdgcn.icmp.i64.i32(i32, i32, i32)
declare i64 @llvm.amdgcn.fcmp.i64.f32(float, float, i32)
declare i64 @llvm.read_register.i64(metadata)
declare i32 @llvm.read_register.i32(metadata)
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i32 @llvm.amdgcn.readlane.i32(i32, i32)
declare i32 @llvm.amdgcn.writelane.i32(i32, i32, i32)
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare i32 @llvm.amdgcn.ds.permute(i32, i32)
declare i32 @llvm.amdgcn.ds.swizzle(i32, i32)
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32, i32, i32, i1)
declare i32 @llvm.amdgcn.mov.dpp.i32(i32, i32, i32, i32, i1)
declare i64 @llvm.amdgcn.update.dpp.i64(i64, i64, i32, i32, i32, i1)
declare i32 @llvm.amdgcn.wave.reduce.umax(i32, i32)
declare i32 @llvm.amdgcn.wave.reduce.add(i32, i32)
declare i32 @llvm.amdgcn.wavefrontsize()
declare i32 @llvm.amdgcn.permlanex16.i32(i32, i32, i32, i32, i1, i1)
!0 = !{!"exec"}
!1 = !{!"exec_lo"}
!2 = !{!"exec_hi"}
)";

/// `body` computes i64 %r from i32 %t in the lanes where `condition` holds; others store 0xdead.
std::vector<uint64_t> lanes(const std::string &body, const std::string &condition = "icmp uge i32 %t, 0",
                            const Options &options = {}) {
  std::vector<uint64_t> out(64, 0xdead);
  runText(
      "define amdgpu_kernel void @k(ptr addrspace(1) %out) {\nentry:\n  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
      "  %cond = " +
          condition + "\n  br i1 %cond, label %then, label %end\nthen:\n" + body +
          "\n  %p = getelementptr i64, ptr addrspace(1) %out, i32 %t\n  store i64 %r, ptr addrspace(1) %p\n  br label "
          "%end\n"
          "end:\n  ret void\n}\n" +
          kDeclarations,
      linear(64, 64), arguments(out.data()), options);
  return out;
}
const std::string kWiden = "\n  %r = zext i32 %x to i64";

uint64_t maskOf(bool (*f)(uint64_t)) {
  uint64_t m = 0;
  for (uint64_t i = 0; i < 64; ++i)
    m |= uint64_t(f(i)) << i;
  return m;
}

TEST(CrossLane, BallotsSeeOnlyActiveLanes) {
  const auto out =
      lanes("  %c = icmp ugt i32 %t, 9\n  %r = call i64 @llvm.amdgcn.ballot.i64(i1 %c)", "icmp ult i32 %t, 40");
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i < 40 ? maskOf([](uint64_t k) { return k > 9 && k < 40; }) : 0xdead);
  const auto compare =
      lanes("  %r = call i64 @llvm.amdgcn.icmp.i64.i32(i32 %t, i32 5, i32 34)", "icmp ult i32 %t, 40"); // ugt
  EXPECT_EQ(compare[0], maskOf([](uint64_t k) { return k > 5 && k < 40; }));
  const auto floats =
      lanes("  %f = uitofp i32 %t to float\n  %r = call i64 @llvm.amdgcn.fcmp.i64.f32(float %f, float 7.0, i32 4)");
  EXPECT_EQ(floats[0], maskOf([](uint64_t k) { return k < 7; })); // olt
}

TEST(CrossLane, ExecRegister) {
  const auto exec = lanes("  %r = call i64 @llvm.read_register.i64(metadata !0)", "icmp ugt i32 %t, 2");
  EXPECT_EQ(exec[63], maskOf([](uint64_t k) { return k > 2; }));
  const auto low = lanes("  %x = call i32 @llvm.read_register.i32(metadata !1)" + kWiden, "icmp ne i32 %t, 5");
  EXPECT_EQ(low[0], 0xffffffffu & ~(1u << 5));
  const auto high = lanes("  %x = call i32 @llvm.read_register.i32(metadata !2)" + kWiden, "icmp ne i32 %t, 50");
  EXPECT_EQ(high[0], 0xffffffffu & ~(1u << 18));
}

TEST(CrossLane, Mbcnt) {
  const auto out = lanes("  %a = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)\n"
                         "  %x = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %a)" +
                         kWiden);
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i);
  const auto some = lanes("  %a = call i32 @llvm.amdgcn.mbcnt.lo(i32 252645135, i32 100)\n"
                          "  %x = call i32 @llvm.amdgcn.mbcnt.hi(i32 15, i32 %a)" +
                          kWiden);
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(some[i], 100 + uint64_t(std::popcount(0x0000000f0f0f0f0fu & ((uint64_t(1) << i) - 1))));
}

TEST(CrossLane, ReadAndWriteLanes) {
  auto out = lanes("  %v = mul i32 %t, 3\n  %x = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %v)" + kWiden,
                   "icmp ugt i32 %t, 4");
  EXPECT_EQ(out[63], 15u);
  out = lanes("  %v = mul i32 %t, 3\n  %x = call i32 @llvm.amdgcn.readlane.i32(i32 %v, i32 20)" + kWiden);
  EXPECT_EQ(out[1], 60u);
  out = lanes("  %v = mul i32 %t, 3\n  %x = call i32 @llvm.amdgcn.writelane.i32(i32 999, i32 20, i32 %v)" + kWiden);
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i == 20 ? 999 : 3 * i);
}

TEST(CrossLane, Permutes) {
  auto out = lanes(
      "  %i = mul i32 %t, 20\n  %v = add i32 %t, 7\n  %x = call i32 @llvm.amdgcn.ds.bpermute(i32 %i, i32 %v)" + kWiden);
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], (5 * i) % 64 + 7);
  // Inactive sources give 0.
  out = lanes("  %s = xor i32 %t, 1\n  %i = mul i32 %s, 4\n  %v = add i32 %t, 7\n  %x = call i32 "
              "@llvm.amdgcn.ds.bpermute(i32 %i, i32 %v)" +
                  kWiden,
              "icmp ult i32 %t, 33");
  EXPECT_EQ(out[31], 37u);
  EXPECT_EQ(out[32], 0u);
  out = lanes("  %s = sub i32 63, %t\n  %i = mul i32 %s, 4\n  %x = call i32 @llvm.amdgcn.ds.permute(i32 %i, i32 %t)" +
              kWiden);
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 63 - i);
  // gfx10 and later permute within halves of a wave of 64; a wave of 32 is one half.
  Options wave32;
  wave32.target = "gfx1030";
  out = lanes("  %i = mul i32 %t, 20\n  %x = call i32 @llvm.amdgcn.ds.bpermute(i32 %i, i32 %t)" + kWiden,
              "icmp uge i32 %t, 0", wave32);
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], (5 * i) % 32 + i / 32 * 32);
}

TEST(CrossLane, Swizzle) {
  // xor 1 within 32 lanes; then reversal of four lanes.
  auto out = lanes("  %x = call i32 @llvm.amdgcn.ds.swizzle(i32 %t, i32 1055)" + kWiden);
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i ^ 1);
  out = lanes("  %x = call i32 @llvm.amdgcn.ds.swizzle(i32 %t, i32 32795)" + kWiden); // 0x801b
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i ^ 3);
}

TEST(CrossLane, DataParallelPrimitives) {
  const auto dpp = [](int control, int rows = 15, int banks = 15, bool bound = false) {
    return lanes("  %old = add i32 %t, 1000\n  %x = call i32 @llvm.amdgcn.update.dpp.i32(i32 %old, i32 %t, i32 " +
                 std::to_string(control) + ", i32 " + std::to_string(rows) + ", i32 " + std::to_string(banks) +
                 (bound ? ", i1 true)" : ", i1 false)") + kWiden);
  };
  const auto quad = dpp(0b00011011), shl = dpp(0x102), shr = dpp(0x111), ror = dpp(0x123),
             bounded = dpp(0x111, 15, 15, true), mirror = dpp(0x140), half = dpp(0x141), cast15 = dpp(0x142, 0xa),
             cast31 = dpp(0x143, 0xc), wave = dpp(0x138), share = dpp(0x155), xmask = dpp(0x163),
             banks = dpp(0x140, 15, 2);
  for (uint64_t i = 0; i < 64; ++i) {
    const uint64_t row = i & ~uint64_t(15), column = i & 15, old = i + 1000;
    EXPECT_EQ(quad[i], i ^ 3);
    EXPECT_EQ(shl[i], column + 2 < 16 ? i + 2 : old);
    EXPECT_EQ(shr[i], column ? i - 1 : old);
    EXPECT_EQ(bounded[i], column ? i - 1 : 0);
    EXPECT_EQ(ror[i], row + (column + 13) % 16);
    EXPECT_EQ(mirror[i], row + 15 - column);
    EXPECT_EQ(half[i], (i & ~uint64_t(7)) + 7 - i % 8);
    EXPECT_EQ(cast15[i], (i / 16) % 2 ? row - 1 : old);
    EXPECT_EQ(cast31[i], i >= 32 ? 31 : old);
    EXPECT_EQ(wave[i], i ? i - 1 : old);
    EXPECT_EQ(share[i], row + 5);
    EXPECT_EQ(xmask[i], row + (column ^ 3));
    EXPECT_EQ(banks[i], column / 4 == 1 ? row + 15 - column : old);
  }
  const auto wide = lanes("  %w = zext i32 %t to i64\n  %v = shl i64 %w, 40\n  %r = call i64 "
                          "@llvm.amdgcn.update.dpp.i64(i64 3, i64 %v, i32 273, i32 15, i32 15, i1 false)");
  EXPECT_EQ(wide[0], 3u);
  EXPECT_EQ(wide[5], uint64_t(4) << 40);
}

TEST(CrossLane, WaveReductions) {
  auto out = lanes("  %x = call i32 @llvm.amdgcn.wave.reduce.umax(i32 %t, i32 0)" + kWiden, "icmp ult i32 %t, 50");
  EXPECT_EQ(out[3], 49u);
  out = lanes("  %x = call i32 @llvm.amdgcn.wave.reduce.add(i32 %t, i32 0)" + kWiden, "icmp ult i32 %t, 5");
  EXPECT_EQ(out[3], 10u);
}

TEST(CrossLane, WavesOf32) {
  Options options;
  options.target = "gfx1030";
  auto out =
      lanes("  %s = call i32 @llvm.amdgcn.wavefrontsize()\n  %b = call i32 @llvm.amdgcn.ballot.i32(i1 true)\n"
            "  %b64 = zext i32 %b to i64\n  %s64 = zext i32 %s to i64\n  %h = shl i64 %s64, 32\n  %r = or i64 %h, %b64",
            "icmp ult i32 %t, 40", options);
  EXPECT_EQ(out[0], uint64_t(32) << 32 | 0xffffffff);
  EXPECT_EQ(out[39], uint64_t(32) << 32 | 0xff);
  EXPECT_EQ(out[40], 0xdeadu);
  out = lanes(
      "  %x = call i32 @llvm.amdgcn.permlanex16.i32(i32 0, i32 %t, i32 1985229328, i32 -19088744, i1 false, i1 false)" +
          kWiden,
      "icmp uge i32 %t, 0", options); // identity selects of the other row
  for (uint64_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], (i ^ 16) % 32 + i / 32 * 32);
}

} // namespace
} // namespace wavesan::cpu::test
