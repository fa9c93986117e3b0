// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dense v_wmma_* of gfx12.5: whole numbers, placed as AMD's library tests of these instructions place them.
#include "matrix_call.h"

#include <algorithm>
#include <random>

namespace wavesan::cpu::test {
namespace {

enum class Form { All, OnlyC, Integers, Formats };
struct Instruction {
  std::string name; ///< without "llvm.amdgcn.wmma."
  int k;
  Number a, b, c, d;
  Form form;
};

std::vector<Instruction> instructions() {
  std::vector<Instruction> all = {
      {"f32.16x16x4.f32", 4, Number::F32, Number::F32, Number::F32, Number::F32, Form::All},
      {"f32.16x16x32.bf16", 32, Number::BF16, Number::BF16, Number::F32, Number::F32, Form::All},
      {"f32.16x16x32.f16", 32, Number::F16, Number::F16, Number::F32, Number::F32, Form::All},
      {"f16.16x16x32.f16", 32, Number::F16, Number::F16, Number::F16, Number::F16, Form::All},
      {"bf16.16x16x32.bf16", 32, Number::BF16, Number::BF16, Number::BF16, Number::BF16, Form::All},
      {"bf16f32.16x16x32.bf16", 32, Number::BF16, Number::BF16, Number::F32, Number::BF16, Form::All},
      {"i32.16x16x64.iu8", 64, Number::I8, Number::I8, Number::I32, Number::I32, Form::Integers}};
  for (const int k : {64, 128})
    for (const Number sum : {Number::F32, Number::F16})
      for (const Number a : {Number::FP8, Number::BF8})
        for (const Number b : {Number::FP8, Number::BF8}) {
          const auto name = [](Number n) { return n == Number::FP8 ? ".fp8" : ".bf8"; };
          all.push_back({(sum == Number::F32 ? "f32.16x16x" : "f16.16x16x") + std::to_string(k) + name(a) + name(b), k,
                         a, b, sum, sum, Form::OnlyC});
        }
  for (const Number a : {Number::FP8, Number::BF8, Number::FP6, Number::BF6, Number::FP4})
    for (const Number b : {Number::FP8, Number::BF8, Number::FP6, Number::BF6, Number::FP4})
      all.push_back({"f32.16x16x128.f8f6f4", 128, a, b, Number::F32, Number::F32, Form::Formats});
  return all;
}

struct How {
  int modifierA = 0, modifierB = 0, modifierC = 0; ///< of A and B: negation, or sign
  bool clamp = false, reuse = false;
  int scale = 1; ///< of C
  int firstActive = 0;
};

/// Of a row of A, or a column of B: where element k lies.
std::pair<int, int> laneAndItem(Number number, int k, int size) {
  const int piece = bitsOf(number) == 32   ? 2
                    : bitsOf(number) == 16 ? 8
                    : size == 64           ? 8
                    : bitsOf(number) == 8  ? 16
                                           : 32;
  return {k / piece % 2 * 16, k / (2 * piece) * piece + k % piece};
}
std::string typeOf(Number number, int count) {
  switch (number) {
  case Number::F32:
    return vectorType(count, "float");
  case Number::F16:
    return vectorType(count, "half");
  case Number::BF16:
    return vectorType(count, "bfloat");
  default:
    return vectorType(count * bitsOf(number) / 32, "i32");
  }
}
std::string suffixOf(const std::string &type) {
  const auto x = type.find(" x ");
  const std::string scalar = type.substr(x + 3, type.size() - x - 4);
  return ".v" + type.substr(1, x - 1) +
         (scalar == "half"     ? "f16"
          : scalar == "float"  ? "f32"
          : scalar == "bfloat" ? "bf16"
                               : scalar);
}
int formatOf(Number number) {
  const Number formats[] = {Number::FP8, Number::BF8, Number::FP6, Number::BF6, Number::FP4};
  return int(std::find(std::begin(formats), std::end(formats), number) - std::begin(formats));
}

struct Call {
  LaneBits a, b, c;
  MatrixCall call; ///< refers to the others
  Call(const Call &) = delete;
  Call(const Instruction &in, const How &how)
      : a(32, in.k / 2 * bitsOf(in.a)), b(32, in.k / 2 * bitsOf(in.b)), c(32, 8 * bitsOf(in.c)) {
    const std::string typeA = typeOf(in.a, in.k / 2), typeB = typeOf(in.b, in.k / 2);
    const std::string typeC = typeOf(in.c, 8), typeD = typeOf(in.d, 8);
    std::string name = "wmma." + in.name + suffixOf(typeD) + suffixOf(typeA);
    if (in.form == Form::Formats)
      name += suffixOf(typeB);
    if (typeC != typeD)
      name += suffixOf(typeC);
    call = {name, "gfx1250", typeD, {}, how.firstActive};
    auto &operands = call.operands;
    const auto modifier = [&](int value) {
      if (in.form == Form::Formats)
        operands.push_back(immediate("i32", value));
      else if (in.form != Form::OnlyC)
        operands.push_back(immediate("i1", value));
    };
    modifier(in.form == Form::Formats ? formatOf(in.a) : how.modifierA);
    operands.push_back({typeA, &a, {}});
    modifier(in.form == Form::Formats ? formatOf(in.b) : how.modifierB);
    operands.push_back({typeB, &b, {}});
    if (in.form != Form::Integers)
      operands.push_back(immediate("i16", how.modifierC));
    operands.push_back({typeC, &c, {}});
    if (in.form != Form::Formats)
      operands.insert(operands.end(), 2, immediate("i1", how.reuse));
    if (in.form == Form::Integers)
      operands.push_back(immediate("i1", how.clamp));
  }
};

void check(const Instruction &in, const How &how = {}) {
  SCOPED_TRACE(in.name + " " + std::to_string(formatOf(in.a)) + " " + std::to_string(formatOf(in.b)));
  Call c(in, how);
  std::mt19937 random(uint32_t(in.k));
  const auto value = [&](bool isSigned) {
    if (in.form == Form::Integers)
      return int(random() % 256) - (isSigned ? 128 : 0);
    return int(random() % 7) - 3;
  };
  int a[16][128], b[16][128];
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < in.k; ++k) {
      const auto put = [&](LaneBits &bits, Number number, int(&m)[16][128], int modifier) {
        const auto [lane, item] = laneAndItem(number, k, in.k);
        m[row][k] = value(modifier != 0);
        bits.put(lane + row, item * bitsOf(number), bitsOf(number), encode(number, m[row][k]));
        if (in.form == Form::All && modifier)
          m[row][k] = -m[row][k];
      };
      put(c.a, in.a, a, how.modifierA);
      put(c.b, in.b, b, how.modifierB);
    }
  int64_t sums[16][16];
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      int64_t sum = (int(random() % 31) - 15) * how.scale;
      c.c.put(row / 8 * 16 + column, row % 8 * bitsOf(in.c), bitsOf(in.c), encode(in.c, double(sum)));
      sum = how.modifierC & 2 ? std::abs(sum) : sum;
      sum = how.modifierC & 1 ? -sum : sum;
      for (int k = 0; k < in.k; ++k)
        sum += a[row][k] * b[column][k];
      if (how.clamp)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      sums[row][column] = sum;
    }
  const LaneBits d = execute(c.call, 8 * bitsOf(in.d));
  int wrong = 0;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      const int lane = row / 8 * 16 + column, width = bitsOf(in.d);
      const uint32_t expected =
          lane < how.firstActive ? 0xeeeeeeeeu >> (32 - width) : encode(in.d, double(sums[row][column]));
      wrong += d.get(lane, row % 8 * width, width) != expected;
    }
  EXPECT_EQ(wrong, 0);
}

TEST(Gfx1250Matrix, EveryInstruction) {
  for (const Instruction &in : instructions())
    check(in);
}

TEST(Gfx1250Matrix, InactiveLanesGiveTheirElementsAndGetNothing) {
  for (const Instruction &in : instructions()) {
    How how;
    how.firstActive = 13;
    check(in, how);
  }
}

TEST(Gfx1250Matrix, Modifiers) {
  for (const Instruction &in : instructions())
    for (int bits = 1; bits < 16; ++bits) {
      How how;
      if (in.form == Form::All || in.form == Form::Integers)
        how.modifierA = bits & 1, how.modifierB = bits >> 1 & 1;
      if (in.form != Form::Integers)
        how.modifierC = bits >> 2;
      how.reuse = bits & 1; // a hint
      check(in, how);
    }
}

TEST(Gfx1250Matrix, Saturation) {
  for (const Instruction &in : instructions())
    if (in.form == Form::Integers)
      for (const bool isSigned : {false, true})
        check(in, {isSigned, isSigned, 0, true, false, 143'000'000}); // up to the ends of the range
}

TEST(Gfx1250Matrix, WhatIsNotKnownOrNotThereIsNamed) {
  const Instruction first = instructions()[0];
  Call other(first, {});
  other.call.target = "gfx1201";
  EXPECT_NE(errorOf(other.call).find("(this target)"), std::string::npos);
  EXPECT_NE(errorOf(Call(first, {0, 0, 4}).call).find("(this modifier of C)"), std::string::npos);
}

} // namespace
} // namespace wavesan::cpu::test
