// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point intrinsics of AMD against what the ISA documents (MI300, RDNA3) say. Instructions that approximate
// (v_rcp, v_sin and so on) must be as near as the documents promise at worst; the engine computes them as exactly as
// the host can, denormals included.
#include "elementwise.h"

#include <cmath>

namespace wavesan::cpu::test {
namespace {

using llvm::APFloat;

constexpr uint64_t kSeed = 20260802;
constexpr long double kTurn = 6.283185307179586476925286766559L;

/// Sine of quarter turns and more: exact at multiples of a quarter.
long double sineOfTurns(long double x, int quarters) {
  if (!std::isfinite(x))
    return NAN;
  const long double rest = std::fmod(x, 1.0L) * 4; // quarter turns, exactly
  if (rest == std::floor(rest)) {
    static constexpr long double kExact[] = {0, 1, 0, -1};
    const long double v = kExact[(int(rest) + 4 + quarters) & 3];
    return v == 0 && x == 0 ? x : v;
  }
  return quarters ? std::cos(rest * kTurn / 4) : std::sin(rest * kTurn / 4);
}

struct Unary {
  const char *name;
  std::function<long double(long double)> expected;
  uint64_t ulps;
  const char *target = "gfx90a";
};

TEST(FloatIntrinsics, Approximations) {
  const Unary operations[] = {
      {"rcp", [](long double x) { return 1 / x; }, 0},
      {"rsq", [](long double x) { return x == 0 ? 1 / x : 1 / std::sqrt(x); }, 1},
      {"sqrt", [](long double x) { return std::sqrt(x); }, 0},
      {"exp2", [](long double x) { return std::exp2(x); }, 1},
      {"log", [](long double x) { return std::log2(x); }, 1},
      {"sin", [](long double x) { return sineOfTurns(x, 0); }, 1},
      {"cos", [](long double x) { return sineOfTurns(x, 1); }, 1},
      {"tanh", [](long double x) { return std::tanh(x); }, 2, "gfx1250"},
  };
  for (const Unary &u : operations)
    for (const FloatType &type : allFloatTypes()) {
      const std::string name = u.name;
      // Double: only what has an instruction.
      if ((type.bits == 64 && name != "rcp" && name != "rsq" && name != "sqrt") ||
          (std::string(type.ir) == "bfloat" && name != "tanh"))
        continue;
      std::mt19937_64 random(kSeed);
      const Values in = edgesAndRandom(type, random, 1024);
      Operation o = callOf("amdgcn." + name + "." + type.suffix, type.ir, {type.ir});
      o.target = u.target;
      forEachResult(o, {in}, [&](size_t k, Slot got) {
        APFloat x = type.number(in[k].low);
        bool inexact;
        APFloat wide = x;
        wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
        const uint64_t want = slot(type.rounded(u.expected(wide.convertToDouble()))).low;
        // What is exact for the others is rounded twice here for double.
        const uint64_t allowed = type.bits == 64 ? std::max<uint64_t>(u.ulps, 1) : u.ulps;
        ASSERT_LE(distanceInUlps(type, got.low, want), allowed)
            << name << " of " << show(type, in[k].low) << " gives " << show(type, got.low) << ", not "
            << show(type, want) << "; seed " << kSeed;
        if (type.number(want).isZero() && type.number(got.low).isZero()) // the sign, too
          ASSERT_TRUE(sameFloat(type, got.low, want)) << name << " of " << show(type, in[k].low);
      });
      if (HasFatalFailure())
        return;
    }
}

TEST(FloatIntrinsics, ExamplesOfTheDocuments) {
  // "Functional examples" of V_SIN_F32, V_COS_F32, V_SQRT_F32, V_RCP_F32, V_RSQ_F32, V_EXP_F32, V_LOG_F32.
  const struct {
    const char *name;
    uint32_t in, out;
  } examples[] = {{"sin", 0xff7fffff, 0x00000000},  {"sin", 0x80000000, 0x80000000},  {"sin", 0x3e800000, 0x3f800000},
                  {"cos", 0xff7fffff, 0x3f800000},  {"cos", 0x80000000, 0x3f800000},  {"cos", 0x3e800000, 0x00000000},
                  {"sqrt", 0x80000000, 0x80000000}, {"sqrt", 0x40800000, 0x40000000}, {"sqrt", 0x7f800000, 0x7f800000},
                  {"rcp", 0xff800000, 0x80000000},  {"rcp", 0xc0000000, 0xbf000000},  {"rcp", 0x80000000, 0xff800000},
                  {"rcp", 0x00000000, 0x7f800000},  {"rcp", 0x7f800000, 0x00000000},  {"rsq", 0x80000000, 0xff800000},
                  {"rsq", 0x00000000, 0x7f800000},  {"rsq", 0x40800000, 0x3f000000},  {"rsq", 0x7f800000, 0x00000000},
                  {"exp2", 0xff800000, 0x00000000}, {"exp2", 0x80000000, 0x3f800000}, {"exp2", 0x7f800000, 0x7f800000},
                  {"log", 0x80000000, 0xff800000},  {"log", 0x00000000, 0xff800000},  {"log", 0x3f800000, 0x00000000},
                  {"log", 0x7f800000, 0x7f800000}};
  for (const auto &e : examples)
    forEachResult(callOf("amdgcn." + std::string(e.name) + ".f32", "float", {"float"}),
                  {Values(64, slot(uint64_t(e.in)))}, [&](size_t, Slot got) {
                    ASSERT_EQ(uint32_t(got.low), e.out)
                        << e.name << std::hex << " of " << e.in << " gives " << uint32_t(got.low);
                  });
  for (const char *name : {"sin", "cos", "sqrt", "log", "rsq"})
    forEachResult(callOf("amdgcn." + std::string(name) + ".f32", "float", {"float"}),
                  {Values(64, slot(uint64_t(0xff800000)))},
                  [&](size_t, Slot got) { ASSERT_TRUE(std::isnan(floatOf(got))) << name << " of -inf"; });
}

TEST(FloatIntrinsics, FractionsAreBelowOne) {
  for (const FloatType &type : {kHalf, kSingle, kDouble}) {
    std::mt19937_64 random(kSeed);
    const Values in = edgesAndRandom(type, random, 2048);
    forEachResult(
        callOf(std::string("amdgcn.fract.") + type.suffix, type.ir, {type.ir}), {in}, [&](size_t k, Slot got) {
          const APFloat x = type.number(in[k].low);
          APFloat floor = x, below = APFloat::getOne(type.semantics()), want = x;
          floor.roundToIntegral(APFloat::rmTowardNegative);
          want.subtract(floor, APFloat::rmNearestTiesToEven);
          below.next(true);
          want = llvm::minimum(want, below);
          ASSERT_TRUE(sameFloat(type, got.low, slot(want).low))
              << show(type, in[k].low) << " gives " << show(type, got.low) << ", not " << show(type, slot(want).low);
        });
  }
}

TEST(FloatIntrinsics, PartsOfNumbers) {
  for (const FloatType &type : {kHalf, kSingle, kDouble}) {
    std::mt19937_64 random(kSeed);
    const Values in = edgesAndRandom(type, random, 1024);
    const auto parts = [&](size_t k) {
      int exponent = 0;
      const APFloat x = type.number(in[k].low);
      const APFloat mantissa = frexp(x, exponent, APFloat::rmNearestTiesToEven);
      return std::pair(mantissa, x.isFinite() && !x.isZero() ? exponent : 0);
    };
    forEachResult(callOf(std::string("amdgcn.frexp.mant.") + type.suffix, type.ir, {type.ir}), {in},
                  [&](size_t k, Slot got) {
                    ASSERT_TRUE(sameFloat(type, got.low, slot(parts(k).first).low)) << show(type, in[k].low);
                  });
    for (const std::string result : {"i16", "i32"})
      forEachResult(callOf("amdgcn.frexp.exp." + result + "." + type.suffix, result, {type.ir}), {in},
                    [&](size_t k, Slot got) {
                      const uint32_t mask = result == "i16" ? 0xffff : ~0u;
                      ASSERT_EQ(uint32_t(got.low) & mask, uint32_t(parts(k).second) & mask) << show(type, in[k].low);
                    });
    // llvm.frexp gives both; llvm.ldexp puts them together again, and scales out of every range.
    const std::string pair = std::string("{") + type.ir + ", i32}", suffix = std::string(type.suffix) + ".i32";
    forEachResult(
        {"  %p = call " + pair + " @llvm.frexp." + suffix + "(" + type.ir + " %a)\n  %m = extractvalue " + pair +
             " %p, 0\n  %e = extractvalue " + pair + " %p, 1\n  %r = call " + type.ir + " @llvm.ldexp." + suffix + "(" +
             type.ir + " %m, i32 %e)",
         "declare " + pair + " @llvm.frexp." + suffix + "(" + type.ir + ")\ndeclare " + type.ir + " @llvm.ldexp." +
             suffix + "(" + type.ir + ", i32)\n",
         {type.ir},
         type.ir},
        {in}, [&](size_t k, Slot got) { ASSERT_TRUE(sameFloat(type, got.low, in[k].low)) << show(type, in[k].low); });
    Values exponents;
    for (size_t k = 0; k < in.size(); ++k)
      exponents.push_back(slot(uint64_t(uint32_t(k % 7 ? int(random() % 2300) - 1150 : int(random())))));
    forEachResult(callOf("ldexp." + suffix, type.ir, {type.ir, "i32"}), {in, exponents}, [&](size_t k, Slot got) {
      const APFloat want = scalbn(type.number(in[k].low), int32_t(exponents[k].low), APFloat::rmNearestTiesToEven);
      ASSERT_TRUE(sameFloat(type, got.low, slot(want).low))
          << show(type, in[k].low) << " " << int32_t(exponents[k].low);
    });
  }
}

TEST(FloatIntrinsics, MedianAndZeroTimesAnything) {
  for (const FloatType &type : {kHalf, kSingle}) {
    std::mt19937_64 random(kSeed);
    Values a = edgesAndRandom(type, random, 2048), b = shuffled(a, random), c = shuffled(a, random);
    for (int k = 0; k < 512; ++k) { // every combination of eight, zeros of both signs among them
      static constexpr double kSpecial[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0.5};
      a.push_back(slot(type.rounded(kSpecial[k & 7]))), b.push_back(slot(type.rounded(kSpecial[k >> 3 & 7])));
      c.push_back(slot(type.rounded(kSpecial[k >> 6])));
    }
    // V_MED3: of the two that are left without the largest, the larger; the smallest if one is NaN.
    forEachResult(callOf(std::string("amdgcn.fmed3.") + type.suffix, type.ir, {type.ir, type.ir, type.ir}), {a, b, c},
                  [&](size_t k, Slot got) {
                    const APFloat x = type.number(a[k].low), y = type.number(b[k].low), z = type.number(c[k].low);
                    const APFloat most = llvm::maximumnum(llvm::maximumnum(x, y), z);
                    const APFloat want = x.isNaN() || y.isNaN() || z.isNaN()
                                             ? llvm::minimumnum(llvm::minimumnum(x, y), z)
                                         : most == x ? llvm::maximumnum(y, z)
                                         : most == y ? llvm::maximumnum(x, z)
                                                     : llvm::maximumnum(x, y);
                    ASSERT_TRUE(sameFloat(type, got.low, slot(want).low))
                        << show(type, a[k].low) << ", " << show(type, b[k].low) << ", " << show(type, c[k].low)
                        << " gives " << show(type, got.low) << ", not " << show(type, slot(want).low);
                  });
    if (type.bits != 32)
      continue;
    forEachResult(callOf("amdgcn.fmul.legacy", "float", {"float", "float"}), {a, b}, [&](size_t k, Slot got) {
      const float x = floatOf(a[k]), y = floatOf(b[k]);
      ASSERT_TRUE(sameFloat(type, got.low, slot(x == 0 || y == 0 ? 0.0f : x * y).low)) << x << " * " << y;
    });
    forEachResult(callOf("amdgcn.fma.legacy", "float", {"float", "float", "float"}), {a, b, c},
                  [&](size_t k, Slot got) {
                    const float x = floatOf(a[k]), y = floatOf(b[k]), z = floatOf(c[k]);
                    APFloat want(x);
                    want.fusedMultiplyAdd(APFloat(y), APFloat(z), APFloat::rmNearestTiesToEven);
                    ASSERT_TRUE(sameFloat(type, got.low, x == 0 || y == 0 ? c[k].low : slot(want).low))
                        << x << " * " << y << " + " << z;
                  });
  }
}

TEST(FloatIntrinsics, PairsOfHalves) {
  std::mt19937_64 random(kSeed);
  const Values a = edgesAndRandom(kSingle, random, 4096), b = shuffled(a, random);
  const auto eachHalf = [&](const std::string &name, const std::string &result, auto check) {
    forEachResult(callOf("amdgcn.cvt." + name, result, {"float", "float"}), {a, b}, [&](size_t k, Slot got) {
      check(floatOf(a[k]), uint16_t(got.low));
      check(floatOf(b[k]), uint16_t(got.low >> 16));
    });
  };
  eachHalf("pkrtz", "<2 x half>", [](float x, uint16_t got) {
    APFloat want(x);
    bool inexact;
    want.convert(APFloat::IEEEhalf(), APFloat::rmTowardZero, &inexact);
    ASSERT_TRUE(sameFloat(kHalf, got, slot(want).low)) << x << " gives " << show(kHalf, got);
  });
  // To the nearest of 2 * 32767 + 1 and of 65536 steps; a NaN gives 0.
  eachHalf("pknorm.i16", "<2 x i16>", [](float x, uint16_t got) {
    const double scaled = std::isnan(x) ? 0 : std::fmin(std::fmax(x, -1.0), 1.0) * 32767;
    ASSERT_NEAR(double(int16_t(got)), scaled, 0.50001) << x;
  });
  eachHalf("pknorm.u16", "<2 x i16>", [](float x, uint16_t got) {
    const double scaled = std::isnan(x) ? 0 : std::fmin(std::fmax(x, 0.0), 1.0) * 65535;
    ASSERT_NEAR(double(got), scaled, 0.502) << x;
  });
}

TEST(FloatIntrinsics, WhatIsNotExecutedIsNamed) {
  for (const Operation &o :
       {callOf("amdgcn.rsq.clamp.f32", "float", {"float"}), callOf("amdgcn.log.clamp.f32", "float", {"float"}),
        callOf("amdgcn.rcp.legacy", "float", {"float"}), callOf("amdgcn.cubema", "float", {"float", "float", "float"}),
        callOf("amdgcn.fdot2", "float", {"<2 x half>", "<2 x half>", "float"}, {"i1 false"})}) {
    const size_t at = o.body.find("@llvm.") + 1;
    const std::string name = o.body.substr(at, o.body.find('(') - at);
    const std::string error = errorOf(o);
    EXPECT_NE(error.find(name), std::string::npos) << name << " is not named: " << error;
  }
}

} // namespace
} // namespace wavesan::cpu::test
