// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions from and to floats of eight, six and four bits with a scale, against LLVM's arbitrary precision floats:
// every narrow number, and wide ones at and around the middles between narrow ones, with scales of every kind.
#include "matrix_call.h"

#include <bit>
#include <cmath>
#include <random>

namespace wavesan::cpu::test {
namespace {

enum class Form { All, Interleaved, Select, IntoHalf, Unscaled, UnscaledSelect };
struct Conversion {
  const char *name; ///< without "llvm.amdgcn."
  Number from, to;
  int count; ///< of elements
  Form form;
  const char *target;
};
const Conversion kConversions[] = {
    {"cvt.scalef32.f32.fp8", Number::FP8, Number::F32, 1, Form::Select, "gfx950"},
    {"cvt.scalef32.f16.fp8", Number::FP8, Number::F16, 1, Form::IntoHalf, "gfx950"},
    {"cvt.scalef32.pk.f32.fp8", Number::FP8, Number::F32, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.fp8.f32", Number::F32, Number::FP8, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.f16.fp8", Number::FP8, Number::F16, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.fp8.f16", Number::F16, Number::FP8, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.bf16.fp8", Number::FP8, Number::BF16, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.fp8.bf16", Number::BF16, Number::FP8, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.f32.bf8", Number::BF8, Number::F32, 1, Form::Select, "gfx950"},
    {"cvt.scalef32.f16.bf8", Number::BF8, Number::F16, 1, Form::IntoHalf, "gfx950"},
    {"cvt.scalef32.pk.f32.bf8", Number::BF8, Number::F32, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.bf8.f32", Number::F32, Number::BF8, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.f16.bf8", Number::BF8, Number::F16, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.bf8.f16", Number::F16, Number::BF8, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.bf16.bf8", Number::BF8, Number::BF16, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.bf8.bf16", Number::BF16, Number::BF8, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.f32.fp4", Number::FP4, Number::F32, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.fp4.f32", Number::F32, Number::FP4, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.f16.fp4", Number::FP4, Number::F16, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.fp4.f16", Number::F16, Number::FP4, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.bf16.fp4", Number::FP4, Number::BF16, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk.fp4.bf16", Number::BF16, Number::FP4, 2, Form::Select, "gfx950"},
    {"cvt.scalef32.pk32.f32.fp6", Number::FP6, Number::F32, 32, Form::All, "gfx950"},
    {"cvt.scalef32.pk32.f16.fp6", Number::FP6, Number::F16, 32, Form::All, "gfx950"},
    {"cvt.scalef32.pk32.fp6.f16", Number::F16, Number::FP6, 32, Form::All, "gfx950"},
    {"cvt.scalef32.pk32.bf16.fp6", Number::FP6, Number::BF16, 32, Form::All, "gfx950"},
    {"cvt.scalef32.pk32.fp6.bf16", Number::BF16, Number::FP6, 32, Form::All, "gfx950"},
    {"cvt.scalef32.2xpk16.fp6.f32", Number::F32, Number::FP6, 32, Form::Interleaved, "gfx950"},
    {"cvt.scalef32.pk32.f32.bf6", Number::BF6, Number::F32, 32, Form::All, "gfx950"},
    {"cvt.scalef32.pk32.f16.bf6", Number::BF6, Number::F16, 32, Form::All, "gfx950"},
    {"cvt.scalef32.pk32.bf6.f16", Number::F16, Number::BF6, 32, Form::All, "gfx950"},
    {"cvt.scalef32.pk32.bf16.bf6", Number::BF6, Number::BF16, 32, Form::All, "gfx950"},
    {"cvt.scalef32.pk32.bf6.bf16", Number::BF16, Number::BF6, 32, Form::All, "gfx950"},
    {"cvt.scalef32.2xpk16.bf6.f32", Number::F32, Number::BF6, 32, Form::Interleaved, "gfx950"},
    {"cvt.scalef32.pk8.fp8.f32", Number::F32, Number::FP8, 8, Form::All, "gfx1250"},
    {"cvt.scalef32.pk8.bf8.f32", Number::F32, Number::BF8, 8, Form::All, "gfx1250"},
    {"cvt.scalef32.pk8.fp4.f32", Number::F32, Number::FP4, 8, Form::All, "gfx1250"},
    {"cvt.scalef32.pk16.fp6.f32", Number::F32, Number::FP6, 16, Form::All, "gfx1250"},
    {"cvt.scalef32.pk16.bf6.f32", Number::F32, Number::BF6, 16, Form::All, "gfx1250"},
    {"cvt.scalef32.pk8.fp8.f16", Number::F16, Number::FP8, 8, Form::All, "gfx1250"},
    {"cvt.scalef32.pk8.bf8.f16", Number::F16, Number::BF8, 8, Form::All, "gfx1250"},
    {"cvt.scalef32.pk8.fp4.f16", Number::F16, Number::FP4, 8, Form::All, "gfx1250"},
    {"cvt.scalef32.pk16.fp6.f16", Number::F16, Number::FP6, 16, Form::All, "gfx1250"},
    {"cvt.scalef32.pk16.bf6.f16", Number::F16, Number::BF6, 16, Form::All, "gfx1250"},
    {"cvt.scalef32.pk8.fp8.bf16", Number::BF16, Number::FP8, 8, Form::All, "gfx1250"},
    {"cvt.scalef32.pk8.bf8.bf16", Number::BF16, Number::BF8, 8, Form::All, "gfx1250"},
    {"cvt.scalef32.pk8.fp4.bf16", Number::BF16, Number::FP4, 8, Form::All, "gfx1250"},
    {"cvt.scalef32.pk16.fp6.bf16", Number::BF16, Number::FP6, 16, Form::All, "gfx1250"},
    {"cvt.scalef32.pk16.bf6.bf16", Number::BF16, Number::BF6, 16, Form::All, "gfx1250"},
    {"cvt.f16.fp8", Number::FP8, Number::F16, 1, Form::UnscaledSelect, "gfx1250"},
    {"cvt.pk.f16.fp8", Number::FP8, Number::F16, 2, Form::Unscaled, "gfx1250"},
    {"cvt.pk.fp8.f16", Number::F16, Number::FP8, 2, Form::Unscaled, "gfx1250"},
    {"cvt.f16.bf8", Number::BF8, Number::F16, 1, Form::UnscaledSelect, "gfx1250"},
    {"cvt.pk.f16.bf8", Number::BF8, Number::F16, 2, Form::Unscaled, "gfx1250"},
    {"cvt.pk.bf8.f16", Number::F16, Number::BF8, 2, Form::Unscaled, "gfx1250"},
};

bool isWide(Number number) { return bitsOf(number) >= 16; }
std::string scalarOf(Number number) {
  return number == Number::F32 ? "float" : number == Number::F16 ? "half" : "bfloat";
}

/// The type of an operand or result of `count` elements.
std::string typeOf(const Conversion &c, Number number, int count) {
  if (isWide(number))
    return vectorType(count, scalarOf(number));
  const std::string name = c.name;
  if (c.form == Form::Unscaled) // a pair of bytes
    return "i16";
  if (number == c.to && c.form == Form::Select && bitsOf(number) == 8)
    return "<2 x i16>";
  return vectorType(c.form == Form::All || c.form == Form::Interleaved ? count * bitsOf(number) / 32 : 1, "i32");
}

double scaleOf(uint32_t bits) {
  const int exponent = int(bits >> 23 & 0xff);
  return exponent == 255 ? NAN : std::ldexp(1.0, exponent - 127);
}

/// The bits that are expected; -1: any NaN.
int64_t expectedOf(const Conversion &c, uint32_t bits, double scale) {
  const double value = decode(c.from, bits), scaled = isWide(c.to) ? value * scale : value / scale;
  const bool finiteOnly = bitsOf(c.to) < 8;
  if (finiteOnly && (std::isnan(scaled) || std::isinf(scaled)))
    return encode(c.to, std::signbit(scaled) ? -32 : 32);
  const uint32_t result = encode(c.to, scaled);
  return !finiteOnly && std::isnan(decode(c.to, result)) ? -1 : int64_t(result);
}
bool isNan(Number number, uint32_t bits) { return bitsOf(number) >= 8 && std::isnan(decode(number, bits)); }

/// Wide numbers near the middles between neighbours of the narrow format, times a scale, and any bits.
uint32_t wideNumber(const Conversion &c, double scale, std::mt19937 &random) {
  const uint32_t any = uint32_t(random()) & (bitsOf(c.from) == 32 ? ~0u : 0xffffu);
  if (random() % 4 == 0)
    return any;
  const uint32_t mask = (1u << bitsOf(c.to)) - 1, low = uint32_t(random()) & mask;
  const double a = decode(c.to, low), b = decode(c.to, (low + 1) & mask);
  const uint32_t near = encode(c.from, (random() % 2 ? (a + b) / 2 : a) * (std::isnan(scale) ? 1 : scale));
  return near + uint32_t(random() % 3) - 1;
}

/// One call; `round` decides on the numbers, the scales and the part of a register.
void check(const Conversion &c, int round) {
  SCOPED_TRACE(std::string(c.name) + ", round " + std::to_string(round));
  const bool toWide = isWide(c.to);
  const Number narrow = toWide ? c.from : c.to;
  const int narrowBits = bitsOf(narrow), elements = c.count * narrowBits;
  const int parts =
      c.form == Form::Select || c.form == Form::IntoHalf || c.form == Form::UnscaledSelect ? 32 / elements : 1;
  const int part = round % parts, high = round / parts % 2;
  std::mt19937 random{uint32_t(round)};
  const int resultBits = c.form == Form::IntoHalf ? 32 : toWide ? c.count * bitsOf(c.to) : std::max(16, elements);
  LaneBits source(64, toWide ? std::max(elements, 16) : c.count * bitsOf(c.from)), second(64, 512), scale(64, 32);
  LaneBits old(64, std::max(32, resultBits));
  for (LaneBits *bits : {&source, &second, &old})
    for (uint32_t &dword : bits->values)
      dword = uint32_t(random());
  for (uint32_t &dword : scale.values)
    dword = round % 3 == 0   ? std::bit_cast<uint32_t>(1.0f)
            : round % 3 == 1 ? uint32_t(random()) // mantissa and sign do not count
                             : std::bit_cast<uint32_t>(std::ldexp(1.0f, int(random() % 21) - 10));
  const bool scaled = c.form != Form::Unscaled && c.form != Form::UnscaledSelect;
  const bool twoSources = c.form == Form::Interleaved || (c.form == Form::Select && !toWide && c.from == Number::F32);
  // Element k of the operands, as bits.
  std::vector<uint32_t> in(size_t(64 * c.count));
  for (int lane = 0; lane < 64; ++lane)
    for (int k = 0; k < c.count; ++k) {
      uint32_t &element = in[size_t(lane * c.count + k)];
      if (toWide) {
        element = uint32_t(round * 64 * c.count + lane * c.count + k) & ((1u << narrowBits) - 1);
        source.put(lane, part * elements + k * narrowBits, narrowBits, element);
      } else {
        element = wideNumber(c, scaled ? scaleOf(scale.get(lane, 0, 32)) : 1, random) &
                  (bitsOf(c.from) == 32 ? ~0u : 0xffffu);
        LaneBits &to = twoSources && k % 2 ? second : source;
        to.put(lane, (twoSources ? k / 2 : k) * bitsOf(c.from), bitsOf(c.from), element);
      }
    }
  MatrixCall call{c.name, c.target, c.form == Form::IntoHalf ? "<2 x half>" : typeOf(c, c.to, c.count), {}, round % 5};
  const bool keepsOld = c.form == Form::IntoHalf || (c.form == Form::Select && !toWide);
  if (keepsOld)
    call.operands.push_back({call.result, &old, {}});
  const std::string type = typeOf(c, c.from, twoSources ? c.count / 2 : c.count);
  call.operands.push_back({type, &source, {}});
  if (twoSources)
    call.operands.push_back({type, &second, {}});
  if (scaled)
    call.operands.push_back({"float", &scale, {}});
  if (parts > 1)
    call.operands.push_back(immediate(parts == 2 ? "i1" : "i32", part));
  if (c.form == Form::IntoHalf)
    call.operands.push_back(immediate("i1", high));

  const LaneBits d = execute(call, std::max(32, resultBits));
  int wrong = 0;
  for (int lane = 0; lane < 64; ++lane) {
    if (lane < call.firstActive) {
      wrong += d.get(lane, 0, 32) != 0xeeeeeeeeu;
      continue;
    }
    const int first = c.form == Form::IntoHalf ? 16 * high : toWide ? 0 : part * elements, width = bitsOf(c.to);
    for (int k = 0; k < c.count; ++k) {
      const uint32_t result = d.get(lane, first + k * width, width);
      const int64_t expected =
          expectedOf(c, in[size_t(lane * c.count + k)], scaled ? scaleOf(scale.get(lane, 0, 32)) : 1);
      const bool right = expected < 0 ? isNan(c.to, result) : expected == result;
      if (!right && wrong++ < 3)
        ADD_FAILURE() << "lane " << lane << " element " << k << ": " << decode(c.from, in[size_t(lane * c.count + k)])
                      << " with " << scaleOf(scale.get(lane, 0, 32)) << " gives " << result << ", not " << expected;
    }
    // The rest of the register is as it was.
    for (int bit = 0; keepsOld && bit < 32; ++bit)
      if (bit < first || bit >= first + c.count * width)
        wrong += d.get(lane, bit, 1) != old.get(lane, bit, 1);
  }
  EXPECT_EQ(wrong, 0);
}

TEST(NarrowConversions, EveryConversion) {
  for (const Conversion &c : kConversions)
    for (int round = 0; round < 24; ++round)
      check(c, round);
}

TEST(NarrowConversions, WhatATargetDoesNotHaveIsNamed) {
  const LaneBits source(64, 1024), scale(64, 32);
  const auto error = [&](const char *name, const char *target, const char *from, const char *to) {
    return errorOf(MatrixCall{name, target, to, {{from, &source, {}}, {"float", &scale, {}}}});
  };
  EXPECT_NE(error("cvt.scalef32.pk32.f32.fp6", "gfx942", "<6 x i32>", "<32 x float>").find("(this target)"),
            std::string::npos);
  EXPECT_NE(error("cvt.scalef32.pk8.fp4.f32", "gfx950", "<8 x float>", "i32").find("(this target)"), std::string::npos);
  // Random rounding: documents contradict each other.
  EXPECT_NE(errorOf(MatrixCall{"cvt.scalef32.sr.pk32.fp6.f16",
                               "gfx950",
                               "<6 x i32>",
                               {{"<32 x half>", &source, {}}, {"i32", &scale, {}}, {"float", &scale, {}}}})
                .find("cvt.scalef32.sr.pk32.fp6.f16"),
            std::string::npos);
}

} // namespace
} // namespace wavesan::cpu::test
