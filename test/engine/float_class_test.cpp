// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kind of number a value is (every bit of the mask), canonical forms, and conversions to integers that saturate.
#include "elementwise.h"

#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/FloatingPointMode.h"

namespace wavesan::cpu::test {
namespace {

using llvm::APFloat;
using llvm::APInt;

constexpr uint64_t kSeed = 20260805;

class FloatClasses : public testing::TestWithParam<FloatType> {
protected:
  void SetUp() override {
    std::mt19937_64 random(kSeed);
    in = edgesAndRandom(GetParam(), random, 512);
  }
  Values in;
};
INSTANTIATE_TEST_SUITE_P(All, FloatClasses, testing::ValuesIn(allFloatTypes()),
                         [](const auto &info) { return std::string(info.param.ir); });

/// 1 << place, places as in the table of V_CMP_CLASS: signalling NaN, quiet NaN, -infinity, -normal, -denormal, -0, +0,
/// +denormal, +normal, +infinity.
unsigned classBit(const APFloat &x) {
  if (x.isNaN())
    return x.isSignaling() ? 1u << 0 : 1u << 1;
  const bool negative = x.isNegative();
  if (x.isInfinity())
    return negative ? 1u << 2 : 1u << 9;
  if (x.isZero())
    return negative ? 1u << 5 : 1u << 6;
  if (x.isDenormal())
    return negative ? 1u << 4 : 1u << 7;
  return negative ? 1u << 3 : 1u << 8;
}

TEST_P(FloatClasses, EveryBitOfTheMask) {
  const FloatType &type = GetParam();
  std::vector<unsigned> masks{0, 0x3ff, 0x3, 0x204, 0x108, 0x90, 0x60, 0x1f8};
  for (unsigned bit = 0; bit < 10; ++bit)
    masks.push_back(1u << bit);
  unsigned seen = 0;
  for (const unsigned mask : masks) {
    Operation o = callOf(std::string("is.fpclass.") + type.suffix, "i1", {type.ir}, {"i32 " + std::to_string(mask)});
    o.body.replace(o.body.find("%r"), 2, "%f");
    o.body += "\n  %r = zext i1 %f to i64", o.result = "i64";
    forEachResult(o, {in}, [&](size_t k, Slot got) {
      const unsigned bit = classBit(type.number(in[k].low));
      seen |= bit;
      ASSERT_EQ(got.low, uint64_t((bit & mask) != 0)) << show(type, in[k].low) << " mask " << mask;
    });
  }
  EXPECT_EQ(seen, 0x3ffu) << "values of every class";
}

TEST_P(FloatClasses, MasksThatDifferBetweenLanes) {
  const FloatType &type = GetParam();
  if (type.mantissa == 7)
    return; // no instruction
  std::mt19937_64 random(kSeed);
  Values masks;
  for (size_t k = 0; k < in.size(); ++k)
    masks.push_back(slot(k % 2 ? random() & 0x3ff : uint64_t(1) << (random() % 10)));
  Operation o = callOf(std::string("amdgcn.class.") + type.suffix, "i1", {type.ir, "i32"});
  o.body.replace(o.body.find("%r"), 2, "%f");
  o.body += "\n  %r = zext i1 %f to i64", o.result = "i64";
  forEachResult(o, {in, masks}, [&](size_t k, Slot got) {
    ASSERT_EQ(got.low, uint64_t((classBit(type.number(in[k].low)) & masks[k].low) != 0))
        << show(type, in[k].low) << " mask " << masks[k].low;
  });
}

TEST_P(FloatClasses, CanonicalFormsKeepTheValueAndQuietNaN) {
  const FloatType &type = GetParam();
  forEachResult(callOf(std::string("canonicalize.") + type.suffix, type.ir, {type.ir}), {in}, [&](size_t k, Slot got) {
    const APFloat x = type.number(in[k].low), y = type.number(got.low);
    if (x.isNaN())
      ASSERT_TRUE(y.isNaN() && !y.isSignaling()) << show(type, in[k].low) << " gives " << show(type, got.low);
    else
      ASSERT_TRUE(x.bitwiseIsEqual(y)) << show(type, in[k].low) << " gives " << show(type, got.low);
  });
}

TEST_P(FloatClasses, ConversionsToIntegersSaturate) {
  const FloatType &type = GetParam();
  for (const bool sign : {false, true})
    for (const unsigned bits : {1u, 7u, 8u, 13u, 16u, 24u, 32u, 48u, 64u}) {
      const std::string to = "i" + std::to_string(bits),
                        name = std::string(sign ? "fptosi" : "fptoui") + ".sat." + to + "." + type.suffix;
      Operation o = callOf(name, to, {type.ir});
      if (bits != 64) { // bits above the type show
        o.body.replace(o.body.find("%r"), 2, "%q");
        o.body += "\n  %r = zext " + to + " %q to i64", o.result = "i64";
      }
      forEachResult(o, {in}, [&](size_t k, Slot got) {
        const APFloat x = type.number(in[k].low);
        llvm::APSInt want(bits, !sign);
        bool exact;
        x.convertToInteger(want, APFloat::rmTowardZero, &exact); // saturates
        if (x.isNaN())
          want = APInt(bits, 0);
        ASSERT_EQ(got.low, want.getZExtValue() & (bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1))
            << name << " of " << show(type, in[k].low);
      });
    }
}

TEST_P(FloatClasses, RoundsToIntegersOfTheCurrentMode) {
  const FloatType &type = GetParam();
  for (const char *name : {"lrint", "llrint"})
    for (const unsigned bits : {32u, 64u}) {
      if (bits == 32 && *(name + 1) == 'l')
        continue;
      const std::string to = "i" + std::to_string(bits);
      forEachResult(callOf(std::string(name) + "." + to + "." + type.suffix, to, {type.ir}), {in},
                    [&](size_t k, Slot got) {
                      const APFloat x = type.number(in[k].low);
                      llvm::APSInt want(bits, false);
                      bool exact;
                      if (x.convertToInteger(want, APFloat::rmNearestTiesToEven, &exact) & APFloat::opInvalidOp)
                        return; // unspecified
                      ASSERT_EQ(bits == 32 ? uint32_t(got.low) : got.low, want.getZExtValue())
                          << name << " of " << show(type, in[k].low);
                    });
    }
}

} // namespace
} // namespace wavesan::cpu::test
