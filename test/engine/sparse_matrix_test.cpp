// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_smfmac_*: half of A is zero, two of every four elements in a row. It is multiplied as a whole matrix here; the
// instruction gets the other half, and the places of its elements.
#include "matrix_call.h"

#include <random>

namespace wavesan::cpu::test {
namespace {

struct Instruction {
  const char *name;   ///< without "llvm.amdgcn.smfmac."
  const char *scalar; ///< of the IR, of A and B
  int rows, k;
  Number a, b; ///< on gfx950
  bool isLong = false;
};
const Instruction kInstructions[] = {
    {"f32.16x16x32.f16", "half", 16, 32, Number::F16, Number::F16},
    {"f32.32x32x16.f16", "half", 32, 16, Number::F16, Number::F16},
    {"f32.16x16x32.bf16", "i16", 16, 32, Number::BF16, Number::BF16},
    {"f32.32x32x16.bf16", "i16", 32, 16, Number::BF16, Number::BF16},
    {"i32.16x16x64.i8", "i32", 16, 64, Number::I8, Number::I8},
    {"i32.32x32x32.i8", "i32", 32, 32, Number::I8, Number::I8},
    {"f32.16x16x64.fp8.fp8", "i32", 16, 64, Number::FP8, Number::FP8},
    {"f32.16x16x64.fp8.bf8", "i32", 16, 64, Number::FP8, Number::BF8},
    {"f32.16x16x64.bf8.fp8", "i32", 16, 64, Number::BF8, Number::FP8},
    {"f32.16x16x64.bf8.bf8", "i32", 16, 64, Number::BF8, Number::BF8},
    {"f32.32x32x32.fp8.fp8", "i32", 32, 32, Number::FP8, Number::FP8},
    {"f32.32x32x32.fp8.bf8", "i32", 32, 32, Number::FP8, Number::BF8},
    {"f32.32x32x32.bf8.fp8", "i32", 32, 32, Number::BF8, Number::FP8},
    {"f32.32x32x32.bf8.bf8", "i32", 32, 32, Number::BF8, Number::BF8},
    {"f32.16x16x64.f16", "half", 16, 64, Number::F16, Number::F16, true},
    {"f32.32x32x32.f16", "half", 32, 32, Number::F16, Number::F16, true},
    {"f32.16x16x64.bf16", "bfloat", 16, 64, Number::BF16, Number::BF16, true},
    {"f32.32x32x32.bf16", "bfloat", 32, 32, Number::BF16, Number::BF16, true},
    {"i32.16x16x128.i8", "i32", 16, 128, Number::I8, Number::I8, true},
    {"i32.32x32x64.i8", "i32", 32, 64, Number::I8, Number::I8, true},
    {"f32.16x16x128.fp8.fp8", "i32", 16, 128, Number::FP8, Number::FP8, true},
    {"f32.16x16x128.fp8.bf8", "i32", 16, 128, Number::FP8, Number::BF8, true},
    {"f32.16x16x128.bf8.fp8", "i32", 16, 128, Number::BF8, Number::FP8, true},
    {"f32.16x16x128.bf8.bf8", "i32", 16, 128, Number::BF8, Number::BF8, true},
    {"f32.32x32x64.fp8.fp8", "i32", 32, 64, Number::FP8, Number::FP8, true},
    {"f32.32x32x64.fp8.bf8", "i32", 32, 64, Number::FP8, Number::BF8, true},
    {"f32.32x32x64.bf8.fp8", "i32", 32, 64, Number::BF8, Number::FP8, true},
    {"f32.32x32x64.bf8.bf8", "i32", 32, 64, Number::BF8, Number::BF8, true},
};

Number on(Number number, const std::string &target) {
  if (target == "gfx942" && number == Number::FP8)
    return Number::FP8Fnuz;
  return target == "gfx942" && number == Number::BF8 ? Number::BF8Fnuz : number;
}

struct How {
  int cbsz = 0, abid = 0;
  int firstActive = 0;
};

/// Operands that all have the right types, for what is refused.
struct Call {
  LaneBits a, b, c, index;
  MatrixCall call; ///< refers to the others
  Call(const Call &) = delete;
  Call(const Instruction &in, const std::string &target, const How &how)
      : a(64, in.rows * in.k / 128 * bitsOf(in.a)), b(64, in.rows * in.k / 64 * bitsOf(in.a)),
        c(64, in.rows * in.rows / 64 * 32), index(64, 32) {
    const bool packed = bitsOf(in.a) == 8;
    const std::string sums = vectorType(in.rows * in.rows / 64, isInteger(in.a) ? "i32" : "float");
    const auto input = [&](const LaneBits &bits) {
      return vectorType(packed ? bits.dwordsPerLane : 2 * bits.dwordsPerLane, in.scalar);
    };
    call = {std::string("smfmac.") + in.name,
            target,
            sums,
            {{input(a), &a, {}},
             {input(b), &b, {}},
             {sums, &c, {}},
             {"i32", &index, {}},
             immediate("i32", how.cbsz),
             immediate("i32", how.abid)},
            how.firstActive};
  }
};

void check(const Instruction &in, const std::string &target, const How &how = {}) {
  SCOPED_TRACE(std::string(in.name) + " on " + target + " cbsz " + std::to_string(how.cbsz) + " abid " +
               std::to_string(how.abid));
  const Number ofA = on(in.a, target), ofB = on(in.b, target), ofSum = isInteger(in.a) ? Number::I32 : Number::F32;
  const int bits = bitsOf(ofA), perLane = in.rows * in.k / 64; // elements of B
  Call c(in, target, how);
  std::mt19937 random(uint32_t(in.rows + in.k + how.abid));
  const auto value = [&] { return ofA == Number::I8 ? int(random() % 256) - 128 : int(random() % 9) - 4; };
  std::vector<int> a(size_t(in.rows * in.k)), b(a.size()), sums(size_t(in.rows * in.rows)); // a: zeros too
  for (uint32_t &dword : c.index.values)
    dword = uint32_t(random()); // other sets of indices do not count
  const bool oneSet = in.isLong && bits == 8;
  const int set = how.cbsz || oneSet ? 0 : how.abid;
  // The k of element `at` of B in a lane.
  const auto positionOf = [&](int group, int at) {
    const int half = perLane / 2;
    return in.isLong ? in.k / 2 * (at / half) + half * group + at % half : perLane * group + at;
  };
  for (int row = 0; row < in.rows; ++row)
    for (int n = 0; n < in.k; ++n) {
      const int lane = in.rows * (n / perLane) + row, inLane = n % perLane, k = positionOf(n / perLane, inLane);
      const int element = b[size_t(k * in.rows + row)] = value();
      c.b.put(lane, inLane * bits, bits, encode(ofB, element));
      if (k % 4)
        continue;
      const int first = int(random() % 3), second = first + 1 + int(random() % uint32_t(3 - first));
      for (const int one : {0, 1}) {
        const int place = one ? second : first, at = inLane / 2 + one;
        const int given = a[size_t(row * in.k + k + place)] = value();
        c.a.put(lane, at * bits, bits, encode(ofA, given));
        c.index.put(lane, set * perLane + 2 * at, 2, uint32_t(place));
      }
    }
  const auto placeOfSum = [&](int row, int column) { // lane, register
    return in.rows == 16 ? std::pair(16 * (row / 4) + column, row % 4)
                         : std::pair(32 * (row / 4) % 64 + column, 4 * (row / 8) + row % 4);
  };
  for (int row = 0; row < in.rows; ++row)
    for (int column = 0; column < in.rows; ++column) {
      const auto [lane, reg] = placeOfSum(row, column);
      int sum = int(random() % 15) - 7;
      c.c.put(lane, 32 * reg, 32, encode(ofSum, sum));
      for (int k = 0; k < in.k; ++k)
        sum += a[size_t(row * in.k + k)] * b[size_t(k * in.rows + column)];
      sums[size_t(row * in.rows + column)] = sum;
    }
  const LaneBits d = execute(c.call, c.c.dwordsPerLane * 32);
  int wrong = 0;
  for (int row = 0; row < in.rows; ++row)
    for (int column = 0; column < in.rows; ++column) {
      const auto [lane, reg] = placeOfSum(row, column);
      const uint32_t expected =
          lane < how.firstActive ? 0xeeeeeeeeu : encode(ofSum, sums[size_t(row * in.rows + column)]);
      wrong += d.get(lane, 32 * reg, 32) != expected;
    }
  EXPECT_EQ(wrong, 0);
}

/// Every instruction on every target that has it.
template <class F> void forEach(F f) {
  for (const Instruction &in : kInstructions)
    for (const char *target : {"gfx942", "gfx950"})
      if (!in.isLong || target == std::string("gfx950"))
        f(in, target);
}

TEST(SparseMatrix, EveryInstruction) {
  forEach([](const Instruction &in, const char *target) { check(in, target); });
}

TEST(SparseMatrix, InactiveLanesGiveTheirElementsAndGetNothing) {
  forEach([](const Instruction &in, const char *target) { check(in, target, {0, 0, 23}); });
}

TEST(SparseMatrix, SetsOfIndices) {
  forEach([](const Instruction &in, const char *target) {
    const int sets = in.isLong ? bitsOf(in.a) == 16 ? 2 : 16 : bitsOf(in.a) == 16 ? 4 : 2; // 16: all the same
    for (int set = 1; set < sets; ++set)
      check(in, target, {0, set, 0});
    check(in, target, {1, 1, 0}); // CBSZ: the first, whatever ABID says
  });
}

TEST(SparseMatrix, WhatTheInstructionDoesNotHaveIsNamed) {
  const auto error = [](const char *name, const char *target, const How &how) {
    for (const Instruction &in : kInstructions)
      if (in.name == std::string(name))
        return errorOf(Call(in, target, how).call);
    return std::string();
  };
  EXPECT_NE(error("f32.16x16x32.f16", "gfx942", {0, 4, 0}).find("smfmac.f32.16x16x32.f16 (this set of indices)"),
            std::string::npos);
  EXPECT_NE(error("i32.32x32x32.i8", "gfx950", {0, 2, 0}).find("(this set of indices)"), std::string::npos);
  EXPECT_NE(error("f32.16x16x64.f16", "gfx950", {0, 2, 0}).find("(this set of indices)"), std::string::npos);
  EXPECT_NE(error("f32.16x16x64.f16", "gfx942", {}).find("(this target)"), std::string::npos);
  EXPECT_NE(error("f32.16x16x32.f16", "gfx90a", {}).find("(this target)"), std::string::npos);
}

} // namespace
} // namespace wavesan::cpu::test
