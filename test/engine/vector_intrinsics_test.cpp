// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of vectors, in the order that LLVM defines for floats, and parts of vectors.
#include "elementwise.h"

#include "llvm/ADT/APInt.h"

#include <algorithm>

namespace wavesan::cpu::test {
namespace {

using llvm::APFloat;
using llvm::APInt;

constexpr uint64_t kSeed = 20260806;

/// Vectors of `n` elements in slots of 128 bits, packed.
struct Vectors {
  unsigned n, bits;
  Values slots;
  uint64_t element(size_t k, unsigned e) const {
    const APInt all(128, {slots[k].low, slots[k].high});
    return all.extractBitsAsZExtValue(bits, e * bits);
  }
};
Vectors packed(unsigned n, unsigned bits, const Values &elements) {
  Vectors v{n, bits, {}};
  for (size_t k = 0; k + n <= elements.size(); k += n) {
    APInt all(128, 0);
    for (unsigned e = 0; e < n; ++e)
      all.insertBits(APInt(bits, elements[k + e].low, false, true), e * bits);
    v.slots.push_back({all.extractBitsAsZExtValue(64, 0), all.extractBitsAsZExtValue(64, 64)});
  }
  return v;
}

TEST(VectorIntrinsics, IntegerReductions) {
  using A = const APInt &;
  const std::pair<const char *, std::function<APInt(A, A)>> reductions[] = {
      {"add", [](A a, A b) { return a + b; }},
      {"mul", [](A a, A b) { return a * b; }},
      {"and", [](A a, A b) { return a & b; }},
      {"or", [](A a, A b) { return a | b; }},
      {"xor", [](A a, A b) { return a ^ b; }},
      {"smin", [](A a, A b) { return a.slt(b) ? a : b; }},
      {"smax", [](A a, A b) { return a.sgt(b) ? a : b; }},
      {"umin", [](A a, A b) { return a.ult(b) ? a : b; }},
      {"umax", [](A a, A b) { return a.ugt(b) ? a : b; }}};
  for (const unsigned bits : {8u, 16u, 32u, 64u})
    for (const unsigned n : {1u, 2u, 3u, 4u, 8u, 16u}) {
      if (n * bits > 128)
        continue;
      std::mt19937_64 random(kSeed + bits + n);
      const Vectors v = packed(n, bits, shuffled(edgesAndRandom(bits, random, 256 * n), random));
      const std::string type = "i" + std::to_string(bits), vector = "<" + std::to_string(n) + " x " + type + ">",
                        suffix = ".v" + std::to_string(n) + type;
      for (const auto &[name, f] : reductions)
        forEachResult(callOf(std::string("vector.reduce.") + name + suffix, type, {vector}), {v.slots},
                      [&](size_t k, Slot got) {
                        APInt want(bits, v.element(k, 0));
                        for (unsigned e = 1; e < n; ++e)
                          want = f(want, APInt(bits, v.element(k, e)));
                        ASSERT_EQ(APInt(64, got.low).trunc(bits), want)
                            << name << suffix << " of vector " << k << "; seed " << kSeed + bits + n;
                      });
    }
}

class FloatReductions : public testing::TestWithParam<FloatType> {};
INSTANTIATE_TEST_SUITE_P(All, FloatReductions, testing::ValuesIn(allFloatTypes()),
                         [](const auto &info) { return std::string(info.param.ir); });

TEST_P(FloatReductions, FromTheFirstElementOn) {
  const FloatType &type = GetParam();
  using F = const APFloat &;
  struct Reduction {
    const char *name;
    bool hasStart;
    std::function<APFloat(F, F)> f;
  };
  const auto nearest = APFloat::rmNearestTiesToEven;
  const Reduction reductions[] = {{"fadd", true,
                                   [=](F a, F b) {
                                     APFloat r = a;
                                     r.add(b, nearest);
                                     return r;
                                   }},
                                  {"fmul", true,
                                   [=](F a, F b) {
                                     APFloat r = a;
                                     r.multiply(b, nearest);
                                     return r;
                                   }},
                                  {"fmin", false, [](F a, F b) { return llvm::minimumnum(a, b); }},
                                  {"fmax", false, [](F a, F b) { return llvm::maximumnum(a, b); }},
                                  {"fminimum", false, [](F a, F b) { return llvm::minimum(a, b); }},
                                  {"fmaximum", false, [](F a, F b) { return llvm::maximum(a, b); }}};
  for (const unsigned n : {1u, 2u, 3u, 4u, 8u}) {
    if (n * type.bits > 128)
      continue;
    std::mt19937_64 random(kSeed + n);
    const Vectors v = packed(n, type.bits, shuffled(edgesAndRandom(type, random, 512 * n), random));
    const Values start = shuffled(edgesAndRandom(type, random, v.slots.size()), random);
    const std::string vector = "<" + std::to_string(n) + " x " + type.ir + ">",
                      suffix = ".v" + std::to_string(n) + type.suffix;
    for (const Reduction &r : reductions) {
      Operation o = r.hasStart ? callOf(std::string("vector.reduce.") + r.name + suffix, type.ir, {type.ir, vector})
                               : callOf(std::string("vector.reduce.") + r.name + suffix, type.ir, {vector});
      const std::vector<Values> in =
          r.hasStart ? std::vector<Values>{Values(start.begin(), start.begin() + long(v.slots.size())), v.slots}
                     : std::vector<Values>{v.slots};
      forEachResult(o, in, [&](size_t k, Slot got) {
        APFloat want = type.number(r.hasStart ? start[k].low : v.element(k, 0));
        for (unsigned e = r.hasStart ? 0 : 1; e < n; ++e)
          want = r.f(want, type.number(v.element(k, e)));
        ASSERT_TRUE(sameFloat(type, got.low, slot(want).low))
            << r.name << suffix << " of vector " << k << " gives " << show(type, got.low) << ", not "
            << show(type, slot(want).low) << "; seed " << kSeed + n;
      });
    }
  }
}

TEST(VectorIntrinsics, Parts) {
  std::mt19937_64 random(kSeed);
  const Vectors a = packed(4, 32, edgesAndRandom(32, random, 1024)), b = packed(2, 32, edgesAndRandom(32, random, 512));
  const std::string two = "<2 x i32>", four = "<4 x i32>";
  for (const unsigned at : {0u, 2u}) {
    const std::string immediate = "i64 " + std::to_string(at);
    forEachResult(callOf("vector.extract.v2i32.v4i32", two, {four}, {immediate}), {a.slots},
                  [&](size_t k, Slot got) { ASSERT_EQ(got.low, a.element(k, at) | a.element(k, at + 1) << 32); });
    forEachResult(callOf("vector.insert.v4i32.v2i32", four, {four, two}, {immediate}), {a.slots, b.slots},
                  [&](size_t k, Slot got) {
                    Slot want = a.slots[k];
                    (at ? want.high : want.low) = b.slots[k].low;
                    ASSERT_EQ(got, want);
                  });
  }
  forEachResult(callOf("vector.reverse.v4i32", four, {four}), {a.slots}, [&](size_t k, Slot got) {
    ASSERT_EQ(got, (Slot{a.element(k, 3) | a.element(k, 2) << 32, a.element(k, 1) | a.element(k, 0) << 32}));
  });
}

TEST(VectorIntrinsics, Splices) {
  std::mt19937_64 random(kSeed);
  const Vectors a = packed(4, 32, edgesAndRandom(32, random, 1024)),
                b = packed(4, 32, shuffled(edgesAndRandom(32, random, 1024), random));
  for (const bool left : {true, false})
    for (unsigned offset = 0; offset < 4; ++offset) {
      const std::string name = std::string("vector.splice.") + (left ? "left" : "right") + ".v4i32";
      forEachResult(callOf(name, "<4 x i32>", {"<4 x i32>", "<4 x i32>"}, {"i32 " + std::to_string(offset)}),
                    {a.slots, b.slots}, [&](size_t k, Slot got) {
                      const unsigned first = left ? offset : 4 - offset;
                      const auto want = [&](unsigned e) {
                        return first + e < 4 ? a.element(k, first + e) : b.element(k, first + e - 4);
                      };
                      ASSERT_EQ(got, (Slot{want(0) | want(1) << 32, want(2) | want(3) << 32})) << name << " " << offset;
                    });
    }
}

// For each number of vectors, with bytes whose values say where they come from.
TEST(VectorIntrinsics, Interleaving) {
  for (unsigned ways = 2; ways <= 8; ++ways) {
    const unsigned elements = 16 / ways, all = ways * elements;
    const std::string n = std::to_string(ways), part = "<" + std::to_string(elements) + " x i8>",
                      whole = "<" + std::to_string(all) + " x i8>", suffix = n + ".v" + std::to_string(all) + "i8";
    APInt numbers(128, 0);
    for (unsigned e = 0; e < all; ++e)
      numbers.insertBits(APInt(8, e), e * 8);
    const Values in = {{numbers.extractBitsAsZExtValue(64, 0), numbers.extractBitsAsZExtValue(64, 64)}};
    std::string shuffles, arguments, types;
    for (unsigned k = 0; k < ways; ++k) {
      const std::string comma = k ? ", " : "", name = "%p" + std::to_string(k);
      std::string mask;
      for (unsigned e = 0; e < elements; ++e)
        mask += (e ? ", i32 " : "i32 ") + std::to_string(k * elements + e);
      shuffles += "  " + name + " = shufflevector " + whole + " %a, " + whole + " poison, <" +
                  std::to_string(elements) + " x i32> <" + mask + ">\n";
      arguments += comma + part + " " + name;
      types += comma + part;
    }
    const std::string interleave = " @llvm.vector.interleave" + suffix + "(",
                      deinterleave = "{ " + types + " } @llvm.vector.deinterleave" + suffix + "(" + whole;
    forEachResult({shuffles + "  %r = call " + whole + interleave + arguments + ")",
                   "declare " + whole + interleave + types + ")\n",
                   {whole},
                   whole},
                  {in}, [&](size_t, Slot got) {
                    const APInt result(128, {got.low, got.high});
                    for (unsigned e = 0; e < all; ++e)
                      ASSERT_EQ(result.extractBitsAsZExtValue(8, e * 8), e % ways * elements + e / ways)
                          << ways << " ways, element " << e;
                  });
    for (unsigned k = 0; k < ways; ++k)
      forEachResult(
          {"  %s = call " + deinterleave + " %a)\n  %r = extractvalue { " + types + " } %s, " + std::to_string(k),
           "declare " + deinterleave + ")\n",
           {whole},
           part},
          {in}, [&](size_t, Slot got) {
            for (unsigned e = 0; e < elements; ++e)
              ASSERT_EQ(got.low >> e * 8 & 0xff, e * ways + k) << ways << " ways, part " << k;
          });
  }
}

TEST(VectorIntrinsics, TheFirstElementThatIsNotZero) {
  std::mt19937_64 random(kSeed);
  for (const unsigned bits : {8u, 16u, 32u})
    for (const unsigned n : {1u, 2u, 4u}) {
      Values elements;
      for (unsigned k = 0; k < 256 * n; ++k)
        elements.push_back({random() % 3 ? 0 : 1 + random() % 255, 0});
      const Vectors v = packed(n, bits, elements);
      const std::string type = "<" + std::to_string(n) + " x i" + std::to_string(bits) + ">";
      for (const char *result : {"i32", "i64"})
        forEachResult(callOf("experimental.cttz.elts." + std::string(result) + ".v" + std::to_string(n) + "i" +
                                 std::to_string(bits),
                             result, {type}, {"i1 false"}),
                      {v.slots}, [&](size_t k, Slot got) {
                        unsigned want = 0;
                        while (want < n && v.element(k, want) == 0)
                          ++want;
                        ASSERT_EQ(result[1] == '3' ? uint32_t(got.low) : got.low, want) << type;
                      });
    }
}

} // namespace
} // namespace wavesan::cpu::test
