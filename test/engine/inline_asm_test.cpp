// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline assembly: each instruction against its description in the ISA manuals, written here as plain C++.
#include "engine_fixture.h"

#include <bit>
#include <cmath>
#include <random>

namespace wavesan::cpu::test {
namespace {

constexpr uint32_t kLanes = 64;

uint32_t bits(float f) { return std::bit_cast<uint32_t>(f); }
float real(uint32_t v) { return std::bit_cast<float>(v); }

/// Runs `text` with $0 a result, $1 and $2 the elements of a and b, $3 of c, on `lanes` work-items.
std::vector<uint32_t> apply(const std::string &text, const std::vector<uint32_t> &a, const std::vector<uint32_t> &b,
                            const std::vector<uint32_t> &c, const Options &options = {},
                            const std::string &constraints = "=&v,v,v,v") {
  std::vector<uint32_t> out(a.size());
  runText(R"(
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %pa = getelementptr i32, ptr addrspace(1) %a, i32 %t
  %pb = getelementptr i32, ptr addrspace(1) %b, i32 %t
  %pc = getelementptr i32, ptr addrspace(1) %c, i32 %t
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %t
  %x = load i32, ptr addrspace(1) %pa
  %y = load i32, ptr addrspace(1) %pb
  %z = load i32, ptr addrspace(1) %pc
  %r = call i32 asm sideeffect ")" +
              text + "\", \"" + constraints + R"(,~{vcc},~{scc},~{s90},~{s91},~{v99}"(i32 %x, i32 %y, i32 %z)
  store i32 %r, ptr addrspace(1) %po
  ret void
})",
          linear(uint32_t(a.size()), uint32_t(a.size())), arguments(a.data(), b.data(), c.data(), out.data()), options);
  return out;
}

std::vector<uint32_t> numbers(uint32_t seed, bool floats = false) {
  std::mt19937 random(seed);
  std::vector<uint32_t> v(kLanes);
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = floats       ? bits(float(int(random() % 20001) - 10000) / 16.0f)
           : i % 4 == 0 ? uint32_t(random())
                        : random() % 70;
  return v;
}

using Function = uint32_t (*)(uint32_t a, uint32_t b, uint32_t c);
struct Case {
  const char *text;
  Function expected;
};

void expectAll(const std::vector<Case> &cases, const Options &options, bool floats = false) {
  const auto a = numbers(1, floats), b = numbers(2, floats), c = numbers(3, floats);
  for (const Case &k : cases) {
    const auto out = apply(k.text, a, b, c, options);
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], k.expected(a[i], b[i], c[i])) << k.text << " lane " << i;
  }
}

// Arithmetic without side effects, in the words of every generation.
const std::vector<Case> kInteger = {
    {"v_mov_b32 $0, $1", [](uint32_t a, uint32_t, uint32_t) { return a; }},
    {"v_mov_b32 $0, 0x12345", [](uint32_t, uint32_t, uint32_t) { return 0x12345u; }},
    {"v_mov_b32 $0, -5", [](uint32_t, uint32_t, uint32_t) { return uint32_t(-5); }},
    {"v_mov_b32 $0, 1.0", [](uint32_t, uint32_t, uint32_t) { return bits(1.0f); }},
    {"v_not_b32 $0, $1", [](uint32_t a, uint32_t, uint32_t) { return ~a; }},
    {"v_and_b32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return a & b; }},
    {"v_or_b32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return a | b; }},
    {"v_xor_b32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return a ^ b; }},
    {"v_lshlrev_b32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return b << (a & 31); }},
    {"v_lshrrev_b32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return b >> (a & 31); }},
    {"v_ashrrev_i32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return uint32_t(int32_t(b) >> (a & 31)); }},
    {"v_min_u32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return a < b ? a : b; }},
    {"v_max_i32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return int32_t(a) > int32_t(b) ? a : b; }},
    {"v_mul_lo_u32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return a * b; }},
    {"v_mul_hi_u32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return uint32_t(uint64_t(a) * b >> 32); }},
    {"v_add3_u32 $0, $1, $2, $3", [](uint32_t a, uint32_t b, uint32_t c) { return a + b + c; }},
    {"v_lshl_add_u32 $0, $1, $2, $3", [](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) + c; }},
    {"v_add_lshl_u32 $0, $1, $2, $3", [](uint32_t a, uint32_t b, uint32_t c) { return (a + b) << (c & 31); }},
    {"v_lshl_or_b32 $0, $1, $2, $3", [](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) | c; }},
    {"v_and_or_b32 $0, $1, $2, $3", [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | c; }},
    {"v_or3_b32 $0, $1, $2, $3", [](uint32_t a, uint32_t b, uint32_t c) { return a | b | c; }},
    {"v_bfi_b32 $0, $1, $2, $3", [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | (~a & c); }},
    {"v_mul_u32_u24 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return (a & 0xffffff) * (b & 0xffffff); }},
    {"v_bfe_u32 $0, $1, 4, 8", [](uint32_t a, uint32_t, uint32_t) { return a >> 4 & 255; }},
    {"v_bfe_i32 $0, $1, 4, 8", [](uint32_t a, uint32_t, uint32_t) { return uint32_t(int32_t(a << 20) >> 24); }},
    {"v_alignbit_b32 $0, $1, $2, 8",
     [](uint32_t a, uint32_t b, uint32_t) { return uint32_t(((uint64_t(a) << 32) | b) >> 8); }},
    // Several instructions, registers of the text's own.
    {"v_mov_b32 v99, $1\\0Av_xor_b32 v99, v99, $2\\0Av_or_b32 $0, v99, $3",
     [](uint32_t a, uint32_t b, uint32_t c) { return (a ^ b) | c; }},
    {"s_mov_b32 s90, 0xffffffff\\0As_add_u32 s91, s90, 2\\0As_addc_u32 s91, 5, 7\\0Av_mov_b32 $0, s91",
     [](uint32_t, uint32_t, uint32_t) { return 13u; }},
    {"s_movk_i32 s90, 0x55\\0As_lshl_b32 s90, s90, 33\\0As_mul_i32 s90, s90, 3\\0Av_mov_b32 $0, s90",
     [](uint32_t, uint32_t, uint32_t) { return 0x55u * 2 * 3; }},
    {"s_mov_b32 s90, 4\\0As_cmp_lt_i32 s90, 5\\0As_cselect_b32 s91, 11, 22\\0Av_mov_b32 $0, s91",
     [](uint32_t, uint32_t, uint32_t) { return 11u; }},
};
const std::vector<Case> kInteger9 = {
    // Scalar registers hold one value: of the first lane.
    {"v_readfirstlane_b32 s90, $1\\0Av_mov_b32 $0, s90", [](uint32_t, uint32_t, uint32_t) { return numbers(1)[0]; }},
    {"v_readlane_b32 s90, $1, 5\\0As_add_u32 s90, s90, 3\\0Av_mov_b32 $0, s90",
     [](uint32_t, uint32_t, uint32_t) { return numbers(1)[5] + 3; }},
    {"v_add_u32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return a + b; }},
    {"v_sub_u32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return a - b; }},
    {"v_subrev_u32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return b - a; }},
    {"v_cmp_lt_u32 vcc, $1, $2\\0Av_cndmask_b32 $0, $2, $1, vcc",
     [](uint32_t a, uint32_t b, uint32_t) { return a < b ? a : b; }},
    {"v_cmp_ge_i32 s[90:91], $1, $2\\0Av_cndmask_b32 $0, $2, $1, s[90:91]",
     [](uint32_t a, uint32_t b, uint32_t) { return int32_t(a) >= int32_t(b) ? a : b; }},
    {"v_add_co_u32 v99, vcc, $1, $2\\0Av_addc_co_u32 $0, vcc, $3, 0, vcc",
     [](uint32_t a, uint32_t b, uint32_t c) { return c + uint32_t((uint64_t(a) + b) >> 32); }},
    {"v_accvgpr_write_b32 a7, $1\\0Av_accvgpr_read_b32 $0, a7", [](uint32_t a, uint32_t, uint32_t) { return a; }},
};
const std::vector<Case> kInteger10 = {
    {"v_add_nc_u32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return a + b; }},
    {"v_sub_nc_u32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return a - b; }},
    {"v_cmp_lt_u32 vcc_lo, $1, $2\\0Av_cndmask_b32 $0, $2, $1, vcc_lo",
     [](uint32_t a, uint32_t b, uint32_t) { return a < b ? a : b; }},
    {"v_add_co_u32 v99, vcc_lo, $1, $2\\0Av_add_co_ci_u32 $0, vcc_lo, $3, 0, vcc_lo",
     [](uint32_t a, uint32_t b, uint32_t c) { return c + uint32_t((uint64_t(a) + b) >> 32); }},
};
const std::vector<Case> kFloat = {
    {"v_add_f32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return bits(real(a) + real(b)); }},
    {"v_sub_f32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return bits(real(a) - real(b)); }},
    {"v_mul_f32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return bits(real(a) * real(b)); }},
    {"v_fma_f32 $0, $1, $2, $3",
     [](uint32_t a, uint32_t b, uint32_t c) { return bits(std::fma(real(a), real(b), real(c))); }},
    {"v_max_f32 $0, $1, $2", [](uint32_t a, uint32_t b, uint32_t) { return bits(std::fmax(real(a), real(b))); }},
    {"v_cvt_i32_f32 $0, $1", [](uint32_t a, uint32_t, uint32_t) { return uint32_t(int32_t(real(a))); }},
    {"v_cvt_i32_f32 v99, $1\\0Av_cvt_f32_i32 $0, v99",
     [](uint32_t a, uint32_t, uint32_t) { return bits(std::trunc(real(a)) + 0.0f); }},
};

Options on(const char *target) {
  Options options;
  options.target = target;
  options.fixedLds = 4096;
  return options;
}

TEST(InlineAsm, Arithmetic) {
  for (const char *target : {"gfx90a", "gfx1030"})
    expectAll(kInteger, on(target));
  expectAll(kInteger9, on("gfx90a"));
  expectAll(kInteger10, on("gfx1030"));
}
TEST(InlineAsm, SinglePrecision) {
  for (const char *target : {"gfx90a", "gfx1030"})
    expectAll(kFloat, on(target), true);
}
TEST(InlineAsm, LaneCounts) {
  const auto a = numbers(1), b = numbers(2), c = numbers(3);
  const auto out = apply("v_mbcnt_lo_u32_b32 v99, -1, 0\\0Av_mbcnt_hi_u32_b32 $0, -1, v99", a, b, c, on("gfx90a"));
  for (uint32_t i = 0; i < kLanes; ++i)
    EXPECT_EQ(out[i], i);
}
TEST(InlineAsm, Permutations) {
  const auto a = numbers(1), c = numbers(3);
  std::vector<uint32_t> index(kLanes);
  for (uint32_t i = 0; i < kLanes; ++i)
    index[i] = 4 * ((i * 7 + 3) % kLanes);
  const auto out = apply("ds_bpermute_b32 $0, $2, $1\\0As_waitcnt lgkmcnt(0)", a, index, c, on("gfx90a"));
  const auto back = apply("ds_permute_b32 $0, $2, $1\\0As_waitcnt lgkmcnt(0)", a, index, c, on("gfx90a"));
  for (uint32_t i = 0; i < kLanes; ++i) {
    EXPECT_EQ(out[i], a[index[i] / 4]);
    EXPECT_EQ(back[index[i] / 4], a[i]);
  }
}

// Memory. $1: address of 16 bytes of the lane, $2 and $3: data.

void expectMemory(const std::string &text, Function expected, const Options &options) {
  std::vector<uint32_t> a(kLanes);
  for (uint32_t i = 0; i < kLanes; ++i)
    a[i] = 16 * i;
  const auto b = numbers(2), c = numbers(3);
  const auto out = apply(text, a, b, c, options);
  for (uint32_t i = 0; i < kLanes; ++i)
    ASSERT_EQ(out[i], expected(a[i], b[i], c[i])) << text << " lane " << i;
}

TEST(InlineAsm, LdsLoadsAndStores) {
  const auto second = [](uint32_t, uint32_t b, uint32_t) { return b; };
  for (const char *target : {"gfx90a", "gfx1030"}) {
    const Options options = on(target);
    expectMemory("ds_write_b32 $1, $2\\0As_waitcnt lgkmcnt(0)\\0Ads_read_b32 $0, $1\\0As_waitcnt lgkmcnt(0)", second,
                 options);
    expectMemory("ds_write_b32 $1, $2 offset:8\\0Ads_read_b32 $0, $1 offset:8", second, options);
    expectMemory(
        "ds_write_b32 $1, $2\\0Ads_read_u8 $0, $1 offset:1",
        [](uint32_t, uint32_t b, uint32_t) { return b >> 8 & 255; }, options);
    expectMemory(
        "ds_write_b32 $1, $2\\0Ads_read_i8 $0, $1 offset:1",
        [](uint32_t, uint32_t b, uint32_t) { return uint32_t(int8_t(b >> 8)); }, options);
    expectMemory(
        "ds_write_b32 $1, $2\\0Ads_read_u16 $0, $1 offset:2", [](uint32_t, uint32_t b, uint32_t) { return b >> 16; },
        options);
    expectMemory(
        "ds_write_b32 $1, $2\\0Ads_read_i16 $0, $1",
        [](uint32_t, uint32_t b, uint32_t) { return uint32_t(int16_t(b)); }, options);
    expectMemory(
        "ds_write_b32 $1, $2\\0Ads_write_b8 $1, $3 offset:3\\0Ads_read_b32 $0, $1",
        [](uint32_t, uint32_t b, uint32_t c) { return (b & 0xffffff) | c << 24; }, options);
    expectMemory(
        "ds_write_b32 $1, $2\\0Ads_write_b16 $1, $3 offset:2\\0Ads_read_b32 $0, $1",
        [](uint32_t, uint32_t b, uint32_t c) { return (b & 0xffff) | c << 16; }, options);
    expectMemory(
        "ds_write2_b32 $1, $2, $3 offset0:1 offset1:3\\0Ads_read_b32 $0, $1 offset:12",
        [](uint32_t, uint32_t, uint32_t c) { return c; }, options);
    expectMemory(
        "v_mov_b32 v100, $2\\0Av_mov_b32 v101, $3\\0Ads_write_b64 $1, v[100:101]\\0Ads_read2_b32 v[102:103], $1 "
        "offset1:1\\0A"
        "v_xor_b32 $0, v102, v103",
        [](uint32_t, uint32_t b, uint32_t c) { return b ^ c; }, options);
    expectMemory(
        "v_mov_b32 v100, $2\\0Av_mov_b32 v101, $3\\0Av_mov_b32 v102, 5\\0Av_mov_b32 v103, 6\\0Ads_write_b128 $1, "
        "v[100:103]\\0A"
        "ds_read_b128 v[104:107], $1\\0Av_xor_b32 $0, v104, v107",
        [](uint32_t, uint32_t b, uint32_t) { return b ^ 6; }, options);
  }
}
TEST(InlineAsm, LdsAtomics) {
  const Options options = on("gfx90a");
  struct Op {
    const char *name;
    Function combined;
  };
  for (const Op &op : std::initializer_list<Op>{
           {"add_u32", [](uint32_t, uint32_t b, uint32_t c) { return b + c; }},
           {"sub_u32", [](uint32_t, uint32_t b, uint32_t c) { return b - c; }},
           {"and_b32", [](uint32_t, uint32_t b, uint32_t c) { return b & c; }},
           {"or_b32", [](uint32_t, uint32_t b, uint32_t c) { return b | c; }},
           {"xor_b32", [](uint32_t, uint32_t b, uint32_t c) { return b ^ c; }},
           {"min_u32", [](uint32_t, uint32_t b, uint32_t c) { return b < c ? b : c; }},
           {"max_i32", [](uint32_t, uint32_t b, uint32_t c) { return int32_t(b) > int32_t(c) ? b : c; }},
           {"inc_u32", [](uint32_t, uint32_t b, uint32_t c) { return b >= c ? 0 : b + 1; }}}) {
    const std::string name = op.name;
    const size_t cut = name.find('_');
    expectMemory("ds_write_b32 $1, $2\\0Ads_" + name + " $1, $3\\0Ads_read_b32 $0, $1", op.combined, options);
    expectMemory(
        "ds_write_b32 $1, $2\\0Ads_" + name.substr(0, cut) + "_rtn" + name.substr(cut) + " $0, $1, $3",
        [](uint32_t, uint32_t b, uint32_t) { return b; }, options);
  }
  expectMemory(
      "ds_write_b32 $1, $2\\0Ads_cmpst_rtn_b32 v99, $1, $2, $3\\0Ads_read_b32 $0, $1",
      [](uint32_t, uint32_t, uint32_t c) { return c; }, options);
  expectMemory(
      "ds_write_b32 $1, $2\\0Ads_wrxchg_rtn_b32 v99, $1, $3\\0Ads_read_b32 $0, $1",
      [](uint32_t, uint32_t, uint32_t c) { return c; }, options);
}

/// A kernel over global memory: $1 the lane's own address (v), $2 the base (s), $3 the lane's offset (v), $4 data (v).
std::vector<uint32_t> applyGlobal(const std::string &text, const Options &options) {
  std::vector<uint32_t> out(kLanes * 4);
  for (uint32_t i = 0; i < out.size(); ++i)
    out[i] = 0x81828384u + i * 0x01010101u;
  runText(
      R"(
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @k(ptr addrspace(1) %base) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %o = mul i32 %t, 16
  %p = getelementptr i8, ptr addrspace(1) %base, i32 %o
  %d = add i32 %t, 500
  %r = call i32 asm sideeffect ")" +
          text +
          R"(", "=&v,v,s,v,v,~{memory},~{v98},~{v99},~{v100},~{v101}"(ptr addrspace(1) %p, ptr addrspace(1) %base, i32 %o, i32 %d)
  %q = getelementptr i8, ptr addrspace(1) %p, i32 12
  store i32 %r, ptr addrspace(1) %q
  ret void
})",
      linear(kLanes, kLanes), arguments(out.data()), options);
  return out;
}
/// Expects the first and the last dword of each lane; `expected(lane, the three first dwords before, &first)`.
using GlobalFunction = uint32_t (*)(uint32_t lane, const uint32_t *before, uint32_t &first);
void expectGlobal(const std::string &text, GlobalFunction expected, const char *target = "gfx90a") {
  const auto out = applyGlobal(text, on(target));
  for (uint32_t i = 0; i < kLanes; ++i) {
    uint32_t before[4];
    for (uint32_t k = 0; k < 4; ++k)
      before[k] = 0x81828384u + (i * 4 + k) * 0x01010101u;
    uint32_t first = before[0];
    const uint32_t last = expected(i, before, first);
    ASSERT_EQ(out[i * 4], first) << text << " lane " << i;
    ASSERT_EQ(out[i * 4 + 3], last) << text << " lane " << i;
  }
}

TEST(InlineAsm, GlobalAndFlatMemory) {
  for (const char *target : {"gfx90a", "gfx1030"}) {
    expectGlobal(
        "global_load_dword $0, $1, off\\0As_waitcnt vmcnt(0)",
        [](uint32_t, const uint32_t *m, uint32_t &) { return m[0]; }, target);
    expectGlobal(
        "global_load_dword $0, $1, off offset:8\\0As_waitcnt vmcnt(0)",
        [](uint32_t, const uint32_t *m, uint32_t &) { return m[2]; }, target);
    expectGlobal(
        "global_load_dword $0, $3, $2 offset:4\\0As_waitcnt vmcnt(0)",
        [](uint32_t, const uint32_t *m, uint32_t &) { return m[1]; }, target);
    expectGlobal(
        "global_load_ubyte $0, $1, off offset:1",
        [](uint32_t, const uint32_t *m, uint32_t &) { return m[0] >> 8 & 255; }, target);
    expectGlobal(
        "global_load_sbyte $0, $1, off", [](uint32_t, const uint32_t *m, uint32_t &) { return uint32_t(int8_t(m[0])); },
        target);
    expectGlobal(
        "global_load_sshort $0, $1, off offset:2",
        [](uint32_t, const uint32_t *m, uint32_t &) { return uint32_t(int16_t(m[0] >> 16)); }, target);
    expectGlobal(
        "global_load_dwordx2 v[98:99], $1, off\\0As_waitcnt vmcnt(0)\\0Av_xor_b32 $0, v98, v99",
        [](uint32_t, const uint32_t *m, uint32_t &) { return m[0] ^ m[1]; }, target);
    expectGlobal(
        "global_load_dwordx4 v[98:101], $1, off\\0As_waitcnt vmcnt(0)\\0Av_xor_b32 $0, v99, v101",
        [](uint32_t, const uint32_t *m, uint32_t &) { return m[1] ^ m[3]; }, target);
    expectGlobal(
        "flat_load_dword $0, $1 offset:8", [](uint32_t, const uint32_t *m, uint32_t &) { return m[2]; }, target);
    expectGlobal(
        "global_store_dword $1, $4, off\\0Av_mov_b32 $0, 1",
        [](uint32_t i, const uint32_t *, uint32_t &first) {
          first = i + 500;
          return 1u;
        },
        target);
    expectGlobal(
        "global_store_dword $3, $4, $2\\0Av_mov_b32 $0, 1",
        [](uint32_t i, const uint32_t *, uint32_t &first) {
          first = i + 500;
          return 1u;
        },
        target);
    expectGlobal(
        "global_store_byte $1, $4, off offset:3\\0Av_mov_b32 $0, 1",
        [](uint32_t i, const uint32_t *m, uint32_t &first) {
          first = (m[0] & 0xffffff) | (i + 500) << 24;
          return 1u;
        },
        target);
    expectGlobal(
        "flat_store_short $1, $4\\0Av_mov_b32 $0, 1",
        [](uint32_t i, const uint32_t *m, uint32_t &first) {
          first = (m[0] & 0xffff0000u) | ((i + 500) & 0xffff);
          return 1u;
        },
        target);
    expectGlobal(
        "global_atomic_add $1, $4, off\\0Av_mov_b32 $0, 1",
        [](uint32_t i, const uint32_t *m, uint32_t &first) {
          first = m[0] + i + 500;
          return 1u;
        },
        target);
    expectGlobal(
        "global_atomic_add $0, $1, $4, off glc\\0As_waitcnt vmcnt(0)",
        [](uint32_t i, const uint32_t *m, uint32_t &first) {
          first = m[0] + i + 500;
          return m[0];
        },
        target);
    expectGlobal(
        "global_atomic_smax $1, $4, off\\0Av_mov_b32 $0, 1",
        [](uint32_t i, const uint32_t *m, uint32_t &first) {
          first = int32_t(m[0]) > int32_t(i + 500) ? m[0] : i + 500;
          return 1u;
        },
        target);
    expectGlobal(
        "global_atomic_swap $0, $3, $4, $2 glc",
        [](uint32_t i, const uint32_t *m, uint32_t &first) {
          first = i + 500;
          return m[0];
        },
        target);
    // The value to store, then the one to compare with.
    expectGlobal(
        "global_load_dword v99, $1, off\\0Av_mov_b32 v98, $4\\0Aglobal_atomic_cmpswap $0, $1, v[98:99], off glc",
        [](uint32_t i, const uint32_t *m, uint32_t &first) {
          first = i + 500;
          return m[0];
        },
        target);
  }
  expectGlobal(
      "global_load_b32 $0, $1, off offset:8\\0As_waitcnt vmcnt(0)",
      [](uint32_t, const uint32_t *m, uint32_t &) { return m[2]; }, "gfx1100");
  expectGlobal(
      "global_load_b64 v[98:99], $1, off\\0As_wait_loadcnt 0\\0Av_xor_b32 $0, v98, v99",
      [](uint32_t, const uint32_t *m, uint32_t &) { return m[0] ^ m[1]; }, "gfx1201");
}

// i64 in a pair, half in half a register, a tied operand, two results.
TEST(InlineAsm, WideOperands) {
  std::vector<uint64_t> out(4);
  runText(R"(
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %wide = call i64 asm sideeffect "v_lshlrev_b64 $0, 4, $1", "=v,v"(i64 1311768467463790320)
  store i64 %wide, ptr addrspace(1) %out
  %p1 = getelementptr i64, ptr addrspace(1) %out, i32 1
  %h = call half asm sideeffect "v_mov_b32 $0, $1", "=v,v"(half 0xH3C00)
  store half %h, ptr addrspace(1) %p1
  %p2 = getelementptr i64, ptr addrspace(1) %out, i32 2
  %two = call { i32, i32 } asm sideeffect "v_mov_b32 $0, $2\0Av_xor_b32 $1, 3, $1", "=&v,=v,v,1"(i32 5, i32 9)
  %a = extractvalue { i32, i32 } %two, 0
  %b = extractvalue { i32, i32 } %two, 1
  store i32 %a, ptr addrspace(1) %p2
  %p3 = getelementptr i64, ptr addrspace(1) %out, i32 3
  store i32 %b, ptr addrspace(1) %p3
  ret void
})",
          linear(1, 1), arguments(out.data()), on("gfx90a"));
  EXPECT_EQ(out[0], 1311768467463790320ull << 4);
  EXPECT_EQ(out[1], 0x3c00u);
  EXPECT_EQ(out[2], 5u);
  EXPECT_EQ(out[3], 3u ^ 9u);
}

// Asynchronous copies.

/// Copies a dword for each lane, does `between`, reads another lane's: how many lanes saw the old value under all
/// seeds.
int stale(const std::string &copy, const std::string &between, const char *target = "gfx90a") {
  int old = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<uint32_t> in(kLanes), out(kLanes);
    for (uint32_t i = 0; i < kLanes; ++i)
      in[i] = 100 + i;
    Options options = on(target);
    options.seed = seed;
    runText(R"(
@tile = internal addrspace(3) global [64 x i32] poison, align 16
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.global.load.lds(ptr addrspace(1), ptr addrspace(3), i32, i32, i32)
declare void @llvm.amdgcn.s.waitcnt(i32)
define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(1) %in, i32 %t
  )" + copy + "\n  " +
                between + R"(
  %r = sub i32 63, %t
  %a = mul i32 %r, 4
  %v = call i32 asm sideeffect "ds_read_b32 $0, $1", "=&v,v,~{memory}"(i32 %a)
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %o
  ret void
})",
            linear(kLanes, kLanes), arguments(in.data(), out.data()), options);
    for (uint32_t i = 0; i < kLanes; ++i)
      if (out[i] != 100 + 63 - i) {
        EXPECT_EQ(out[i], 0u);
        ++old;
      }
  }
  return old;
}

std::string waitText(int count) {
  return "call void asm sideeffect \"s_waitcnt vmcnt(" + std::to_string(count) + ")\", \"\"()";
}

TEST(AsyncCopies, CompleteAtTheirWaitOnly) {
  const std::string builtin =
      "call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %p, ptr addrspace(3) @tile, i32 4, i32 0, i32 0)";
  const std::string assembly =
      R"(call void asm sideeffect "s_mov_b32 m0, $1\0Aglobal_load_dword $0, off lds", "v,s,~{memory}"(ptr addrspace(1) %p, i32 0))";
  for (const std::string &copy : {builtin, assembly}) {
    EXPECT_EQ(stale(copy, "call void @llvm.amdgcn.s.waitcnt(i32 3952)"), 0); // vmcnt(0)
    EXPECT_EQ(stale(copy, waitText(0)), 0);
    EXPECT_GT(stale(copy, "call void @llvm.amdgcn.s.waitcnt(i32 49279)"), 0); // lgkmcnt(0)
    EXPECT_GT(stale(copy, waitText(1)), 0);
    EXPECT_GT(stale(copy, ""), 0);
  }
  // The compiler waits at fences for what it knows of.
  EXPECT_EQ(stale(builtin, "fence syncscope(\"workgroup\") release"), 0);
  EXPECT_GT(stale(assembly, "fence syncscope(\"workgroup\") release"), 0);
}
TEST(AsyncCopies, OlderOnesCompleteFirst) {
  const std::string twice =
      "call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %p, ptr addrspace(3) @tile, i32 4, i32 0, i32 0)\n"
      "call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %p, ptr addrspace(3) getelementptr (i8, ptr "
      "addrspace(3) @tile, i32 1024), i32 4, i32 0, i32 0)";
  EXPECT_EQ(stale(twice, waitText(1)), 0);
  EXPECT_GT(stale(twice, waitText(2)), 0);
}
TEST(AsyncCopies, AccessesOfTheLanguageWait) {
  std::vector<uint32_t> in(kLanes, 7), out(kLanes);
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Options options = on("gfx90a");
    options.seed = seed;
    std::fill(out.begin(), out.end(), 0);
    runText(R"(
@tile = internal addrspace(3) global [64 x i32] poison, align 16
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.global.load.lds(ptr addrspace(1), ptr addrspace(3), i32, i32, i32)
define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(1) %in, i32 %t
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %p, ptr addrspace(3) @tile, i32 4, i32 0, i32 0)
  %r = sub i32 63, %t
  %q = getelementptr i32, ptr addrspace(3) @tile, i32 %r
  %v = load i32, ptr addrspace(3) %q
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %o
  ret void
})",
            linear(kLanes, kLanes), arguments(in.data(), out.data()), options);
    EXPECT_EQ(out, in);
  }
}
TEST(AsyncCopies, EachLaneHasItsAddressOnGfx1250) {
  std::vector<uint32_t> in(32), out(64);
  for (uint32_t i = 0; i < 32; ++i)
    in[i] = 100 + i;
  runText(R"(
@tile = internal addrspace(3) global [64 x i32] poison, align 16
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.global.load.async.to.lds.b32(ptr addrspace(1), ptr addrspace(3), i32, i32)
declare void @llvm.amdgcn.global.store.async.from.lds.b32(ptr addrspace(1), ptr addrspace(3), i32, i32)
declare void @llvm.amdgcn.s.wait.asynccnt(i16)
define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(1) %in, i32 %t
  %r = sub i32 31, %t
  %q = getelementptr i32, ptr addrspace(3) @tile, i32 %r
  call void @llvm.amdgcn.global.load.async.to.lds.b32(ptr addrspace(1) %p, ptr addrspace(3) %q, i32 0, i32 0)
  call void @llvm.amdgcn.s.wait.asynccnt(i16 0)
  %s = getelementptr i32, ptr addrspace(3) @tile, i32 %t
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  call void @llvm.amdgcn.global.store.async.from.lds.b32(ptr addrspace(1) %o, ptr addrspace(3) %s, i32 0, i32 0)
  ret void
}
attributes #0 = { "target-cpu"="gfx1250" })",
          linear(32, 32), arguments(in.data(), out.data()), on("gfx1250"));
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 100 + 31 - i);
}

TEST(GridBarrier, AllWorkgroupsMeet) {
  constexpr uint32_t kGroups = 40;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Options options = on("gfx90a");
    options.seed = seed;
    std::vector<uint32_t> memory(kGroups), out(kGroups);
    runText(R"(
declare i32 @llvm.amdgcn.workgroup.id.x()
declare void @llvm.amdgcn.ds.gws.barrier(i32, i32)
define amdgpu_kernel void @k(ptr addrspace(1) %m, ptr addrspace(1) %out) {
entry:
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %p = getelementptr i32, ptr addrspace(1) %m, i32 %g
  %n = add i32 %g, 1
  %w = urem i32 %n, 40
  %q = getelementptr i32, ptr addrspace(1) %m, i32 %w
  br label %loop
loop:
  %k = phi i32 [ 1, %entry ], [ %next, %loop ]
  %value = mul i32 %k, 100
  %mine = add i32 %value, %g
  store volatile i32 %mine, ptr addrspace(1) %p
  call void @llvm.amdgcn.ds.gws.barrier(i32 39, i32 0)
  %v = load volatile i32, ptr addrspace(1) %q
  call void @llvm.amdgcn.ds.gws.barrier(i32 39, i32 0)
  %next = add i32 %k, 1
  %more = icmp ult i32 %k, 5
  br i1 %more, label %loop, label %done
done:
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %g
  store i32 %v, ptr addrspace(1) %o
  ret void
})",
            linear(kGroups, 1), arguments(memory.data(), out.data()), options);
    for (uint32_t g = 0; g < kGroups; ++g)
      EXPECT_EQ(out[g], 500 + (g + 1) % kGroups);
  }
}

} // namespace
} // namespace wavesan::cpu::test
