// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_mfma_scale_f32_*_f8f6f4: whole numbers with small scales, placed as the CDNA4 document's tables show it.
#include "matrix_call.h"

#include <cmath>
#include <random>

namespace wavesan::cpu::test {
namespace {

const Number kFormats[] = {Number::FP8, Number::BF8, Number::FP6, Number::BF6, Number::FP4};

struct How {
  int selectA = 0, selectB = 0;
  bool scaled = true;
  int firstActive = 0;
  int dwords = 0; ///< of A and B, if more than they need
};

/// A row of A or a column of B.
struct Input {
  Number number;
  LaneBits bits, scales;
  double value[32][128]; ///< with its scale

  Input(Number number, int dwords)
      : number(number), bits(64, dwords ? 32 * dwords : 32 * bitsOf(number)), scales(64, 32) {}
  std::string type() const { return vectorType(bits.dwordsPerLane, "i32"); }
  void fill(int rows, int select, bool scaled, std::mt19937 &random) {
    const int k = 2048 / rows, groups = 64 / rows, width = bitsOf(number);
    for (uint32_t &dword : scales.values)
      dword = uint32_t(random()); // other bytes do not count
    int exponents[32][4];
    for (int row = 0; row < rows; ++row)
      for (int block = 0; block < k / 32; ++block) {
        exponents[row][block] = scaled ? int(random() % 5) - 2 : 0;
        if (scaled)
          scales.put(row + rows * block, 8 * select, 8, uint32_t(127 + exponents[row][block]));
      }
    for (int row = 0; row < rows; ++row)
      for (int at = 0; at < k; ++at) {
        const double number_ = int(random() % 7) - 3;
        int lane, item;
        if (width == 8)
          lane = row + rows * (at / 16 % groups), item = at % 16 + 16 * (at / (16 * groups));
        else
          lane = row + rows * (at / 32), item = at % 32;
        bits.put(lane, item * width, width, encode(number, number_));
        value[row][at] = std::ldexp(number_, exponents[row][at / 32]);
      }
  }
};

MatrixCall callOf(int rows, const Input &a, const Input &b, const LaneBits &c, int formatA, int formatB,
                  const How &how) {
  const std::string sums = vectorType(rows * rows / 64, "float");
  const std::string name = std::string("mfma.scale.f32.") + (rows == 16 ? "16x16x128" : "32x32x64") + ".f8f6f4.v" +
                           std::to_string(a.bits.dwordsPerLane) + "i32.v" + std::to_string(b.bits.dwordsPerLane) +
                           "i32";
  const auto scale = [&](const Input &in) {
    return how.scaled ? MatrixOperand{"i32", &in.scales, {}} : immediate("i32", 0);
  };
  return {name,
          "gfx950",
          sums,
          {{a.type(), &a.bits, {}},
           {b.type(), &b.bits, {}},
           {sums, &c, {}},
           immediate("i32", formatA),
           immediate("i32", formatB),
           immediate("i32", how.selectA),
           scale(a),
           immediate("i32", how.selectB),
           scale(b)},
          how.firstActive};
}

void check(int rows, int formatA, int formatB, const How &how = {}) {
  SCOPED_TRACE(std::to_string(rows) + " rows, formats " + std::to_string(formatA) + " and " + std::to_string(formatB));
  std::mt19937 random(uint32_t(rows + 5 * formatA + formatB));
  Input a(kFormats[formatA], how.dwords), b(kFormats[formatB], how.dwords);
  a.fill(rows, how.selectA, how.scaled, random);
  b.fill(rows, how.selectB, how.scaled, random);
  LaneBits c(64, rows * rows / 64 * 32);
  double sums[32][32];
  const auto placeOfSum = [&](int row, int column) { // lane, register
    return rows == 16 ? std::pair(16 * (row / 4) + column, row % 4)
                      : std::pair(32 * (row / 4) % 64 + column, 4 * (row / 8) + row % 4);
  };
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < rows; ++column) {
      const auto [lane, reg] = placeOfSum(row, column);
      double &sum = sums[row][column] = int(random() % 15) - 7;
      c.put(lane, 32 * reg, 32, encode(Number::F32, sum));
      for (int k = 0; k < 2048 / rows; ++k)
        sum += a.value[row][k] * b.value[column][k];
    }
  const LaneBits d = execute(callOf(rows, a, b, c, formatA, formatB, how), c.dwordsPerLane * 32);
  int wrong = 0;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < rows; ++column) {
      const auto [lane, reg] = placeOfSum(row, column);
      wrong +=
          d.get(lane, 32 * reg, 32) != (lane < how.firstActive ? 0xeeeeeeeeu : encode(Number::F32, sums[row][column]));
    }
  EXPECT_EQ(wrong, 0);
}

template <class F> void forEachPair(F f) {
  for (const int rows : {16, 32})
    for (int a = 0; a < 5; ++a)
      for (int b = 0; b < 5; ++b)
        f(rows, a, b);
}

TEST(ScaledMatrix, EveryPairOfFormats) {
  forEachPair([](int rows, int a, int b) { check(rows, a, b); });
}

TEST(ScaledMatrix, EveryByteOfTheScales) {
  forEachPair([](int rows, int a, int b) {
    for (int select = 1; select < 4; ++select)
      check(rows, a, b, {select, (select + a + b) % 4});
  });
}

TEST(ScaledMatrix, WithoutScales) {
  forEachPair([](int rows, int a, int b) {
    check(rows, a, b, {0, 0, false});
    check(rows, a, b, {1, 2, false});
  });
}

TEST(ScaledMatrix, InactiveLanesGiveTheirElementsAndGetNothing) {
  forEachPair([](int rows, int a, int b) { check(rows, a, b, {0, 0, true, 23}); });
}

TEST(ScaledMatrix, OfMoreRegistersThanNeededTheFirstCount) {
  forEachPair([](int rows, int a, int b) { check(rows, a, b, {0, 0, true, 0, 8}); });
}

// Scales from the smallest to the largest, and NaN; sums that only their exponents make too large or too small.
TEST(ScaledMatrix, ExtremeScales) {
  const auto one = [](uint32_t scaleA, uint32_t scaleB, double valueA, double valueB, double c0) {
    Input a(Number::FP8, 0), b(Number::FP4, 0);
    LaneBits c(64, 128);
    // Row and column 0: one element each, at k = 40.
    a.bits.put(32, 8 * 8, 8, encode(a.number, valueA));
    b.bits.put(16, 8 * 4, 4, encode(b.number, valueB));
    for (int lane = 0; lane < 64; ++lane) {
      a.scales.put(lane, 0, 8, lane == 16 ? scaleA : 127);
      b.scales.put(lane, 0, 8, lane == 16 ? scaleB : 127);
    }
    c.put(0, 0, 32, encode(Number::F32, c0));
    return decode(Number::F32, execute(callOf(16, a, b, c, 0, 4, {}), 128).get(0, 0, 32));
  };
  EXPECT_EQ(one(127, 127, 3, 1.5, 0.25), 4.75);
  EXPECT_EQ(one(254, 0, 3, 1.5, 0.25), 4.75) << "the product of the scales is one";
  EXPECT_EQ(one(0, 254, 448, 6, 0), 2688);
  EXPECT_EQ(one(0, 0, 448, 6, 1), 1);
  EXPECT_EQ(one(254, 254, 1, 1, 0), INFINITY);
  EXPECT_EQ(one(254, 254, 1, -1, 0), -INFINITY);
  EXPECT_EQ(one(64, 64, 1, 1, 0), 0x1p-126);
  EXPECT_EQ(one(52, 53, 1, 1, 0), 0x1p-149) << "denormals are kept";
  EXPECT_EQ(one(103, 127, 1, 1, 1), 1) << "a tie goes to even";
  EXPECT_EQ(one(103, 127, 1, 1.5, 1), 1 + 0x1p-23) << "rounded once";
  EXPECT_TRUE(std::isnan(one(255, 127, 1, 1, 0)));
  EXPECT_TRUE(std::isnan(one(127, 255, 0, 0, 0)));
}

TEST(ScaledMatrix, WhatTheInstructionDoesNotHaveIsNamed) {
  // Formats that there are not, and operands too small for theirs, LLVM refuses itself.
  const Input a(Number::FP8, 0);
  const LaneBits c(64, 128);
  EXPECT_NE(errorOf(callOf(16, a, a, c, 0, 0, {4, 0})).find("(this byte of the scale)"), std::string::npos);
  MatrixCall call = callOf(16, a, a, c, 0, 0, {});
  call.target = "gfx942";
  EXPECT_NE(errorOf(call).find("(this target)"), std::string::npos);
}

} // namespace
} // namespace wavesan::cpu::test
