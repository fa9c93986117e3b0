// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer intrinsics: those of AMD against arithmetic written from the ISA documents (MI300, RDNA3: "VOP2", "VOP3"),
// those of every target against LLVM's arbitrary-precision integers.
#include "elementwise.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"

namespace wavesan::cpu::test {
namespace {

using llvm::APInt;

constexpr uint64_t kSeed = 20260801;

struct Words {
  const char *name; ///< after "llvm."
  size_t operands;
  std::function<uint32_t(uint32_t, uint32_t, uint32_t)> expected;
  std::vector<std::string> immediates = {};
};

uint32_t byteOf(uint64_t v, uint32_t k) { return uint32_t(v >> (8 * k)) & 0xff; }
int64_t low24(uint32_t v) { return v & 0x800000 ? int64_t(v & 0xffffff) - 0x1000000 : int64_t(v & 0xffffff); }
/// Bits offset .. offset + width - 1, counted one by one; beyond bit 31 comes `above`.
uint32_t field(uint32_t v, uint32_t offset, uint32_t width, uint32_t above) {
  uint32_t r = 0;
  for (uint32_t k = 0; k < (width & 31); ++k)
    r |= ((offset & 31) + k < 32 ? v >> ((offset & 31) + k) & 1 : above) << k;
  return r;
}

std::vector<Words> words() {
  using U = uint32_t;
  const auto saturated = [](int64_t v, int64_t least, int64_t most) {
    return uint32_t(v < least ? least : v > most ? most : v);
  };
  return {
      {"amdgcn.perm", 3,
       [](U high, U low, U select) {
         const uint64_t all = uint64_t(high) << 32 | low;
         U r = 0;
         for (U k = 0; k < 4; ++k) {
           const U s = byteOf(select, k);
           const U byte = s <= 7    ? byteOf(all, s)
                          : s <= 11 ? (byteOf(all, 2 * (s - 8) + 1) >= 0x80 ? 0xff : 0)
                          : s == 12 ? 0
                                    : 0xff;
           r |= byte << (8 * k);
         }
         return r;
       }},
      {"amdgcn.alignbyte", 3,
       [](U high, U low, U shift) {
         const uint64_t all = uint64_t(high) << 32 | low;
         U r = 0;
         for (U k = 0; k < 4; ++k)
           r |= byteOf(all, k + shift % 4) << (8 * k);
         return r;
       }},
      {"amdgcn.sad.u8", 3,
       [](U a, U b, U sum) {
         for (U k = 0; k < 4; ++k)
           sum += uint32_t(std::abs(int(byteOf(a, k)) - int(byteOf(b, k))));
         return sum;
       }},
      {"amdgcn.lerp", 3,
       [](U a, U b, U round) {
         U r = 0;
         for (U k = 0; k < 4; ++k)
           r |= (byteOf(a, k) + byteOf(b, k) + (byteOf(round, k) & 1)) / 2 << (8 * k);
         return r;
       }},
      {"amdgcn.ubfe.i32", 3, [](U v, U offset, U width) { return field(v, offset, width, 0); }},
      {"amdgcn.sbfe.i32", 3,
       [](U v, U offset, U width) {
         const U bits = width & 31, f = field(v, offset, width, v >> 31);
         return bits && f >> (bits - 1) ? f | ~U(0) << bits : f;
       }},
      {"amdgcn.mul.u24.i32", 2, [](U a, U b, U) { return U(uint64_t(a & 0xffffff) * (b & 0xffffff)); }},
      {"amdgcn.mul.i24.i32", 2, [](U a, U b, U) { return U(uint64_t(low24(a) * low24(b))); }},
      {"amdgcn.mulhi.u24", 2, [](U a, U b, U) { return U(uint64_t(a & 0xffffff) * (b & 0xffffff) / 0x100000000); }},
      {"amdgcn.mulhi.i24", 2, [](U a, U b, U) { return U(uint64_t(low24(a) * low24(b) >> 32)); }},
      {"amdgcn.sffbh.i32", 1,
       [](U v, U, U) { // the first bit from the top that differs from the sign
         for (U i = 1; i < 32; ++i)
           if ((v >> (31 - i) & 1) != v >> 31)
             return i;
         return ~U(0);
       }},
      {"amdgcn.udot4",
       3,
       [](U a, U b, U sum) {
         for (U k = 0; k < 4; ++k)
           sum += byteOf(a, k) * byteOf(b, k);
         return sum;
       },
       {"i1 false"}},
      {"amdgcn.sdot4",
       3,
       [](U a, U b, U sum) {
         const auto value = [](U v, U k) { return int(byteOf(v, k)) - (byteOf(v, k) >= 0x80 ? 256 : 0); };
         for (U k = 0; k < 4; ++k)
           sum += U(value(a, k) * value(b, k));
         return sum;
       },
       {"i1 false"}},
      {"fshr.i32", 3, // v_alignbit_b32
       [](U high, U low, U shift) { return U((uint64_t(high) << 32 | low) >> (shift % 32)); }},
      {"amdgcn.cvt.pk.u16", 2, [=](U a, U b, U) { return saturated(a, 0, 0xffff) | saturated(b, 0, 0xffff) << 16; }},
      {"amdgcn.cvt.pk.i16", 2,
       [=](U a, U b, U) {
         return (saturated(int32_t(a), -0x8000, 0x7fff) & 0xffff) | saturated(int32_t(b), -0x8000, 0x7fff) << 16;
       }},
  };
}

TEST(IntegerIntrinsics, OfAmd) {
  std::mt19937_64 random(kSeed);
  for (const Words &w : words()) {
    const bool packs = std::string(w.name).find("cvt.pk") != std::string::npos;
    const auto a = edgesAndRandom(32, random, 1024), b = shuffled(a, random);
    auto c = shuffled(a, random);
    for (size_t k = 0; k < c.size(); k += 2) // selectors, shift amounts and widths that are in range
      c[k].low = (random() & 0x0f0f0f0f) | (random() % 2 ? 0x01000000 : 0);
    const Operation o =
        callOf(w.name, packs ? "<2 x i16>" : "i32", std::vector<std::string>(w.operands, "i32"), w.immediates);
    std::vector<Values> operands{a, b, c};
    operands.resize(w.operands);
    forEachResult(o, operands, [&](size_t k, Slot got) {
      const uint32_t x = uint32_t(a[k].low), y = uint32_t(b[k].low), z = uint32_t(c[k].low);
      ASSERT_EQ(uint32_t(got.low), w.expected(x, y, z))
          << w.name << std::hex << " of " << x << ", " << y << ", " << z << "; seed " << std::dec << kSeed;
    });
    if (HasFatalFailure())
      return;
  }
}

TEST(IntegerIntrinsics, WhatIsNotExecutedIsNamed) {
  const std::vector<std::string> three(3, "i32");
  for (const char *name : {"amdgcn.udot4", "amdgcn.sdot4"}) {
    const std::string error = errorOf(callOf(name, "i32", three, {"i1 true"}));
    EXPECT_NE(error.find(std::string("llvm.") + name), std::string::npos) << error;
    EXPECT_NE(error.find("clamping"), std::string::npos) << error;
  }
  for (const Operation &o :
       {callOf("amdgcn.ubfe.i64", "i64", {"i64", "i32", "i32"}),
        callOf("amdgcn.sbfe.i64", "i64", {"i64", "i32", "i32"}), callOf("amdgcn.mul.u24.i64", "i64", {"i32", "i32"}),
        callOf("amdgcn.msad.u8", "i32", three), callOf("amdgcn.qsad.pk.u16.u8", "i64", {"i64", "i32", "i64"}),
        callOf("sshl.sat.i32", "i32", {"i32", "i32"}),
        callOf("amdgcn.sdot2", "i32", {"<2 x i16>", "<2 x i16>", "i32"}, {"i1 false"}),
        callOf("uadd.sat.i24", "i24", {"i24", "i24"})}) {
    const size_t at = o.body.find("@llvm.") + 1;
    const std::string name = o.body.substr(at, o.body.find('(') - at), error = errorOf(o);
    EXPECT_NE(error.find(name), std::string::npos) << name << " is not named: " << error;
  }
}

/// Of every target: an intrinsic of two operands of one type.
void expectBinary(const std::string &name, unsigned bits, const std::string &result, uint64_t seed,
                  const std::function<APInt(const APInt &, const APInt &)> &expected) {
  std::mt19937_64 random(seed);
  const std::string type = "i" + std::to_string(bits);
  const auto a = edgesAndRandom(bits, random, 512);
  auto b = shuffled(a, random);
  for (size_t k = 0; k < b.size(); k += 5)
    b[k] = a[k];
  for (size_t k = 1; k < b.size(); k += 3)
    b[k] = slot(random() % (bits + 2));
  const auto narrow = [&](Slot s) { return APInt(128, {s.low, s.high}).trunc(bits); };
  // Whole containers, so that bits above the type show.
  Operation o = callOf(name, result, {type, type});
  o.body += "\n";
  o.body.replace(o.body.find("%r"), 2, "%q");
  o.body += "  %r = zext " + result + " %q to i128";
  o.result = "i128";
  for (size_t k = 0; k < b.size(); ++k) {
    const APInt v = narrow(b[k]).zext(128);
    b[k] = {v.extractBitsAsZExtValue(64, 0), v.extractBitsAsZExtValue(64, 64)};
  }
  forEachResult(o, {a, b}, [&](size_t k, Slot got) {
    const APInt want = expected(narrow(a[k]), narrow(b[k]));
    ASSERT_EQ(APInt(128, {got.low, got.high}), want.zextOrTrunc(128))
        << name << " of " << llvm::toString(narrow(a[k]), 16, false) << ", " << llvm::toString(narrow(b[k]), 16, false)
        << "; seed " << seed;
  });
}

TEST(IntegerIntrinsics, ThreeWayComparisons) {
  for (const unsigned bits : {1u, 8u, 13u, 16u, 24u, 32u, 48u, 64u, 65u, 128u})
    for (const std::string result : {"i2", "i8", "i32", "i64"}) {
      const unsigned n = unsigned(std::stoi(result.substr(1)));
      const auto order = [n](bool less, bool greater) { return APInt(n, uint64_t(int64_t(greater) - less), true); };
      const std::string types = "." + result + ".i" + std::to_string(bits);
      expectBinary("ucmp" + types, bits, result, bits,
                   [&](const APInt &a, const APInt &b) { return order(a.ult(b), a.ugt(b)); });
      expectBinary("scmp" + types, bits, result, bits,
                   [&](const APInt &a, const APInt &b) { return order(a.slt(b), a.sgt(b)); });
    }
}

TEST(IntegerIntrinsics, SaturatingShift) {
  for (const unsigned bits : {8u, 16u, 32u, 64u, 128u}) {
    const std::string type = "i" + std::to_string(bits);
    // A shift by the width or more is poison: only smaller ones.
    std::mt19937_64 random(bits);
    const auto a = edgesAndRandom(bits, random, 512);
    Values b;
    for (size_t k = 0; k < a.size(); ++k)
      b.push_back(slot(random() % bits));
    forEachResult(callOf("ushl.sat." + type, type, {type, type}), {a, b}, [&](size_t k, Slot got) {
      const APInt v = APInt(128, {a[k].low, a[k].high}).trunc(bits);
      ASSERT_EQ(APInt(128, {got.low, got.high}).trunc(bits), v.ushl_sat(unsigned(b[k].low)))
          << type << " " << llvm::toString(v, 16, false) << " << " << b[k].low << "; seed " << bits;
    });
  }
}

TEST(IntegerIntrinsics, OverflowFlagsAndValues) {
  using A = const APInt &;
  const std::pair<const char *, std::function<APInt(A, A, bool &)>> operations[] = {
      {"uadd", [](A a, A b, bool &o) { return a.uadd_ov(b, o); }},
      {"sadd", [](A a, A b, bool &o) { return a.sadd_ov(b, o); }},
      {"usub", [](A a, A b, bool &o) { return a.usub_ov(b, o); }},
      {"ssub", [](A a, A b, bool &o) { return a.ssub_ov(b, o); }},
      {"umul", [](A a, A b, bool &o) { return a.umul_ov(b, o); }},
      {"smul", [](A a, A b, bool &o) { return a.smul_ov(b, o); }}};
  for (const auto &[name, operation] : operations)
    for (const unsigned bits : {8u, 16u, 32u, 64u}) {
      const std::string type = "i" + std::to_string(bits), pair = "{" + type + ", i1}";
      std::mt19937_64 random(bits);
      const auto a = edgesAndRandom(bits, random, 512), b = shuffled(a, random);
      const std::string intrinsic = "@llvm." + std::string(name) + ".with.overflow." + type;
      // The value, and the flag in bit 64.
      const Operation o{
          "  %p = call " + pair + " " + intrinsic + "(" + type + " %a, " + type + " %b)\n  %v = extractvalue " + pair +
              " %p, 0\n  %f = extractvalue " + pair + " %p, 1\n  %wv = zext " + type +
              " %v to i128\n  %wf = zext i1 %f to i128\n  %sf = shl i128 %wf, 64\n  %r = or i128 %wv, %sf",
          "declare " + pair + " " + intrinsic + "(" + type + ", " + type + ")\n",
          {type, type},
          "i128"};
      forEachResult(o, {a, b}, [&](size_t k, Slot got) {
        bool overflows = false;
        const APInt want = operation(APInt(bits, a[k].low), APInt(bits, b[k].low), overflows);
        ASSERT_EQ(got, (Slot{want.getZExtValue(), overflows}))
            << intrinsic << std::hex << " of " << a[k].low << ", " << b[k].low << "; seed " << bits;
      });
    }
}

TEST(IntegerIntrinsics, PointersAreMasked) {
  std::mt19937_64 random(kSeed);
  const auto a = edgesAndRandom(64, random, 256), b = shuffled(a, random);
  forEachResult(callOf("ptrmask.p1.i64", "ptr addrspace(1)", {"ptr addrspace(1)", "i64"}), {a, b},
                [&](size_t k, Slot got) { ASSERT_EQ(got.low, a[k].low & b[k].low); });
  forEachResult(callOf("ptrmask.p3.i32", "ptr addrspace(3)", {"ptr addrspace(3)", "i32"}), {a, b},
                [&](size_t k, Slot got) { ASSERT_EQ(uint32_t(got.low), uint32_t(a[k].low & b[k].low)); });
}

} // namespace
} // namespace wavesan::cpu::test
