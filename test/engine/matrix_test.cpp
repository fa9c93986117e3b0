// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_mfma_*: matrices are spread over the lanes as the instruction set documents show it, multiplied, and gathered
// again.
#include "engine_fixture.h"

#include "llvm/ADT/APFloat.h"

#include <random>

namespace wavesan::cpu::test {
namespace {

struct Instruction {
  const char *name, *input, *output; ///< intrinsic without "llvm.amdgcn.mfma.", types of A and of C
  int m, n, k, blocks;
  const char *target = "gfx90a";
};
const Instruction kInstructions[] = {
    {"f32.32x32x1f32", "float", "<32 x float>", 32, 32, 1, 2},
    {"f32.16x16x1f32", "float", "<16 x float>", 16, 16, 1, 4},
    {"f32.4x4x1f32", "float", "<4 x float>", 4, 4, 1, 16},
    {"f32.32x32x2f32", "float", "<16 x float>", 32, 32, 2, 1},
    {"f32.16x16x4f32", "float", "<4 x float>", 16, 16, 4, 1},
    {"f32.32x32x4f16", "<4 x half>", "<32 x float>", 32, 32, 4, 2},
    {"f32.16x16x4f16", "<4 x half>", "<16 x float>", 16, 16, 4, 4},
    {"f32.4x4x4f16", "<4 x half>", "<4 x float>", 4, 4, 4, 16},
    {"f32.32x32x8f16", "<4 x half>", "<16 x float>", 32, 32, 8, 1},
    {"f32.16x16x16f16", "<4 x half>", "<4 x float>", 16, 16, 16, 1},
    {"i32.32x32x4i8", "i32", "<32 x i32>", 32, 32, 4, 2},
    {"i32.16x16x4i8", "i32", "<16 x i32>", 16, 16, 4, 4},
    {"i32.4x4x4i8", "i32", "<4 x i32>", 4, 4, 4, 16},
    {"i32.32x32x8i8", "i32", "<16 x i32>", 32, 32, 8, 1},
    {"i32.16x16x16i8", "i32", "<4 x i32>", 16, 16, 16, 1},
    {"f32.32x32x2bf16", "<2 x i16>", "<32 x float>", 32, 32, 2, 2},
    {"f32.16x16x2bf16", "<2 x i16>", "<16 x float>", 16, 16, 2, 4},
    {"f32.4x4x2bf16", "<2 x i16>", "<4 x float>", 4, 4, 2, 16},
    {"f32.32x32x4bf16", "<2 x i16>", "<16 x float>", 32, 32, 4, 1},
    {"f32.16x16x8bf16", "<2 x i16>", "<4 x float>", 16, 16, 8, 1},
    {"f32.32x32x4bf16.1k", "<4 x i16>", "<32 x float>", 32, 32, 4, 2},
    {"f32.16x16x4bf16.1k", "<4 x i16>", "<16 x float>", 16, 16, 4, 4},
    {"f32.4x4x4bf16.1k", "<4 x i16>", "<4 x float>", 4, 4, 4, 16},
    {"f32.32x32x8bf16.1k", "<4 x i16>", "<16 x float>", 32, 32, 8, 1},
    {"f32.16x16x16bf16.1k", "<4 x i16>", "<4 x float>", 16, 16, 16, 1},
    {"f64.16x16x4f64", "double", "<4 x double>", 16, 16, 4, 1},
    {"f64.4x4x4f64", "double", "double", 4, 4, 4, 4},
    {"i32.16x16x32.i8", "i64", "<4 x i32>", 16, 16, 32, 1, "gfx942"},
    {"i32.32x32x16.i8", "i64", "<16 x i32>", 32, 32, 16, 1, "gfx942"},
    {"f32.16x16x8.xf32", "<2 x float>", "<4 x float>", 16, 16, 8, 1, "gfx942"},
    {"f32.32x32x4.xf32", "<2 x float>", "<16 x float>", 32, 32, 4, 1, "gfx942"},
    {"f32.16x16x32.bf8.bf8", "i64", "<4 x float>", 16, 16, 32, 1, "gfx942"},
    {"f32.16x16x32.bf8.fp8", "i64", "<4 x float>", 16, 16, 32, 1, "gfx942"},
    {"f32.16x16x32.fp8.bf8", "i64", "<4 x float>", 16, 16, 32, 1, "gfx942"},
    {"f32.16x16x32.fp8.fp8", "i64", "<4 x float>", 16, 16, 32, 1, "gfx942"},
    {"f32.32x32x16.bf8.bf8", "i64", "<16 x float>", 32, 32, 16, 1, "gfx942"},
    {"f32.32x32x16.bf8.fp8", "i64", "<16 x float>", 32, 32, 16, 1, "gfx942"},
    {"f32.32x32x16.fp8.bf8", "i64", "<16 x float>", 32, 32, 16, 1, "gfx942"},
    {"f32.32x32x16.fp8.fp8", "i64", "<16 x float>", 32, 32, 16, 1, "gfx942"},
    {"f32.16x16x32.bf8.bf8", "i64", "<4 x float>", 16, 16, 32, 1, "gfx950"},
    {"f32.16x16x32.bf8.fp8", "i64", "<4 x float>", 16, 16, 32, 1, "gfx950"},
    {"f32.16x16x32.fp8.bf8", "i64", "<4 x float>", 16, 16, 32, 1, "gfx950"},
    {"f32.16x16x32.fp8.fp8", "i64", "<4 x float>", 16, 16, 32, 1, "gfx950"},
    {"f32.32x32x16.bf8.bf8", "i64", "<16 x float>", 32, 32, 16, 1, "gfx950"},
    {"f32.32x32x16.bf8.fp8", "i64", "<16 x float>", 32, 32, 16, 1, "gfx950"},
    {"f32.32x32x16.fp8.bf8", "i64", "<16 x float>", 32, 32, 16, 1, "gfx950"},
    {"f32.32x32x16.fp8.fp8", "i64", "<16 x float>", 32, 32, 16, 1, "gfx950"},
    {"f32.16x16x32.f16", "<8 x half>", "<4 x float>", 16, 16, 32, 1, "gfx950"},
    {"f32.16x16x32.bf16", "<8 x bfloat>", "<4 x float>", 16, 16, 32, 1, "gfx950"},
    {"f32.32x32x16.f16", "<8 x half>", "<16 x float>", 32, 32, 16, 1, "gfx950"},
    {"f32.32x32x16.bf16", "<8 x bfloat>", "<16 x float>", 32, 32, 16, 1, "gfx950"},
    {"i32.16x16x64.i8", "<4 x i32>", "<4 x i32>", 16, 16, 64, 1, "gfx950"},
    {"i32.32x32x32.i8", "<4 x i32>", "<16 x i32>", 32, 32, 32, 1, "gfx950"},
};
/// Of gfx90a, with the modifiers that it has.
bool isOld(const Instruction &i) { return std::string(i.target) == "gfx90a"; }

enum class Element { F32, F16, BF16, I8, F64, FP8, BF8, FP8Fnuz, BF8Fnuz };
/// Of A, or of B.
Element elementOf(const Instruction &i, bool ofB = false) {
  const std::string name = i.name;
  if (name.ends_with("fp8") || name.ends_with("bf8")) {
    const bool five = name.substr(name.size() - (ofB ? 3 : 7), 3) == "bf8", old = i.target == std::string("gfx942");
    return five ? old ? Element::BF8Fnuz : Element::BF8 : old ? Element::FP8Fnuz : Element::FP8;
  }
  if (name.find("bf16") != std::string::npos)
    return Element::BF16;
  if (name.ends_with("f16"))
    return Element::F16;
  return name.ends_with("i8") ? Element::I8 : name.ends_with("f64") ? Element::F64 : Element::F32;
}
int bytesOf(Element e) {
  return e == Element::F32 ? 4 : e == Element::F64 ? 8 : e == Element::F16 || e == Element::BF16 ? 2 : 1;
}
uint8_t encode(const llvm::fltSemantics &semantics, int value) {
  llvm::APFloat number{double(value)};
  bool inexact = false;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
  return uint8_t(number.bitcastToAPInt().getZExtValue());
}

void put(Element e, int value, uint8_t *at) {
  const float f = float(value);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  switch (e) {
  case Element::F32:
    std::memcpy(at, &f, 4);
    break;
  case Element::F64: {
    const double d = value;
    std::memcpy(at, &d, 8);
    break;
  }
  case Element::I8:
    *at = uint8_t(value);
    break;
  case Element::FP8:
    *at = encode(llvm::APFloat::Float8E4M3FN(), value);
    break;
  case Element::BF8:
    *at = encode(llvm::APFloat::Float8E5M2(), value);
    break;
  case Element::FP8Fnuz:
    *at = encode(llvm::APFloat::Float8E4M3FNUZ(), value);
    break;
  case Element::BF8Fnuz:
    *at = encode(llvm::APFloat::Float8E5M2FNUZ(), value);
    break;
  case Element::BF16: {
    const auto high = uint16_t(bits >> 16);
    std::memcpy(at, &high, 2);
    break;
  }
  case Element::F16: { // small whole numbers
    const auto half =
        uint16_t(value == 0 ? 0 : (bits >> 16 & 0x8000) | (((bits >> 23 & 255) - 112) << 10) | (bits >> 13 & 0x3ff));
    std::memcpy(at, &half, 2);
    break;
  }
  }
}

struct Modifiers {
  int cbsz = 0, abid = 0, blgp = 0;
};

/// Runs the instruction on whole numbers and compares every element of D. `active`: condition on %t for the lanes that
/// take part.
void check(const Instruction &in, const Modifiers &how = {}, const std::string &active = "icmp uge i32 %t, 0",
           int firstActive = 0) {
  const Element e = elementOf(in);
  const int perLane = in.m * in.k * in.blocks / 64, sums = in.m * in.n * in.blocks / 64;
  const int inBytes = perLane * bytesOf(e), sumBytes = e == Element::F64 ? 8 : 4;
  std::mt19937 random(7);
  // What all formats hold exactly: bf8 has two bits of mantissa.
  const bool small = bytesOf(e) == 1 && e != Element::I8;
  const auto value = [&] { return small ? int(random() % 9) - 4 : int(random() % 15) - 7; };
  // Matrices, and where their elements stand: [block][row][k], [block][k][column].
  std::vector<int> a(size_t(in.blocks * in.m * in.k)), b(size_t(in.blocks * in.k * in.n));
  std::vector<int> c(size_t(in.blocks * in.m * in.n));
  for (auto *matrix : {&a, &b, &c})
    for (int &v : *matrix)
      v = value();
  std::vector<uint8_t> aBytes(size_t(64 * inBytes)), bBytes(aBytes), cBytes(size_t(64 * sums * sumBytes)),
      d(cBytes.size(), 0xee);
  for (int block = 0; block < in.blocks; ++block)
    for (int row = 0; row < in.m; ++row)
      for (int k = 0; k < in.k; ++k) {
        const int lane = row + in.m * block + in.m * in.blocks * (k / perLane);
        put(e, a[size_t((block * in.m + row) * in.k + k)], &aBytes[size_t(lane * inBytes + k % perLane * bytesOf(e))]);
        put(elementOf(in, true), b[size_t((block * in.k + k) * in.n + row)],
            &bBytes[size_t(lane * inBytes + k % perLane * bytesOf(e))]); // m = n
      }
  const auto place = [&](int block, int row, int column) { // of a sum: lane * sums + register
    int lane, reg;
    if (in.m == 32)
      lane = column + 32 * (row / 4 % 2), reg = 16 * block + row / 8 * 4 + row % 4;
    else if (in.m == 16 && e == Element::F64)
      lane = column + 16 * (row % 4), reg = row / 4;
    else if (in.m == 16)
      lane = column + 16 * (row / 4), reg = 4 * block + row % 4;
    else if (e == Element::F64)
      lane = column + 4 * block + 16 * row, reg = 0;
    else
      lane = column + 4 * block, reg = row;
    return lane * sums + reg;
  };
  const auto putSum = [&](int at, int v) {
    put(e == Element::F64 ? Element::F64 : Element::F32, v, &cBytes[size_t(at * sumBytes)]);
  };
  for (int block = 0; block < in.blocks; ++block)
    for (int row = 0; row < in.m; ++row)
      for (int column = 0; column < in.n; ++column) {
        const int v = c[size_t((block * in.m + row) * in.n + column)], at = place(block, row, column);
        if (e == Element::I8)
          std::memcpy(&cBytes[size_t(at * 4)], &v, 4);
        else
          putSum(at, v);
      }
  const std::string input = in.input, output = in.output, name = "@llvm.amdgcn.mfma." + std::string(in.name);
  Options options;
  options.target = in.target;
  runText("declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare " + output + " " + name + "(" + input + ", " + input +
              ", " + output +
              ", i32, i32, i32)\ndefine amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr "
              "addrspace(1) %c, ptr "
              "addrspace(1) %d) {\n  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
              "  %pa = getelementptr [" +
              std::to_string(inBytes) +
              " x i8], ptr addrspace(1) %a, i32 %t\n"
              "  %pb = getelementptr [" +
              std::to_string(inBytes) +
              " x i8], ptr addrspace(1) %b, i32 %t\n"
              "  %pc = getelementptr [" +
              std::to_string(sums * sumBytes) +
              " x i8], ptr addrspace(1) %c, i32 %t\n"
              "  %pd = getelementptr [" +
              std::to_string(sums * sumBytes) +
              " x i8], ptr addrspace(1) %d, i32 %t\n"
              "  %va = load " +
              input + ", ptr addrspace(1) %pa, align 1\n  %vb = load " + input +
              ", ptr addrspace(1) %pb, align 1\n"
              "  %vc = load " +
              output + ", ptr addrspace(1) %pc, align 4\n  %on = " + active +
              "\n  br i1 %on, label %yes, label %no\nyes:\n"
              "  %vd = call " +
              output + " " + name + "(" + input + " %va, " + input + " %vb, " + output + " %vc, i32 " +
              std::to_string(how.cbsz) + ", i32 " + std::to_string(how.abid) + ", i32 " + std::to_string(how.blgp) +
              ")\n"
              "  store " +
              output + " %vd, ptr addrspace(1) %pd, align 4\n  br label %no\nno:\n  ret void\n}\n",
          linear(64, 64), arguments(aBytes.data(), bBytes.data(), cBytes.data(), d.data()), options);

  // B as the instruction sees it: each lane's data come from another lane.
  const auto seenB = [&](int block, int k, int column) {
    const int lane = column + in.n * block + in.n * in.blocks * (k / perLane);
    int from = lane;
    if (how.blgp == 1 || how.blgp == 2)
      from = lane % 32 + (how.blgp - 1) * 32;
    else if (how.blgp == 3)
      from = (lane + 16) % 64;
    else if (how.blgp >= 4)
      from = lane % 16 + (how.blgp - 4) * 16;
    const int c2 = from % in.n, b2 = from / in.n % in.blocks, k2 = from / (in.n * in.blocks) * perLane + k % perLane;
    return b[size_t((b2 * in.k + k2) * in.n + c2)];
  };
  int wrong = 0;
  for (int block = 0; block < in.blocks; ++block)
    for (int row = 0; row < in.m; ++row)
      for (int column = 0; column < in.n; ++column) {
        const int group = 1 << how.cbsz, source = block / group * group + how.abid;
        int sum = c[size_t((block * in.m + row) * in.n + column)];
        for (int k = 0; k < in.k; ++k)
          sum += a[size_t((source * in.m + row) * in.k + k)] * seenB(block, k, column);
        const int at = place(block, row, column);
        std::vector<uint8_t> expected(size_t(sumBytes), 0xee);
        if (at / sums >= firstActive) {
          if (e == Element::I8)
            std::memcpy(expected.data(), &sum, 4);
          else
            put(e == Element::F64 ? Element::F64 : Element::F32, sum, expected.data());
        }
        wrong += std::memcmp(expected.data(), &d[size_t(at * sumBytes)], size_t(sumBytes)) != 0;
      }
  EXPECT_EQ(wrong, 0) << in.name << " cbsz " << how.cbsz << " abid " << how.abid << " blgp " << how.blgp;
}

TEST(Matrix, EveryInstruction) {
  for (const Instruction &in : kInstructions)
    check(in);
}

TEST(Matrix, InactiveLanesGiveTheirElementsAndGetNothing) {
  for (const Instruction &in : kInstructions)
    check(in, {}, "icmp uge i32 %t, 23", 23);
}

TEST(Matrix, BroadcastOfBlocks) {
  for (const Instruction &in : kInstructions)
    for (int size = 0; isOld(in) && elementOf(in) != Element::F64 && 1 << size <= in.blocks; ++size)
      for (int block = 0; block < 1 << size; ++block)
        check(in, {size, block, 0});
}

TEST(Matrix, LanePatterns) {
  for (const Instruction &in : kInstructions)
    for (int pattern = 1; isOld(in) && elementOf(in) != Element::F64 && pattern < 8; ++pattern)
      check(in, {0, 0, pattern});
}

TEST(Matrix, WhatTheInstructionDoesNotHaveIsNamed) {
  const auto run = [](const char *modifiers) {
    const std::string ir =
        std::string("declare double @llvm.amdgcn.mfma.f64.4x4x4f64(double, double, double, i32, i32, i32)\n"
                    "define amdgpu_kernel void @k(ptr addrspace(1) %d) {\n"
                    "  %r = call double @llvm.amdgcn.mfma.f64.4x4x4f64(double 1.0, double 1.0, double 1.0, ") +
        modifiers + ")\n  store double %r, ptr addrspace(1) %d\n  ret void\n}\n";
    double d = 0;
    return cpu::test::run(*load(assemble(ir)), "k", linear(64, 64), arguments(&d));
  };
  EXPECT_NE(run("i32 0, i32 0, i32 1").message.find("mfma.f64.4x4x4f64 (this lane pattern)"), std::string::npos);
  EXPECT_NE(run("i32 3, i32 0, i32 0").message.find("mfma.f64.4x4x4f64 (this broadcast of blocks)"), std::string::npos);
}

// One element of each matrix: a half (bfloat16) that is denormal counts as zero, and so does a denormal sum.
TEST(Matrix, DenormalsOfHalfAndBFloatAreZero) {
  const auto one = [](const std::string &name, const std::string &type, const std::string &a, const std::string &b,
                      const std::string &c) {
    std::vector<float> d(64 * 4);
    runText("declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare <4 x float> @llvm.amdgcn.mfma." + name + "(" + type +
                ", " + type +
                ", <4 x float>, i32, i32, i32)\ndefine amdgpu_kernel void @k(ptr addrspace(1) %d) {\n"
                "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %p = getelementptr <4 x float>, ptr addrspace(1) %d, "
                "i32 %t\n"
                "  %r = call <4 x float> @llvm.amdgcn.mfma." +
                name + "(" + type + " " + a + ", " + type + " " + b + ", <4 x float> <float " + c + ", float " + c +
                ", float " + c + ", float " + c +
                ">, i32 0, i32 0, i32 0)\n"
                "  store <4 x float> %r, ptr addrspace(1) %p\n  ret void\n}\n",
            linear(64, 64), arguments(d.data()));
    return d[0];
  };
  const std::string halves = "<half 0xH03FF, half 0xH0000, half 0xH0000, half 0xH0000>",
                    ones = "<half 0xH7800, half 0xH0000, half 0xH0000, half 0xH0000>";
  EXPECT_EQ(one("f32.4x4x4f16", "<4 x half>", halves, ones, "0.0"), 0);
  EXPECT_EQ(one("f32.4x4x4f16", "<4 x half>", "<half 0xH0400, half 0xH0000, half 0xH0000, half 0xH0000>", ones, "0.0"),
            0x1p-14f * 0x1p15f);
  EXPECT_EQ(one("f32.4x4x2bf16", "<2 x i16>", "<i16 127, i16 0>", "<i16 16256, i16 0>", "0.0"), 0);
  EXPECT_EQ(one("f32.4x4x4f16", "<4 x half>", "zeroinitializer", ones, "0x3800000000000000"), 0x0p0f) << "C = 2^-127";
  EXPECT_EQ(one("f32.4x4x1f32", "float", "0x3800000000000000", "1.0", "0.0"), 0x1p-127f) << "float keeps them";
}

} // namespace
} // namespace wavesan::cpu::test
