// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_swmmac_* of gfx12.0: as in sparse_matrix_test.cpp, with the layouts of "RDNA4 instruction set architecture".
#include "matrix_call.h"

#include <algorithm>
#include <random>

namespace wavesan::cpu::test {
namespace {

struct Instruction {
  const char *name; ///< without "llvm.amdgcn.swmmac."
  int k;
  Number a, b, sum;
};
const Instruction kInstructions[] = {
    {"f32.16x16x32.f16", 32, Number::F16, Number::F16, Number::F32},
    {"f32.16x16x32.bf16", 32, Number::BF16, Number::BF16, Number::F32},
    {"f16.16x16x32.f16", 32, Number::F16, Number::F16, Number::F16},
    {"bf16.16x16x32.bf16", 32, Number::BF16, Number::BF16, Number::BF16},
    {"i32.16x16x32.iu8", 32, Number::I8, Number::I8, Number::I32},
    {"i32.16x16x32.iu4", 32, Number::I4, Number::I4, Number::I32},
    {"i32.16x16x64.iu4", 64, Number::I4, Number::I4, Number::I32},
    {"f32.16x16x32.fp8.fp8", 32, Number::FP8, Number::FP8, Number::F32},
    {"f32.16x16x32.fp8.bf8", 32, Number::FP8, Number::BF8, Number::F32},
    {"f32.16x16x32.bf8.fp8", 32, Number::BF8, Number::FP8, Number::F32},
    {"f32.16x16x32.bf8.bf8", 32, Number::BF8, Number::BF8, Number::F32},
};

struct Place {
  int lane, bit;
};
/// B[k][column] of the documents' tables.
Place placeOfB(int lanes, int bits, int k, int column, int size) {
  if (bits == 16 && lanes == 32)
    return {16 * (k / 8 % 2) + column, 32 * (4 * (k / 16) + k / 2 % 4) + 16 * (k % 2)};
  if (bits == 16)
    return {16 * (k / 8) + column, 32 * (k / 2 % 4) + 16 * (k % 2)};
  if (bits == 8 && lanes == 32)
    return {16 * (k / 16) + column, 32 * (k / 4 % 4) + 8 * (k % 4)};
  if (bits == 8)
    return {32 * (k / 8 % 2) + 16 * (k / 16) + column, 32 * (k / 4 % 2) + 8 * (k % 4)};
  if (size == 32 && lanes == 32)
    return {16 * (k / 16) + column, 32 * (k / 8 % 2) + 4 * (k % 8)};
  if (size == 32)
    return {32 * (k / 8 % 2) + 16 * (k / 16) + column, 4 * (k % 8)};
  if (lanes == 32)
    return {16 * (k / 32) + column, 32 * (k / 8 % 4) + 4 * (k % 8)};
  return {32 * (k / 16 % 2) + 16 * (k / 32) + column, 32 * (k / 8 % 2) + 4 * (k % 8)};
}
/// The first of the two given elements among A[row][k] to A[row][k + 3], and `indexBit` of the place of it.
Place placeOfA(int lanes, int bits, int k, int row, int size, int &indexBit) {
  const int four = k / 4;
  if (bits == 16 && lanes == 32) {
    indexBit = 8 * (k / 16) + 4 * (four % 2);
    return {16 * (k / 8 % 2) + row, 32 * (2 * (k / 16) + four % 2)};
  }
  if (bits == 16) {
    indexBit = 4 * (four % 2);
    return {16 * (k / 8) + row, 32 * (four % 2)};
  }
  if (bits == 8 && lanes == 32) {
    indexBit = 4 * (four % 4);
    return {16 * (k / 16) + row, 32 * (k / 8 % 2) + 16 * (four % 2)};
  }
  if (bits == 8) {
    indexBit = 4 * (four % 2);
    return {32 * (k / 8 % 2) + 16 * (k / 16) + row, 16 * (four % 2)};
  }
  if (size == 32) {
    indexBit = 4 * (four % 4);
    return {16 * (k / 16) + row, 8 * (four % 4)};
  }
  if (lanes == 32) {
    indexBit = 4 * (four % 8);
    return {16 * (k / 32) + row, 32 * (k / 16 % 2) + 8 * (four % 4)};
  }
  indexBit = 4 * (four % 4);
  return {32 * (k / 16 % 2) + 16 * (k / 32) + row, 8 * (four % 4)};
}
Place placeOfSum(int lanes, int bits, int row, int column) {
  return lanes == 32 ? Place{16 * (row / 8) + column, bits * (row % 8)}
                     : Place{32 * (row / 4 % 2) + 16 * (row / 8) + column, bits * (row % 4)};
}

std::string suffixOf(const std::string &type) {
  const auto scalar = [](const std::string &t) { return t == "half" ? "f16" : t == "float" ? "f32" : t; };
  const auto x = type.find(" x ");
  return type[0] != '<' ? scalar(type) : "v" + type.substr(1, x - 1) + scalar(type.substr(x + 3, type.size() - x - 4));
}

struct How {
  bool signedA = true, signedB = true, clamp = false;
  int scale = 1; ///< of C
  int firstActive = 0;
  int indexBits = 0; ///< of the type of the index, if larger than it must be
};

/// Operands that all have the right types.
struct Call {
  LaneBits a, b, c, index;
  int indexBits;
  MatrixCall call; ///< refers to the others
  Call(const Call &) = delete;
  Call(const Instruction &in, const std::string &target, int lanes, const How &how)
      : a(lanes, std::max(32, 8 * in.k * bitsOf(in.a) / lanes)), b(lanes, 16 * in.k * bitsOf(in.a) / lanes),
        c(lanes, 256 / lanes * bitsOf(in.sum)), index(lanes, 32), indexBits(a.dwordsPerLane * 64 / bitsOf(in.a)) {
    const auto input = [&](const LaneBits &bits) {
      const int n = bitsOf(in.a) == 16 ? 2 * bits.dwordsPerLane : bits.dwordsPerLane;
      return vectorType(n, in.a == Number::F16 ? "half" : in.a == Number::BF16 ? "i16" : "i32");
    };
    const std::string scalar = in.sum == Number::F32   ? "float"
                               : in.sum == Number::F16 ? "half"
                               : in.sum == Number::I32 ? "i32"
                                                       : "i16";
    const std::string sums = vectorType(256 / lanes, scalar), typeA = input(a), typeB = input(b);
    const std::string indexType = "i" + std::to_string(std::max(indexBits, how.indexBits));
    const std::string name = std::string("swmmac.") + in.name + "." + suffixOf(sums) + "." + suffixOf(typeA) + "." +
                             suffixOf(typeB) + "." + indexType;
    call = {name, target, sums, {}, how.firstActive};
    if (isInteger(in.sum))
      call.operands = {immediate("i1", how.signedA),
                       {typeA, &a, {}},
                       immediate("i1", how.signedB),
                       {typeB, &b, {}},
                       {sums, &c, {}},
                       {indexType, &index, {}},
                       immediate("i1", how.clamp)};
    else
      call.operands = {{typeA, &a, {}}, {typeB, &b, {}}, {sums, &c, {}}, {indexType, &index, {}}};
  }
};

void check(const Instruction &in, int lanes, const How &how = {}) {
  SCOPED_TRACE(std::string(in.name) + ", " + std::to_string(lanes) + " lanes");
  const int bits = bitsOf(in.a), sumBits = bitsOf(in.sum);
  Call c(in, "gfx1201", lanes, how);
  std::mt19937 random(uint32_t(lanes + in.k));
  const auto value = [&](bool isSigned) {
    const int range = in.a == Number::I8 ? 256 : 16;
    return isInteger(in.a) ? int(random() % uint32_t(range)) - (isSigned ? range / 2 : 0) : int(random() % 9) - 4;
  };
  for (uint32_t &dword : c.index.values)
    dword = uint32_t(random()); // what is more than an index does not count
  int a[16][64] = {}, b[64][16];
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < in.k; ++k) {
      b[k][row] = value(how.signedB);
      const Place p = placeOfB(lanes, bits, k, row, in.k);
      c.b.put(p.lane, p.bit, bits, encode(in.b, b[k][row]));
      if (k % 4)
        continue;
      const int first = int(random() % 3), second = first + 1 + int(random() % uint32_t(3 - first));
      for (const int one : {0, 1}) {
        int indexBit = 0;
        const Place q = placeOfA(lanes, bits, k, row, in.k, indexBit);
        const int place = one ? second : first, given = a[row][k + place] = value(how.signedA);
        c.a.put(q.lane, q.bit + one * bits, bits, encode(in.a, given));
        c.index.put(q.lane, indexBit + 2 * one, 2, uint32_t(place));
      }
    }
  int64_t sums[16][16];
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      int64_t &sum = sums[row][column] = (int(random() % 31) - 15) * how.scale;
      const Place p = placeOfSum(lanes, sumBits, row, column);
      c.c.put(p.lane, p.bit, sumBits, encode(in.sum, double(sum)));
      for (int k = 0; k < in.k; ++k)
        sum += a[row][k] * b[k][column];
      if (how.clamp)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    }
  const LaneBits d = execute(c.call, c.c.dwordsPerLane * 32);
  int wrong = 0;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      const Place p = placeOfSum(lanes, sumBits, row, column);
      const uint32_t expected =
          p.lane < how.firstActive ? 0xeeeeeeeeu >> (32 - sumBits) : encode(in.sum, double(sums[row][column]));
      wrong += d.get(p.lane, p.bit, sumBits) != expected;
    }
  EXPECT_EQ(wrong, 0);
}

TEST(SparseWaveMatrix, EveryInstruction) {
  for (const int lanes : {32, 64})
    for (const Instruction &in : kInstructions)
      check(in, lanes);
}

TEST(SparseWaveMatrix, InactiveLanesGiveTheirElementsAndGetNothing) {
  for (const int lanes : {32, 64})
    for (const Instruction &in : kInstructions) {
      How how;
      how.firstActive = 23;
      check(in, lanes, how);
    }
}

TEST(SparseWaveMatrix, OfAWiderIndexTheLowestBitsCount) {
  for (const int lanes : {32, 64})
    for (const Instruction &in : kInstructions) {
      How how;
      how.indexBits = 32;
      check(in, lanes, how);
    }
}

TEST(SparseWaveMatrix, SignsAndSaturation) {
  for (const int lanes : {32, 64})
    for (const Instruction &in : kInstructions)
      if (isInteger(in.sum)) {
        for (int signs = 0; signs < 3; ++signs)
          check(in, lanes, {(signs & 1) != 0, (signs & 2) != 0});
        check(in, lanes, {true, true, true, 143'000'000}); // up to the ends of the range
        check(in, lanes, {false, false, true, 143'000'000});
      }
}

TEST(SparseWaveMatrix, WhatATargetDoesNotHaveIsNamed) {
  const Instruction &first = kInstructions[0];
  EXPECT_NE(errorOf(Call(first, "gfx1100", 32, {}).call).find("(this target)"), std::string::npos);
  EXPECT_NE(errorOf(Call(first, "gfx1250", 32, {}).call).find("(this target)"), std::string::npos);
  Call narrow(first, "gfx1201", 32, {});
  narrow.call.operands[3].type = "i8";
  narrow.call.intrinsic.replace(narrow.call.intrinsic.rfind("i16"), 3, "i8");
  EXPECT_NE(errorOf(narrow.call).find("(these operands)"), std::string::npos);
}

} // namespace
} // namespace wavesan::cpu::test
