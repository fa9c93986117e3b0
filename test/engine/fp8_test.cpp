// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions to and from floats of eight bits, against LLVM's arbitrary precision floats: all 256 values of each
// format to float; to eight bits every value, the middle between neighbours and what lies next to it, and random bits.
#include "engine_fixture.h"

#include "llvm/ADT/APFloat.h"

#include <bit>
#include <cmath>
#include <random>

using llvm::APFloat;
using llvm::APInt;

namespace wavesan::cpu::test {
namespace {

struct Case {
  const char *name; ///< in intrinsics
  const llvm::fltSemantics &(*semantics)();
  const char *target;
};
const Case kCases[] = {{"fp8", APFloat::Float8E4M3FNUZ, "gfx942"}, {"bf8", APFloat::Float8E5M2FNUZ, "gfx942"},
                       {"fp8", APFloat::Float8E4M3FN, "gfx950"},   {"bf8", APFloat::Float8E5M2, "gfx950"},
                       {"fp8", APFloat::Float8E4M3FN, "gfx1201"},  {"bf8", APFloat::Float8E5M2, "gfx1201"}};

const char kBegin[] = "define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %other, ptr addrspace(1) "
                      "%out) {\n"
                      "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
                      "  %g = call i32 @llvm.amdgcn.workgroup.id.x()\n"
                      "  %base = mul i32 %g, 64\n  %n = add i32 %base, %t\n";
const char kEnd[] = "  ret void\n}\ndeclare i32 @llvm.amdgcn.workitem.id.x()\ndeclare i32 "
                    "@llvm.amdgcn.workgroup.id.x()\n";

float toFloat(uint8_t bits, const Case &c) {
  APFloat f(c.semantics(), APInt(8, bits));
  bool losesInfo = false;
  f.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
  return f.convertToFloat();
}
/// Bits; any NaN: -1.
int toByte(float value, const Case &c) {
  APFloat f(value);
  bool losesInfo = false;
  f.convert(c.semantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return f.isNaN() ? -1 : int(f.bitcastToAPInt().getZExtValue());
}
int withoutNan(uint8_t bits, const Case &c) { return APFloat(c.semantics(), APInt(8, bits)).isNaN() ? -1 : int(bits); }
bool same(float a, float b) { return (a != a && b != b) || std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

TEST(Fp8, EveryValueToFloat) {
  for (const Case &c : kCases) {
    const std::string name = std::string("@llvm.amdgcn.cvt.f32.") + c.name,
                      pair = std::string("@llvm.amdgcn.cvt.pk.f32.") + c.name;
    std::string body =
        "  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %n\n  %v = load i32, ptr addrspace(1) %pi\n"
        "  %at = mul i32 %n, 8\n";
    for (int k = 0; k < 4; ++k) {
      const std::string s = std::to_string(k);
      body += "  %f" + s + " = call float " + name + "(i32 %v, i32 " + s + ")\n  %o" + s + " = add i32 %at, " + s +
              "\n  %p" + s + " = getelementptr float, ptr addrspace(1) %out, i32 %o" + s + "\n  store float %f" + s +
              ", ptr addrspace(1) %p" + s + "\n";
    }
    for (int k = 0; k < 2; ++k) {
      const std::string s = std::to_string(k);
      body += "  %w" + s + " = call <2 x float> " + pair + "(i32 %v, i1 " + s + ")\n  %q" + s + " = add i32 %at, " +
              std::to_string(4 + 2 * k) + "\n  %r" + s + " = getelementptr float, ptr addrspace(1) %out, i32 %q" + s +
              "\n  store <2 x float> %w" + s + ", ptr addrspace(1) %r" + s + ", align 4\n";
    }
    std::vector<uint8_t> in(256);
    for (int i = 0; i < 256; ++i)
      in[i] = uint8_t(i * 7 + 3); // odd: each value once
    std::vector<float> out(512);
    Options options;
    options.target = c.target;
    runText(kBegin + body + kEnd + "declare float " + name + "(i32, i32)\ndeclare <2 x float> " + pair + "(i32, i1)\n",
            linear(64, 64), arguments(in.data(), in.data(), out.data()), options);
    for (int i = 0; i < 256; ++i) {
      const float expected = toFloat(in[i], c);
      EXPECT_TRUE(same(out[i / 4 * 8 + i % 4], expected)) << c.target << " " << c.name << " " << int(in[i]);
      EXPECT_TRUE(same(out[i / 4 * 8 + 4 + i % 4], expected)) << c.target << " " << c.name << " pair " << int(in[i]);
    }
  }
}

TEST(Fp8, ToNearestEven) {
  for (const Case &c : kCases) {
    std::vector<float> in;
    for (int i = 0; i < 256; ++i)
      for (int j : {i + 1, i + 2}) {
        const float a = toFloat(uint8_t(i), c), b = toFloat(uint8_t(j), c), middle = (a + b) / 2;
        for (const float f : {a, middle, std::nextafter(middle, INFINITY), std::nextafter(middle, -INFINITY)})
          in.push_back(f);
      }
    for (const float f : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-30f, -1e-40f, 3e38f, -3e38f, 240.0f, 248.0f, 256.0f,
                          448.0f, 464.0f, 480.0f, 57344.0f, 61440.0f, 65536.0f})
      in.push_back(f);
    std::mt19937 random(42);
    while (in.size() < 8192)
      in.push_back(std::bit_cast<float>(uint32_t(random())));
    const uint32_t count = uint32_t(in.size());
    std::vector<float> other(in.rbegin(), in.rend());
    std::vector<uint32_t> out(2 * count);
    const std::string name = std::string("@llvm.amdgcn.cvt.pk.") + c.name + ".f32";
    Options options;
    options.target = c.target;
    runText(
        std::string(kBegin) +
            "  %pa = getelementptr float, ptr addrspace(1) %in, i32 %n\n  %a = load float, ptr addrspace(1) %pa\n"
            "  %pb = getelementptr float, ptr addrspace(1) %other, i32 %n\n  %b = load float, ptr addrspace(1) %pb\n"
            "  %low = call i32 " +
            name +
            "(float %a, float %b, i32 -1412567295, i1 false)\n" // 0xabcdef01
            "  %high = call i32 " +
            name +
            "(float %a, float %b, i32 -1412567295, i1 true)\n"
            "  %at = mul i32 %n, 2\n  %p = getelementptr i32, ptr addrspace(1) %out, i32 %at\n"
            "  store i32 %low, ptr addrspace(1) %p\n"
            "  %q = getelementptr i32, ptr addrspace(1) %p, i32 1\n  store i32 %high, ptr addrspace(1) %q\n" +
            kEnd + "declare i32 " + name + "(float, float, i32, i1)\n",
        linear(count, 64), arguments(in.data(), other.data(), out.data()), options);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t low = out[2 * i], high = out[2 * i + 1];
      EXPECT_EQ(low >> 16, 0xabcdu);
      EXPECT_EQ(high & 0xffff, 0xef01u);
      EXPECT_EQ(low & 0xffff, high >> 16);
      EXPECT_EQ(withoutNan(uint8_t(low), c), toByte(in[i], c)) << c.target << " " << c.name << " " << in[i];
      EXPECT_EQ(withoutNan(uint8_t(low >> 8), c), toByte(other[i], c)) << c.target << " " << c.name << " " << other[i];
    }
  }
}

} // namespace
} // namespace wavesan::cpu::test
