// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_trig_preop_f64: three segments times the argument are the argument in quarter turns, less whole turns. So the sine
// of that must be the sine that the C library finds, for arguments of every size.
#include "engine_fixture.h"

#include <cmath>
#include <random>

namespace wavesan::cpu::test {
namespace {

constexpr int kSegments = 3;

std::vector<double> preops(const std::vector<double> &in) {
  std::vector<double> out(in.size() * kSegments);
  runText(
      "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare i32 @llvm.amdgcn.workgroup.id.x()\n"
      "declare double @llvm.amdgcn.trig.preop.f64(double, i32)\n"
      "define amdgpu_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) %o) {\n"
      "  %w = call i32 @llvm.amdgcn.workitem.id.x()\n  %g = call i32 @llvm.amdgcn.workgroup.id.x()\n"
      "  %h = mul i32 %g, 64\n  %t = add i32 %h, %w\n  %i = udiv i32 %t, 3\n  %s = urem i32 %t, 3\n"
      "  %px = getelementptr double, ptr addrspace(1) %x, i32 %i\n  %po = getelementptr double, ptr addrspace(1) %o, "
      "i32 %t\n"
      "  %a = load double, ptr addrspace(1) %px\n  %r = call double @llvm.amdgcn.trig.preop.f64(double %a, i32 %s)\n"
      "  store double %r, ptr addrspace(1) %po\n  ret void\n}\n",
      linear(uint32_t(out.size()), 64), arguments(in.data(), out.data()));
  return out;
}

TEST(TrigPreop, ReducesArgumentsOfEverySize) {
  std::mt19937_64 random(3);
  std::vector<double> in;
  for (int i = 0; i < 64 * 32; ++i) {
    const uint64_t exponent = i % 2 ? 1023 + random() % 1024 : 1023 - 20 + random() % 90;
    const uint64_t bits = (random() & ~(uint64_t(0x7ff) << 52)) | exponent << 52;
    double x;
    std::memcpy(&x, &bits, 8);
    in.push_back(exponent == 2047 ? 1e300 : x);
  }
  const std::vector<double> out = preops(in);
  for (size_t i = 0; i < in.size(); ++i) {
    int exponent;
    std::frexp(in[i], &exponent);
    const bool scaled = exponent + 1022 >= 1968; // the hardware's result is 2^128 times as large then
    __float128 turns = 0;
    for (int s = 0; s < kSegments; ++s) {
      const __float128 product = __float128(in[i]) * (scaled ? std::ldexp(out[i * kSegments + size_t(s)], -128)
                                                             : out[i * kSegments + size_t(s)]);
      __float128 rest = product; // less multiples of 4, exactly
      for (__float128 unit = 0x1p200; unit >= 4; unit /= 2) {
        while (rest >= unit)
          rest -= unit;
        while (rest <= -unit)
          rest += unit;
      }
      turns += rest;
    }
    EXPECT_NEAR(std::sin(double(std::fmod(double(turns), 4.0)) * M_PI_2), std::sin(in[i]), 1e-12) << in[i];
  }
}

TEST(TrigPreop, SmallArgumentsGetTheFirstBits) {
  EXPECT_LT(std::fabs(preops(std::vector<double>(64, 1.0))[0] - M_2_PI), 0x1p-52);
}

} // namespace
} // namespace wavesan::cpu::test
