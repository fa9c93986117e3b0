// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_div_scale, v_div_fmas and v_div_fixup: each by itself, and all of them in the steps that LLVM's AMDGPU backend
// makes of a division, whose result must be the correctly rounded quotient whatever the operands are.
#include "elementwise.h"

#include <cmath>

namespace wavesan::cpu::test {
namespace {

using llvm::APFloat;

constexpr uint64_t kSeed = 20260803;

/// Numbers of all exponents, among them pairs whose quotient leaves the range of normal numbers.
Values operandsOf(const FloatType &type, std::mt19937_64 &random, size_t count) {
  Values values = edgesAndRandom(type, random, count / 2);
  const unsigned exponents = unsigned(1) << (type.bits - type.mantissa - 1);
  while (values.size() < count) {
    const uint64_t exponent = random() % 3   ? random() % exponents
                              : random() % 2 ? exponents - 2 - random() % 4
                                             : random() % 28;
    const uint64_t mantissa = random() & ((uint64_t(1) << type.mantissa) - 1);
    values.push_back(slot((exponent << type.mantissa | mantissa) | (random() & 1) << (type.bits - 1)));
  }
  return values;
}

/// The steps of SIISelLowering's LowerFDIV32 and LowerFDIV64.
Operation division(const FloatType &type) {
  const bool single = type.bits == 32;
  std::string text = single ? R"(
  %sd = call {T, i1} @llvm.amdgcn.div.scale.S(T %a, T %b, i1 false)
  %d = extractvalue {T, i1} %sd, 0
  %sn = call {T, i1} @llvm.amdgcn.div.scale.S(T %a, T %b, i1 true)
  %n = extractvalue {T, i1} %sn, 0
  %flag = extractvalue {T, i1} %sn, 1
  %rcp = call T @llvm.amdgcn.rcp.S(T %d)
  %m = fneg T %d
  %f0 = call T @llvm.fma.S(T %m, T %rcp, T 1.0)
  %f1 = call T @llvm.fma.S(T %f0, T %rcp, T %rcp)
  %mul = fmul T %n, %f1
  %f2 = call T @llvm.fma.S(T %m, T %mul, T %n)
  %f3 = call T @llvm.fma.S(T %f2, T %f1, T %mul)
  %f4 = call T @llvm.fma.S(T %m, T %f3, T %n)
  %q = call T @llvm.amdgcn.div.fmas.S(T %f4, T %f1, T %f3, i1 %flag)
)"
                            : R"(
  %sd = call {T, i1} @llvm.amdgcn.div.scale.S(T %a, T %b, i1 false)
  %d = extractvalue {T, i1} %sd, 0
  %rcp = call T @llvm.amdgcn.rcp.S(T %d)
  %m = fneg T %d
  %f0 = call T @llvm.fma.S(T %m, T %rcp, T 1.0)
  %f1 = call T @llvm.fma.S(T %rcp, T %f0, T %rcp)
  %f2 = call T @llvm.fma.S(T %m, T %f1, T 1.0)
  %sn = call {T, i1} @llvm.amdgcn.div.scale.S(T %a, T %b, i1 true)
  %n = extractvalue {T, i1} %sn, 0
  %flag = extractvalue {T, i1} %sn, 1
  %f3 = call T @llvm.fma.S(T %f1, T %f2, T %f1)
  %mul = fmul T %n, %f3
  %f4 = call T @llvm.fma.S(T %m, T %mul, T %n)
  %q = call T @llvm.amdgcn.div.fmas.S(T %f4, T %f3, T %mul, i1 %flag)
)";
  text += "  %r = call T @llvm.amdgcn.div.fixup.S(T %q, T %b, T %a)";
  std::string declarations = "declare {T, i1} @llvm.amdgcn.div.scale.S(T, T, i1)\ndeclare T @llvm.amdgcn.rcp.S(T)\n"
                             "declare T @llvm.fma.S(T, T, T)\ndeclare T @llvm.amdgcn.div.fmas.S(T, T, T, i1)\n"
                             "declare T @llvm.amdgcn.div.fixup.S(T, T, T)\n";
  for (std::string *s : {&text, &declarations}) {
    for (size_t at = 0; (at = s->find('T', at)) != std::string::npos; ++at)
      s->replace(at, 1, type.ir);
    for (size_t at = 0; (at = s->find(".S(", at)) != std::string::npos; ++at)
      s->replace(at, 2, std::string(".") + type.suffix);
  }
  return {text, declarations, {type.ir, type.ir}, type.ir};
}

class Division : public testing::TestWithParam<FloatType> {};
INSTANTIATE_TEST_SUITE_P(All, Division, testing::Values(kSingle, kDouble),
                         [](const auto &info) { return std::string(info.param.ir); });

TEST_P(Division, StepsGiveTheCorrectlyRoundedQuotient) {
  const FloatType &type = GetParam();
  std::mt19937_64 random(kSeed);
  const Values a = operandsOf(type, random, 16384), b = shuffled(a, random);
  forEachResult(division(type), {a, b}, [&](size_t k, Slot got) {
    APFloat want = type.number(a[k].low);
    want.divide(type.number(b[k].low), APFloat::rmNearestTiesToEven);
    ASSERT_TRUE(sameFloat(type, got.low, slot(want).low))
        << show(type, a[k].low) << " / " << show(type, b[k].low) << " gives " << show(type, got.low) << ", not "
        << show(type, slot(want).low) << "; seed " << kSeed;
  });
}

/// Value and flag (in bit 64) of v_div_scale.
Operation scaling(const FloatType &type, bool numerator) {
  const std::string pair = std::string("{") + type.ir + ", i1}",
                    name = std::string("@llvm.amdgcn.div.scale.") + type.suffix, bits = "i" + std::to_string(type.bits);
  return {"  %p = call " + pair + " " + name + "(" + type.ir + " %a, " + type.ir + " %b, i1 " +
              (numerator ? "true" : "false") + ")\n  %v = extractvalue " + pair + " %p, 0\n  %f = extractvalue " +
              pair + " %p, 1\n  %j = bitcast " + type.ir + " %v to " + bits + "\n  %wv = zext " + bits +
              " %j to i128\n  %wf = zext i1 %f to i128\n"
              "  %sf = shl i128 %wf, 64\n  %r = or i128 %wv, %sf",
          "declare " + pair + " " + name + "(" + type.ir + ", " + type.ir + ", i1)\n",
          {type.ir, type.ir},
          "i128"};
}

TEST_P(Division, ScalesWhatTheDocumentsSay) {
  const FloatType &type = GetParam();
  const bool single = type.bits == 32;
  const int scale = single ? 64 : 128;
  std::mt19937_64 random(kSeed + 1);
  const Values a = operandsOf(type, random, 8192), b = shuffled(a, random);
  const auto field = [&](const APFloat &v) {
    return int(slot(v).low >> type.mantissa & ((uint64_t(1) << (type.bits - type.mantissa - 1)) - 1));
  };
  for (const bool numerator : {false, true})
    forEachResult(scaling(type, numerator), {a, b}, [&](size_t k, Slot got) {
      const APFloat n = type.number(a[k].low), q = type.number(b[k].low);
      if (!n.isFinite() || !q.isFinite()) // v_div_fixup looks at the operands themselves
        return;
      APFloat reciprocal = APFloat::getOne(type.semantics()), quotient = n;
      reciprocal.divide(q, APFloat::rmNearestTiesToEven);
      quotient.divide(q, APFloat::rmNearestTiesToEven);
      const bool tinyQuotient = quotient.isDenormal() || quotient.isZero();
      int by = 0;
      bool flag = false;
      if (n.isZero() || q.isZero()) {
        ASSERT_TRUE(type.number(got.low).isNaN());
        return;
      }
      if (field(n) - field(q) >= (single ? 96 : 768)) {
        flag = true;
        by = numerator ? 0 : scale;
      } else if (q.isDenormal())
        by = scale;
      else if (reciprocal.isDenormal() && tinyQuotient) {
        flag = true;
        by = numerator ? 0 : -scale; // the documents' +scale would make the denominator infinite
      } else if (reciprocal.isDenormal())
        by = -scale;
      else if (tinyQuotient) {
        flag = true;
        by = numerator ? scale : 0;
      } else if (field(n) <= (single ? 23 : 53))
        by = scale;
      const APFloat want = scalbn(numerator ? n : q, by, APFloat::rmNearestTiesToEven);
      ASSERT_TRUE(sameFloat(type, got.low, slot(want).low) && got.high == flag)
          << show(type, a[k].low) << " / " << show(type, b[k].low) << ", the "
          << (numerator ? "numerator" : "denominator") << ": " << show(type, got.low) << " " << got.high << ", not "
          << show(type, slot(want).low) << " " << flag;
    });
}

TEST_P(Division, FmasUndoesTheScale) {
  const FloatType &type = GetParam();
  const int scale = type.bits == 32 ? 64 : 128;
  std::mt19937_64 random(kSeed + 2);
  const Values a = operandsOf(type, random, 4096), b = shuffled(a, random), c = shuffled(a, random);
  for (const bool flag : {false, true})
    forEachResult(callOf(std::string("amdgcn.div.fmas.") + type.suffix, type.ir, {type.ir, type.ir, type.ir},
                         {flag ? "i1 true" : "i1 false"}),
                  {a, b, c}, [&](size_t k, Slot got) {
                    const APFloat z = type.number(c[k].low);
                    // Exponents of any size, so that nothing is rounded before the scale.
                    const llvm::fltSemantics &wide = APFloat::IEEEquad();
                    APFloat want = type.number(a[k].low), y = type.number(b[k].low), wideZ = z;
                    if (flag) {
                      bool inexact;
                      for (APFloat *v : {&want, &y, &wideZ})
                        v->convert(wide, APFloat::rmNearestTiesToEven, &inexact);
                      const bool large = abs(z).compare(type.rounded(2)) != APFloat::cmpLessThan && !z.isNaN();
                      // Rounded to odd, so that the one rounding that follows is right.
                      if (want.fusedMultiplyAdd(y, wideZ, APFloat::rmTowardZero) & APFloat::opInexact)
                        want = APFloat(wide, want.bitcastToAPInt() | 1);
                      want = scalbn(want, large ? scale : -scale, APFloat::rmNearestTiesToEven);
                      want.convert(type.semantics(), APFloat::rmNearestTiesToEven, &inexact);
                    } else
                      want.fusedMultiplyAdd(y, z, APFloat::rmNearestTiesToEven);
                    ASSERT_TRUE(sameFloat(type, got.low, slot(want).low))
                        << show(type, a[k].low) << " * " << show(type, b[k].low) << " + " << show(type, c[k].low)
                        << " gives " << show(type, got.low) << ", not " << show(type, slot(want).low)
                        << (flag ? ", scaled" : "");
                  });
}

TEST_P(Division, FixupDecidesTheSpecialCases) {
  const FloatType &type = GetParam();
  std::mt19937_64 random(kSeed + 3);
  Values q = operandsOf(type, random, 8192), d = shuffled(q, random), n = shuffled(q, random);
  const uint64_t infinity = slot(APFloat::getInf(type.semantics())).low, sign = uint64_t(1) << (type.bits - 1);
  const Values special{slot(uint64_t(0)),
                       slot(sign),
                       slot(infinity),
                       slot(infinity | sign),
                       slot(APFloat::getNaN(type.semantics())),
                       slot(type.rounded(1)),
                       slot(type.rounded(-3))};
  for (const Slot &x : special) // every combination of them
    for (const Slot &y : special)
      for (const Slot &z : special)
        q.push_back(x), d.push_back(y), n.push_back(z);
  const auto field = [&](uint64_t v) { return int64_t((v & ~sign) >> type.mantissa); };
  forEachResult(callOf(std::string("amdgcn.div.fixup.") + type.suffix, type.ir, {type.ir, type.ir, type.ir}), {q, d, n},
                [&](size_t k, Slot got) {
                  const APFloat quotient = type.number(q[k].low), y = type.number(d[k].low), x = type.number(n[k].low);
                  const uint64_t out = (slot(x).low ^ slot(y).low) & sign;
                  uint64_t want = (slot(quotient).low & ~sign) | out;
                  if (x.isNaN() || y.isNaN() || (x.isZero() && y.isZero()) || (x.isInfinity() && y.isInfinity()))
                    want = slot(APFloat::getNaN(type.semantics())).low;
                  else if (y.isZero() || x.isInfinity())
                    want = infinity | out;
                  else if (y.isInfinity() || x.isZero())
                    want = out;
                  else if (field(slot(x).low) - field(slot(y).low) < (type.bits == 32 ? -150 : -1075))
                    want = out;
                  else if (quotient.isNaN()) // the steps before overflow
                    want = infinity | out;
                  ASSERT_TRUE(sameFloat(type, got.low, want))
                      << show(type, n[k].low) << " / " << show(type, d[k].low) << " with " << show(type, q[k].low)
                      << " gives " << show(type, got.low) << ", not " << show(type, want);
                });
}

TEST(DivisionOfHalves, IsNamed) {
  EXPECT_NE(errorOf(callOf("amdgcn.div.fixup.f16", "half", {"half", "half", "half"})).find("llvm.amdgcn.div.fixup.f16"),
            std::string::npos);
}

} // namespace
} // namespace wavesan::cpu::test
