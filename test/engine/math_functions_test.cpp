// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of LLVM's math intrinsics against the C library's in long double, within 2 ULP of float and double and 1 of
// half and bfloat (tighter than what OpenCL asks of a device); exact ones against arbitrary precision.
#include "elementwise.h"

#include <cmath>

namespace wavesan::cpu::test {
namespace {

using llvm::APFloat;

constexpr uint64_t kSeed = 20260804;

long double longOf(const FloatType &type, uint64_t bits) {
  APFloat x = type.number(bits);
  bool inexact;
  x.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return x.convertToDouble();
}

class MathFunctions : public testing::TestWithParam<FloatType> {
protected:
  void expectNear(const std::string &name, size_t operands,
                  const std::function<long double(long double, long double)> &f) {
    const FloatType &type = GetParam();
    std::mt19937_64 random(kSeed);
    const Values a = edgesAndRandom(type, random, 1024), b = shuffled(a, random);
    const uint64_t allowed = type.bits == 16 ? 1 : 2;
    std::vector<Values> in{a, b};
    in.resize(operands);
    forEachResult(callOf(name + "." + type.suffix, type.ir, std::vector<std::string>(operands, type.ir)), in,
                  [&](size_t k, Slot got) {
                    const uint64_t want = slot(type.rounded(f(longOf(type, a[k].low), longOf(type, b[k].low)))).low;
                    ASSERT_LE(distanceInUlps(type, got.low, want), allowed)
                        << name << " of " << show(type, a[k].low) << ", " << show(type, b[k].low) << " gives "
                        << show(type, got.low) << ", not " << show(type, want) << "; seed " << kSeed;
                    if (type.number(want).isZero() && type.number(got.low).isZero())
                      ASSERT_TRUE(sameFloat(type, got.low, want))
                          << "sign of " << name << " of " << show(type, a[k].low);
                  });
  }
};
INSTANTIATE_TEST_SUITE_P(All, MathFunctions, testing::ValuesIn(allFloatTypes()),
                         [](const auto &info) { return std::string(info.param.ir); });

using L = long double;

TEST_P(MathFunctions, OfOneOperand) {
  expectNear("exp", 1, [](L x, L) { return std::exp(x); });
  expectNear("exp2", 1, [](L x, L) { return std::exp2(x); });
  expectNear("exp10", 1, [](L x, L) { return std::pow(L(10), x); });
  expectNear("log", 1, [](L x, L) { return std::log(x); });
  expectNear("log2", 1, [](L x, L) { return std::log2(x); });
  expectNear("log10", 1, [](L x, L) { return std::log10(x); });
  expectNear("sin", 1, [](L x, L) { return std::sin(x); });
  expectNear("cos", 1, [](L x, L) { return std::cos(x); });
  expectNear("tan", 1, [](L x, L) { return std::tan(x); });
  expectNear("asin", 1, [](L x, L) { return std::asin(x); });
  expectNear("acos", 1, [](L x, L) { return std::acos(x); });
  expectNear("atan", 1, [](L x, L) { return std::atan(x); });
  expectNear("sinh", 1, [](L x, L) { return std::sinh(x); });
  expectNear("cosh", 1, [](L x, L) { return std::cosh(x); });
  expectNear("tanh", 1, [](L x, L) { return std::tanh(x); });
  expectNear("sqrt", 1, [](L x, L) { return std::sqrt(x); });
}

TEST_P(MathFunctions, OfTwoOperands) {
  expectNear("pow", 2, [](L x, L y) { return std::pow(x, y); });
  expectNear("atan2", 2, [](L x, L y) { return std::atan2(x, y); });
}

TEST_P(MathFunctions, SineAndCosineTogether) {
  const FloatType &type = GetParam();
  std::mt19937_64 random(kSeed);
  const Values a = edgesAndRandom(type, random, 512);
  const std::string pair = std::string("{") + type.ir + ", " + type.ir + "}",
                    name = std::string("@llvm.sincos.") + type.suffix;
  for (const char *part : {"0", "1"})
    forEachResult(
        {"  %p = call " + pair + " " + name + "(" + type.ir + " %a)\n  %r = extractvalue " + pair + " %p, " + part,
         "declare " + pair + " " + name + "(" + type.ir + ")\n",
         {type.ir},
         type.ir},
        {a}, [&](size_t k, Slot got) {
          const L x = longOf(type, a[k].low);
          const uint64_t want = slot(type.rounded(*part == '0' ? std::sin(x) : std::cos(x))).low;
          ASSERT_LE(distanceInUlps(type, got.low, want), 2u) << part << " of " << show(type, a[k].low);
        });
}

TEST_P(MathFunctions, IntegerPowers) {
  const FloatType &type = GetParam();
  std::mt19937_64 random(kSeed);
  Values a = edgesAndRandom(type, random, 1024), n;
  for (size_t k = 0; k < a.size(); ++k) {
    static constexpr int32_t kExponents[] = {
        0, 1, -1, 2, 3, 257, -257, 2049, 65537, 100001, 16777217, 16777219, INT32_MAX, INT32_MIN, -INT32_MAX, 70000};
    n.push_back(
        slot(uint64_t(uint32_t(k % 2 ? int32_t(random() % 41) - 20 : kExponents[k / 2 % std::size(kExponents)]))));
  }
  for (const int32_t exponent : {257, 2049, 65537, 70001, 16777217, INT32_MAX}) // odd: the sign stays
    a.push_back(slot(type.rounded(-1))), n.push_back(slot(uint64_t(uint32_t(exponent))));
  forEachResult(callOf(std::string("powi.") + type.suffix + ".i32", type.ir, {type.ir, "i32"}), {a, n},
                [&](size_t k, Slot got) {
                  const uint64_t want = slot(type.rounded(std::pow(longOf(type, a[k].low), L(int32_t(n[k].low))))).low;
                  ASSERT_LE(distanceInUlps(type, got.low, want), 2u)
                      << show(type, a[k].low) << " ^ " << int32_t(n[k].low) << " gives " << show(type, got.low)
                      << ", not " << show(type, want);
                });
}

TEST_P(MathFunctions, RoundingToIntegers) {
  const FloatType &type = GetParam();
  std::mt19937_64 random(kSeed);
  const Values a = edgesAndRandom(type, random, 2048);
  const std::pair<const char *, APFloat::roundingMode> functions[] = {{"rint", APFloat::rmNearestTiesToEven},
                                                                      {"nearbyint", APFloat::rmNearestTiesToEven},
                                                                      {"roundeven", APFloat::rmNearestTiesToEven},
                                                                      {"round", APFloat::rmNearestTiesToAway},
                                                                      {"floor", APFloat::rmTowardNegative},
                                                                      {"ceil", APFloat::rmTowardPositive},
                                                                      {"trunc", APFloat::rmTowardZero}};
  for (const auto &[name, mode] : functions)
    forEachResult(callOf(std::string(name) + "." + type.suffix, type.ir, {type.ir}), {a}, [&](size_t k, Slot got) {
      APFloat want = type.number(a[k].low);
      want.roundToIntegral(mode);
      ASSERT_TRUE(sameFloat(type, got.low, slot(want).low)) << name << " of " << show(type, a[k].low);
    });
}

TEST_P(MathFunctions, MultiplyAddAndExtremes) {
  const FloatType &type = GetParam();
  std::mt19937_64 random(kSeed);
  const Values a = edgesAndRandom(type, random, 2048), b = shuffled(a, random), c = shuffled(a, random);
  for (const char *name : {"fma", "fmuladd"}) // the agent fuses, as a GPU does where the type has an fma
    forEachResult(callOf(std::string(name) + "." + type.suffix, type.ir, {type.ir, type.ir, type.ir}), {a, b, c},
                  [&](size_t k, Slot got) {
                    APFloat want = type.number(a[k].low);
                    want.fusedMultiplyAdd(type.number(b[k].low), type.number(c[k].low), APFloat::rmNearestTiesToEven);
                    ASSERT_TRUE(sameFloat(type, got.low, slot(want).low))
                        << name << " of " << show(type, a[k].low) << ", " << show(type, b[k].low) << ", "
                        << show(type, c[k].low);
                  });
  using F = const APFloat &;
  const std::pair<const char *, APFloat (*)(F, F)> functions[] = {
      {"minnum", llvm::minimumnum},
      {"maxnum", llvm::maximumnum},
      {"minimumnum", llvm::minimumnum},
      {"maximumnum", llvm::maximumnum},
      {"minimum", llvm::minimum},
      {"maximum", llvm::maximum},
      {"copysign", [](F x, F y) { return APFloat::copySign(x, y); }}};
  for (const auto &[name, f] : functions)
    forEachResult(callOf(std::string(name) + "." + type.suffix, type.ir, {type.ir, type.ir}), {a, b},
                  [&](size_t k, Slot got) {
                    const APFloat want = f(type.number(a[k].low), type.number(b[k].low));
                    ASSERT_TRUE(sameFloat(type, got.low, slot(want).low))
                        << name << " of " << show(type, a[k].low) << ", " << show(type, b[k].low) << " gives "
                        << show(type, got.low);
                  });
}

} // namespace
} // namespace wavesan::cpu::test
