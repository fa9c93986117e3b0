// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_wmma_*: matrices are spread over the lanes as the instruction set documents of RDNA3 and RDNA4 show it, multiplied,
// and gathered again. And the formats of eight bits, against LLVM's.
#include "engine_fixture.h"

#include "fp8.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <random>

namespace wavesan::cpu::test {
namespace {

using engine::Fp8;

TEST(SmallFloat, EveryByteOfEveryFormat) {
  const std::pair<Fp8, const llvm::fltSemantics *> formats[] = {{Fp8::E4M3, &llvm::APFloat::Float8E4M3FN()},
                                                                {Fp8::E5M2, &llvm::APFloat::Float8E5M2()},
                                                                {Fp8::E4M3Fnuz, &llvm::APFloat::Float8E4M3FNUZ()},
                                                                {Fp8::E5M2Fnuz, &llvm::APFloat::Float8E5M2FNUZ()}};
  for (const auto &[format, semantics] : formats)
    for (unsigned bits = 0; bits < 256; ++bits) {
      llvm::APFloat number(*semantics, llvm::APInt(8, bits));
      bool inexact = false;
      number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
      const float expected = number.convertToFloat(), value = engine::fp8ToFloat(uint8_t(bits), format);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(value)) << int(format) << " " << bits;
      else
        EXPECT_EQ(std::memcmp(&expected, &value, 4), 0)
            << int(format) << " " << bits << ": " << value << ", not " << expected;
    }
}

enum class Kind { Half, BFloat, Int8, Int4, Fp8, Bf8, Float, Int32 };

struct Instruction {
  const char *name; ///< without "llvm.amdgcn.wmma."
  Kind a, b, sum;
  int k;
};
const Instruction kOfBoth[] = {{"f32.16x16x16.f16", Kind::Half, Kind::Half, Kind::Float, 16},
                               {"f32.16x16x16.bf16", Kind::BFloat, Kind::BFloat, Kind::Float, 16},
                               {"f16.16x16x16.f16", Kind::Half, Kind::Half, Kind::Half, 16},
                               {"bf16.16x16x16.bf16", Kind::BFloat, Kind::BFloat, Kind::BFloat, 16},
                               {"i32.16x16x16.iu8", Kind::Int8, Kind::Int8, Kind::Int32, 16},
                               {"i32.16x16x16.iu4", Kind::Int4, Kind::Int4, Kind::Int32, 16}};
const Instruction kOfGfx12[] = {{"i32.16x16x32.iu4", Kind::Int4, Kind::Int4, Kind::Int32, 32},
                                {"f32.16x16x16.fp8.fp8", Kind::Fp8, Kind::Fp8, Kind::Float, 16},
                                {"f32.16x16x16.fp8.bf8", Kind::Fp8, Kind::Bf8, Kind::Float, 16},
                                {"f32.16x16x16.bf8.fp8", Kind::Bf8, Kind::Fp8, Kind::Float, 16},
                                {"f32.16x16x16.bf8.bf8", Kind::Bf8, Kind::Bf8, Kind::Float, 16}};

/// The other halves of D are those of C: what the others do in this emulation, too.
const Instruction kOfGfx11[] = {{"f16.16x16x16.f16.tied", Kind::Half, Kind::Half, Kind::Half, 16},
                                {"bf16.16x16x16.bf16.tied", Kind::BFloat, Kind::BFloat, Kind::BFloat, 16}};

int bitsOf(Kind kind) {
  switch (kind) {
  case Kind::Int4:
    return 4;
  case Kind::Int8:
  case Kind::Fp8:
  case Kind::Bf8:
    return 8;
  case Kind::Half:
  case Kind::BFloat:
    return 16;
  default:
    return 32;
  }
}

uint32_t encode(Kind kind, int value) {
  const auto as = [&](const llvm::fltSemantics &semantics) {
    llvm::APFloat number{double(value)};
    bool inexact = false;
    number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
    return uint32_t(number.bitcastToAPInt().getZExtValue());
  };
  switch (kind) {
  case Kind::Half:
    return as(llvm::APFloat::IEEEhalf());
  case Kind::BFloat:
    return as(llvm::APFloat::BFloat());
  case Kind::Fp8:
    return as(llvm::APFloat::Float8E4M3FN());
  case Kind::Bf8:
    return as(llvm::APFloat::Float8E5M2());
  case Kind::Float:
    return as(llvm::APFloat::IEEEsingle());
  default:
    return uint32_t(value) & (bitsOf(kind) == 32 ? ~0u : (1u << bitsOf(kind)) - 1);
  }
}

/// The dwords of one operand: registers of 64 (or 32) lanes.
struct Dwords {
  int lanes;
  std::vector<uint32_t> values;
  Dwords(int lanes, int registers) : lanes(lanes), values(size_t(lanes * registers)) {}
  void put(int lane, int reg, int firstBit, int bits, uint32_t value) {
    uint32_t &dword = values[size_t(lane * int(values.size()) / lanes + reg)];
    const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
    dword = (dword & ~(mask << firstBit)) | (value & mask) << firstBit;
  }
  uint32_t get(int lane, int reg, int firstBit, int bits) const {
    const uint32_t dword = values[size_t(lane * int(values.size()) / lanes + reg)];
    return dword >> firstBit & (bits == 32 ? ~0u : (1u << bits) - 1);
  }
};

struct Place {
  int lane, reg, bit;
};
/// A[row][k]; the documents' formulas.
std::vector<Place> placesOfInput(bool gfx11, int lanes, int bits, int k, int row, int size) {
  const int perDword = 32 / bits;
  if (gfx11) { // repeated every 16 lanes
    std::vector<Place> all;
    for (int lane = row; lane < lanes; lane += 16)
      all.push_back({lane, k / perDword, k % perDword * bits});
    return all;
  }
  if (bits == 16 && lanes == 32)
    return {{16 * (k / 4 % 2) + row, 2 * (k / 8) + k / 2 % 2, 16 * (k % 2)}};
  if (bits == 16)
    return {{32 * (k / 8 % 2) + 16 * (k / 4 % 2) + row, k / 2 % 2, 16 * (k % 2)}};
  if (bits == 8 && lanes == 32)
    return {{16 * (k / 8) + row, k / 4 % 2, 8 * (k % 4)}};
  if (bits == 8)
    return {{32 * (k / 4 % 2) + 16 * (k / 8 % 2) + row, 0, 8 * (k % 4)}};
  if (size == 16) // four bits
    return {{16 * (k / 8) + row, 0, 4 * (k % 8)}};
  if (lanes == 32)
    return {{16 * (k / 16) + row, k / 8 % 2, 4 * (k % 8)}};
  return {{32 * (k / 8 % 2) + 16 * (k / 16) + row, 0, 4 * (k % 8)}};
}
Place placeOfSum(bool gfx11, int lanes, int bits, int row, int column, bool high) {
  if (gfx11) {
    const int groups = lanes / 16;
    return {16 * (row % groups) + column, row / groups, high ? 16 : 0};
  }
  const int perLane = lanes == 32 ? 8 : 4, inLane = row % perLane;
  const int lane = lanes == 32 ? 16 * (row / 8) + column : 32 * (row / 4 % 2) + 16 * (row / 8) + column;
  return bits == 32 ? Place{lane, inLane, 0} : Place{lane, inLane / 2, 16 * (inLane % 2)};
}

struct How {
  bool signedA = true, signedB = true, clamp = false, high = false;
  int scale = 1; ///< of C
};

std::string typeOf(Kind kind, int dwords) {
  const int bits = bitsOf(kind);
  const char *scalar = kind == Kind::Half     ? "half"
                       : kind == Kind::BFloat ? "i16"
                       : kind == Kind::Float  ? "float"
                                              : "i32";
  const int n = bits == 16 ? 2 * dwords : dwords;
  return n == 1 ? scalar : "<" + std::to_string(n) + " x " + scalar + ">";
}

void check(const Instruction &in, const std::string &target, int lanes, const How &how = {}) {
  SCOPED_TRACE(std::string(in.name) + " on " + target + ", " + std::to_string(lanes) + " lanes");
  const bool gfx11 = target == "gfx1100";
  const int bits = bitsOf(in.a), sumBits = bitsOf(in.sum);
  const int inDwords = gfx11 ? in.k * bits / 32 : std::max(1, 16 * in.k * bits / 32 / lanes);
  const int sumDwords = sumBits == 32 || gfx11 ? 256 / lanes : 128 / lanes;
  std::mt19937 random(uint32_t(lanes + in.k));
  const auto value = [&](Kind kind, bool isSigned) {
    if (kind == Kind::Int8)
      return isSigned ? int(random() % 256) - 128 : int(random() % 256);
    if (kind == Kind::Int4)
      return isSigned ? int(random() % 16) - 8 : int(random() % 16);
    return int(random() % 9) - 4;
  };
  Dwords a(lanes, inDwords), b(lanes, inDwords), c(lanes, sumDwords), d(lanes, sumDwords);
  int aAt[16][32], bAt[32][16], cAt[16][16];
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < in.k; ++k) {
      aAt[row][k] = value(in.a, how.signedA), bAt[k][row] = value(in.b, how.signedB);
      for (const Place &p : placesOfInput(gfx11, lanes, bits, k, row, in.k)) {
        a.put(p.lane, p.reg, p.bit, bits, encode(in.a, aAt[row][k]));
        b.put(p.lane, p.reg, p.bit, bits, encode(in.b, bAt[k][row]));
      }
    }
  for (uint32_t &dword : c.values)
    dword = 0x12341234; // what is no element of C stays in D
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      cAt[row][column] = (int(random() % 31) - 15) * how.scale;
      const Place p = placeOfSum(gfx11, lanes, sumBits, row, column, how.high);
      c.put(p.lane, p.reg, p.bit, sumBits, encode(in.sum, cAt[row][column]));
    }

  const std::string input = typeOf(in.a, inDwords), output = typeOf(in.sum, sumDwords);
  const bool integers = in.sum == Kind::Int32, small = sumBits == 16;
  const auto flag = [](bool on) { return on ? std::string("i1 true") : std::string("i1 false"); };
  const std::string mangled = std::string(in.name);
  const std::string types = integers ? "i1, " + input + ", i1, " + input + ", " + output + ", i1"
                                     : input + ", " + input + ", " + output + (small ? ", i1" : "");
  const std::string operands =
      integers ? flag(how.signedA) + ", " + input + " %va, " + flag(how.signedB) + ", " + input + " %vb, " + output +
                     " %vc, " + flag(how.clamp)
               : input + " %va, " + input + " %vb, " + output + " %vc" + (small ? ", " + flag(how.high) : "");
  const auto suffix = [](const std::string &type) { // how intrinsics are overloaded
    const auto scalar = [](const std::string &t) { return t == "half" ? "f16" : t == "float" ? "f32" : t; };
    if (type[0] != '<')
      return scalar(type);
    const auto x = type.find(" x ");
    return "v" + type.substr(1, x - 1) + scalar(type.substr(x + 3, type.size() - x - 4));
  };
  const std::string name = "@llvm.amdgcn.wmma." + mangled + "." + suffix(output) + "." + suffix(input);
  const auto pointer = [](const std::string &letter, int dwords) {
    return "  %p" + letter + " = getelementptr [" + std::to_string(dwords) + " x i32], ptr addrspace(1) %" + letter +
           ", i32 %t\n";
  };
  Options options;
  options.target = target;
  runText(
      "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare " + output + " " + name + "(" + types +
          ")\ndefine amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr "
          "addrspace(1) %d) #0 {\n  %t = call i32 @llvm.amdgcn.workitem.id.x()\n" +
          pointer("a", inDwords) + pointer("b", inDwords) + pointer("c", sumDwords) + pointer("d", sumDwords) +
          "  %va = load " + input + ", ptr addrspace(1) %pa, align 4\n  %vb = load " + input +
          ", ptr addrspace(1) %pb, align 4\n  %vc = load " + output + ", ptr addrspace(1) %pc, align 4\n  %vd = call " +
          output + " " + name + "(" + operands + ")\n  store " + output +
          " %vd, ptr addrspace(1) %pd, align 4\n  ret void\n}\nattributes #0 = { \"target-features\"=\"+wavefrontsize" +
          std::to_string(lanes) + "\" }\n",
      linear(uint32_t(lanes), uint32_t(lanes)),
      arguments(a.values.data(), b.values.data(), c.values.data(), d.values.data()), options);

  Dwords expected = c;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      int64_t sum = cAt[row][column];
      for (int k = 0; k < in.k; ++k)
        sum += aAt[row][k] * bAt[k][column];
      if (how.clamp)
        sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
      const Place p = placeOfSum(gfx11, lanes, sumBits, row, column, how.high);
      expected.put(p.lane, p.reg, p.bit, sumBits, encode(in.sum, int(sum)));
    }
  EXPECT_EQ(d.values, expected.values);
}

TEST(WaveMatrix, EveryInstruction) {
  for (const int lanes : {32, 64}) {
    for (const Instruction &in : kOfBoth) {
      check(in, "gfx1100", lanes);
      check(in, "gfx1201", lanes);
    }
    for (const Instruction &in : kOfGfx12)
      check(in, "gfx1201", lanes);
    for (const Instruction &in : kOfGfx11)
      for (const bool high : {false, true})
        check(in, "gfx1100", lanes, {true, true, false, high, 1});
  }
}

TEST(WaveMatrix, SignsAndSaturation) {
  for (const char *target : {"gfx1100", "gfx1201"})
    for (const Instruction &in : kOfBoth)
      if (in.sum == Kind::Int32) {
        for (int signs = 0; signs < 4; ++signs)
          check(in, target, 32, {(signs & 1) != 0, (signs & 2) != 0, false, false, 1});
        check(in, target, 32, {true, true, true, false, 143'000'000}); // up to the ends of the range
        check(in, target, 64, {false, false, true, false, 143'000'000});
      }
}

TEST(WaveMatrix, HighHalvesOfGfx11) {
  for (const int lanes : {32, 64})
    for (const Instruction &in : kOfBoth)
      if (bitsOf(in.sum) == 16)
        check(in, "gfx1100", lanes, {true, true, false, true, 1});
}

TEST(WaveMatrix, WhatATargetDoesNotHaveIsNamed) {
  const auto message = [](const char *target, const char *name, const char *type) {
    const std::string f = std::string("@llvm.amdgcn.wmma.") + name;
    Options options;
    options.target = target;
    const auto program =
        load(assemble("declare <8 x float> " + f + "(" + type + ", " + type +
                      ", <8 x float>)\ndefine amdgpu_kernel void @k(ptr addrspace(1) %d) {\n  %r = call <8 x "
                      "float> " +
                      f + "(" + type + " zeroinitializer, " + type +
                      " zeroinitializer, <8 x float> zeroinitializer)\n  store <8 x float> %r, ptr "
                      "addrspace(1) %d\n  ret void\n}\n"),
             options);
    float d[8 * 32];
    return run(*program, "k", linear(32, 32), arguments(d), options).message;
  };
  EXPECT_NE(message("gfx1100", "f32.16x16x16.fp8.fp8.v8f32.v2i32", "<2 x i32>").find("(this target)"),
            std::string::npos);
  EXPECT_NE(message("gfx1201", "f32.16x16x16.f16.v8f32.v16f16", "<16 x half>").find("(these operands)"),
            std::string::npos);
  EXPECT_NE(message("gfx90a", "f32.16x16x16.f16.v8f32.v16f16", "<16 x half>").find("(this target)"), std::string::npos);
}

} // namespace
} // namespace wavesan::cpu::test
