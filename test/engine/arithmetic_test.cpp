// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer and floating-point operations of every width against LLVM's own arbitrary-precision arithmetic, with full
// waves, with few lanes and with many.
#include "engine_fixture.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/SmallString.h"

#include <random>

namespace wavesan::cpu::test {
namespace {

using llvm::APFloat;
using llvm::APInt;

/// Lanes that execute: all, a few (visited one by one), many (blended).
const char *const kConditions[] = {"icmp uge i32 %t, 0", "icmp eq i32 %t, 7", "icmp ne i32 %t, 7"};
bool executes(size_t condition, uint32_t lane) { return condition == 0 || (lane == 7) == (condition == 1); }

/// out[lane] = op(a[lane], b[lane], c[lane]) for the lanes of the condition; 64-bit slots.
std::string kernelOf(const std::string &type, const std::string &result, const std::string &operation,
                     const std::string &declarations, const std::string &condition, bool wide) {
  const std::string slot = wide ? "i128" : "i64";
  return "define amdgpu_kernel void @k(ptr addrspace(1) %pa, ptr addrspace(1) %pb, ptr addrspace(1) %pc, "
         "ptr addrspace(1) %out) {\nentry:\n  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %cond = " +
         condition + "\n  br i1 %cond, label %then, label %end\nthen:\n" + "  %ga = getelementptr " + slot +
         ", ptr addrspace(1) %pa, i32 %t\n  %a = load " + type + ", ptr addrspace(1) %ga\n" + "  %gb = getelementptr " +
         slot + ", ptr addrspace(1) %pb, i32 %t\n  %b = load " + type + ", ptr addrspace(1) %gb\n" +
         "  %gc = getelementptr " + slot + ", ptr addrspace(1) %pc, i32 %t\n  %c = load " + type +
         ", ptr addrspace(1) %gc\n" + operation + "\n  %go = getelementptr " + slot +
         ", ptr addrspace(1) %out, i32 %t\n  store " + result +
         " %r, ptr addrspace(1) %go\n  br label %end\nend:\n  ret void\n}\n" +
         "declare i32 @llvm.amdgcn.workitem.id.x()\n" + declarations;
}

struct Slots {
  alignas(16) unsigned __int128 wide[64];
  uint64_t narrow[64];
};

struct IntOp {
  std::string name;
  std::string text; ///< T stands for the type
  std::function<APInt(const APInt &, const APInt &, const APInt &)> expected;
  std::string declaration;
  bool evenOnly = false, noWide = false, notOne = false, bytes = false;
};

std::string with(std::string text, const std::string &type) {
  for (size_t at; (at = text.find('T')) != std::string::npos;)
    text.replace(at, 1, type);
  return text;
}

std::vector<IntOp> intOps() {
  const auto call = [](const char *name, int operands) {
    std::string text = std::string("  %r = call T @llvm.") + name + ".T(",
                declaration = "declare T @llvm." + std::string(name) + ".T(";
    const char *const names[] = {"%a", "%b", "%c"};
    for (int k = 0; k < operands; ++k) {
      text += std::string(k ? ", T " : "T ") + names[k];
      declaration += k ? ", T" : "T";
    }
    return std::pair(text + ")", declaration + ")");
  };
  std::vector<IntOp> ops;
  const auto plain = [&](const char *name, auto expected) {
    ops.push_back({name, std::string("  %r = ") + name + " T %a, %b", expected, "", false, false, false, false});
  };
  const auto shift = [&](const char *name, auto expected) {
    ops.push_back({name, std::string("  %s = urem T %b, #\n  %r = ") + name + " T %a, %s", expected, "", false, false,
                   true, false});
  };
  const auto divide = [&](const char *name, auto expected) {
    ops.push_back({name, std::string("  %s = or T %b, 1\n  %r = ") + name + " T %a, %s", expected, "", false, false,
                   true, false});
  };
  const auto compare = [&](const char *name, auto expected) {
    ops.push_back({std::string("icmp ") + name,
                   std::string("  %f = icmp ") + name + " T %a, %b\n  %r = select i1 %f, T %a, T %c", expected, "",
                   false, false, false, false});
  };
  using A = const APInt &;
  plain("add", [](A a, A b, A) { return a + b; });
  plain("sub", [](A a, A b, A) { return a - b; });
  plain("mul", [](A a, A b, A) { return a * b; });
  plain("and", [](A a, A b, A) { return a & b; });
  plain("or", [](A a, A b, A) { return a | b; });
  plain("xor", [](A a, A b, A) { return a ^ b; });
  shift("shl", [](A a, A b, A) { return a.shl(b.urem(b.getBitWidth())); });
  shift("lshr", [](A a, A b, A) { return a.lshr(b.urem(b.getBitWidth())); });
  shift("ashr", [](A a, A b, A) { return a.ashr(b.urem(b.getBitWidth())); });
  divide("udiv", [](A a, A b, A) { return a.udiv(b | 1); });
  divide("urem", [](A a, A b, A) { return a.urem(b | 1); });
  divide("sdiv", [](A a, A b, A) { return a.sdiv(b | 1); });
  divide("srem", [](A a, A b, A) { return a.srem(b | 1); });
  compare("eq", [](A a, A b, A c) { return a == b ? a : c; });
  compare("ne", [](A a, A b, A c) { return a != b ? a : c; });
  compare("ult", [](A a, A b, A c) { return a.ult(b) ? a : c; });
  compare("ule", [](A a, A b, A c) { return a.ule(b) ? a : c; });
  compare("ugt", [](A a, A b, A c) { return a.ugt(b) ? a : c; });
  compare("uge", [](A a, A b, A c) { return a.uge(b) ? a : c; });
  compare("slt", [](A a, A b, A c) { return a.slt(b) ? a : c; });
  compare("sle", [](A a, A b, A c) { return a.sle(b) ? a : c; });
  compare("sgt", [](A a, A b, A c) { return a.sgt(b) ? a : c; });
  compare("sge", [](A a, A b, A c) { return a.sge(b) ? a : c; });
  const auto intrinsic = [&](const char *name, int operands, auto expected, bool evenOnly = false, bool bytes = false) {
    const auto [text, declaration] = call(name, operands);
    ops.push_back({name, text, expected, declaration, evenOnly, false, false, bytes});
  };
  intrinsic("smin", 2, [](A a, A b, A) { return a.slt(b) ? a : b; });
  intrinsic("smax", 2, [](A a, A b, A) { return a.sgt(b) ? a : b; });
  intrinsic("umin", 2, [](A a, A b, A) { return a.ult(b) ? a : b; });
  intrinsic("umax", 2, [](A a, A b, A) { return a.ugt(b) ? a : b; });
  intrinsic("uadd.sat", 2, [](A a, A b, A) { return a.uadd_sat(b); }, true);
  intrinsic("usub.sat", 2, [](A a, A b, A) { return a.usub_sat(b); });
  intrinsic("sadd.sat", 2, [](A a, A b, A) { return a.sadd_sat(b); }, true);
  intrinsic("ssub.sat", 2, [](A a, A b, A) { return a.ssub_sat(b); }, true);
  intrinsic("ctpop", 1, [](A a, A, A) { return APInt(a.getBitWidth(), a.popcount()); });
  intrinsic("bitreverse", 1, [](A a, A, A) { return a.reverseBits(); });
  intrinsic("bswap", 1, [](A a, A, A) { return a.byteSwap(); }, false, true);
  intrinsic(
      "fshl", 3,
      [](A a, A b, A c) {
        const unsigned n = a.getBitWidth(), s = unsigned(c.urem(n));
        return s ? a.shl(s) | b.lshr(n - s) : a;
      },
      true);
  intrinsic(
      "fshr", 3,
      [](A a, A b, A c) {
        const unsigned n = a.getBitWidth(), s = unsigned(c.urem(n));
        return s ? a.shl(n - s) | b.lshr(s) : b;
      },
      true);
  const auto zeroDefined = [&](const char *name, auto expected) {
    ops.push_back({name, std::string("  %r = call T @llvm.") + name + ".T(T %a, i1 false)", expected,
                   std::string("declare T @llvm.") + name + ".T(T, i1)", false, false, true, false});
  };
  zeroDefined("ctlz", [](A a, A, A) { return APInt(a.getBitWidth(), a.countl_zero()); });
  zeroDefined("cttz", [](A a, A, A) { return APInt(a.getBitWidth(), a.countr_zero()); });
  zeroDefined("abs", [](A a, A, A) { return a.abs(); });
  const auto overflow = [&](const char *name, auto test, auto value) {
    ops.push_back({name,
                   std::string("  %p = call {T, i1} @llvm.") + name +
                       ".with.overflow.T(T %a, T %b)\n"
                       "  %v = extractvalue {T, i1} %p, 0\n  %f = extractvalue {T, i1} %p, 1\n"
                       "  %r = select i1 %f, T %c, T %v",
                   [=](A a, A b, A c) { return test(a, b) ? c : value(a, b); },
                   std::string("declare {T, i1} @llvm.") + name + ".with.overflow.T(T, T)", true,
                   std::string(name).find("mul") == 1, false, false});
  };
  overflow(
      "uadd",
      [](A a, A b) {
        bool o;
        (void)a.uadd_ov(b, o);
        return o;
      },
      [](A a, A b) { return a + b; });
  overflow(
      "sadd",
      [](A a, A b) {
        bool o;
        (void)a.sadd_ov(b, o);
        return o;
      },
      [](A a, A b) { return a + b; });
  overflow(
      "usub",
      [](A a, A b) {
        bool o;
        (void)a.usub_ov(b, o);
        return o;
      },
      [](A a, A b) { return a - b; });
  overflow(
      "ssub",
      [](A a, A b) {
        bool o;
        (void)a.ssub_ov(b, o);
        return o;
      },
      [](A a, A b) { return a - b; });
  overflow(
      "umul",
      [](A a, A b) {
        bool o;
        (void)a.umul_ov(b, o);
        return o;
      },
      [](A a, A b) { return a * b; });
  overflow(
      "smul",
      [](A a, A b) {
        bool o;
        (void)a.smul_ov(b, o);
        return o;
      },
      [](A a, A b) { return a * b; });
  return ops;
}

class IntWidths : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(All, IntWidths, testing::Values(1, 7, 8, 16, 17, 24, 32, 33, 48, 64, 65, 128));

TEST_P(IntWidths, EveryOperation) {
  const unsigned bits = GetParam();
  const bool wide = bits > 64, even = bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128;
  const std::string type = "i" + std::to_string(bits);
  std::mt19937_64 random(bits);
  std::vector<APInt> a, b, c;
  for (uint32_t i = 0; i < 64; ++i) {
    const auto make = [&] {
      APInt v(128, random());
      v = (v << 64) | APInt(128, random());
      switch (random() % 6) { // small, negative and extreme values are where mistakes are
      case 0:
        v = APInt(128, random() % 5);
        break;
      case 1:
        v = -APInt(128, random() % 5);
        break;
      case 2:
        v = APInt::getSignedMinValue(bits).zext(128);
        break;
      case 3:
        v = APInt::getSignedMaxValue(bits).zext(128);
        break;
      default:
        break;
      }
      return v.trunc(bits);
    };
    a.push_back(make());
    b.push_back(random() % 8 ? make() : a.back());
    c.push_back(make());
  }
  for (const IntOp &op : intOps()) {
    if ((op.evenOnly && !even) || (op.noWide && wide) || (op.notOne && bits == 1) || (op.bytes && bits % 16) ||
        (bits == 1 && (op.name == "sdiv" || op.name == "srem")))
      continue;
    for (size_t condition = 0; condition < std::size(kConditions); ++condition) {
      std::string text = with(op.text, type);
      if (const size_t at = text.find("#"); at != std::string::npos)
        text.replace(at, 1, std::to_string(bits));
      auto slots = std::make_unique<Slots[]>(4);
      const std::vector<APInt> *inputs[] = {&a, &b, &c};
      for (size_t k = 0; k < 3; ++k)
        for (size_t i = 0; i < 64; ++i) {
          const APInt v = (*inputs[k])[i].zextOrTrunc(128);
          slots[k].narrow[i] = v.extractBitsAsZExtValue(64, 0);
          slots[k].wide[i] = (unsigned __int128)(v.extractBitsAsZExtValue(64, 64)) << 64 | slots[k].narrow[i];
        }
      std::memset(&slots[3], 0x5a, sizeof(Slots));
      // Stored as a whole container, so that stray bits above the type show.
      const std::string container = wide ? "i128" : "i64";
      if (type != container)
        text = text.substr(0, text.rfind("%r = ")) + "%q = " + text.substr(text.rfind("%r = ") + 5) + "\n  %r = zext " +
               type + " %q to " + container;
      const auto base = [&](size_t k) { return wide ? (void *)slots[k].wide : (void *)slots[k].narrow; };
      runText(kernelOf(type, container, text, with(op.declaration, type), kConditions[condition], wide), linear(64, 64),
              arguments(base(0), base(1), base(2), base(3)));
      for (uint32_t i = 0; i < 64; ++i) {
        const APInt want = op.expected(a[i], b[i], c[i]).zextOrTrunc(128);
        APInt got(128, wide ? uint64_t(slots[3].wide[i] >> 64) : 0);
        got = (got << 64) | APInt(128, wide ? uint64_t(slots[3].wide[i]) : slots[3].narrow[i]);
        const APInt untouched = APInt::getSplat(128, APInt(8, 0x5a)).trunc(wide ? 128 : 64).zext(128);
        ASSERT_EQ(got, executes(condition, i) ? want : untouched)
            << op.name << " " << type << " lane " << i << " condition " << condition;
      }
    }
  }
}

TEST(Integers, CastsBetweenAllWidths) {
  const unsigned widths[] = {1, 8, 13, 16, 32, 40, 64, 128};
  std::mt19937_64 random(3);
  for (const unsigned from : widths)
    for (const unsigned to : widths) {
      if (from == to)
        continue;
      for (const bool sign : {false, true}) {
        if (to < from && sign)
          continue;
        const std::string f = "i" + std::to_string(from), t = "i" + std::to_string(to);
        const std::string cast = to < from ? "trunc" : sign ? "sext" : "zext";
        const std::string extend = to == 128 ? "" : "\n  %r = zext " + t + " %q to i128";
        auto slots = std::make_unique<Slots[]>(2);
        for (auto &v : slots[0].wide)
          v = (unsigned __int128)(random()) << 64 | random();
        runText(kernelOf(f, "i128",
                         "  " + std::string(to == 128 ? "%r" : "%q") + " = " + cast + " " + f + " %a to " + t + extend,
                         "", kConditions[0], true),
                linear(64, 64), arguments(slots[0].wide, slots[0].wide, slots[0].wide, slots[1].wide));
        for (size_t i = 0; i < 64; ++i) {
          APInt v =
              (APInt(128, uint64_t(slots[0].wide[i] >> 64)) << 64 | APInt(128, uint64_t(slots[0].wide[i]))).trunc(from);
          v = (to < from ? v.trunc(to) : sign ? v.sext(to) : v.zext(to)).zextOrTrunc(128);
          const APInt got = APInt(128, uint64_t(slots[1].wide[i] >> 64)) << 64 | APInt(128, uint64_t(slots[1].wide[i]));
          ASSERT_EQ(got, v) << cast << " " << f << " to " << t;
        }
      }
    }
}

struct FloatFormat {
  const char *type;
  const char *suffix;
  const llvm::fltSemantics &(*semantics)();
  unsigned bits;
};
const FloatFormat kFormats[] = {{"half", "f16", APFloat::IEEEhalf, 16},
                                {"bfloat", "bf16", APFloat::BFloat, 16},
                                {"float", "f32", APFloat::IEEEsingle, 32},
                                {"double", "f64", APFloat::IEEEdouble, 64}};

std::vector<APFloat> floats(const FloatFormat &format, std::mt19937_64 &random) {
  std::vector<APFloat> values;
  const llvm::fltSemantics &s = format.semantics();
  for (uint32_t i = 0; i < 64; ++i)
    switch (i % 16) {
    case 0:
      values.push_back(APFloat::getZero(s, random() & 1));
      break;
    case 1:
      values.push_back(APFloat::getInf(s, random() & 1));
      break;
    case 2:
      values.push_back(APFloat::getNaN(s));
      break;
    case 3:
      values.push_back(APFloat::getSmallest(s, random() & 1));
      break;
    case 4:
      values.push_back(APFloat::getLargest(s, random() & 1));
      break;
    case 5:
    case 6:
    case 7:
    case 8: { // ordinary magnitudes
      APFloat v(double(int64_t(random() % 20001) - 10000) / 128);
      bool lost;
      v.convert(s, APFloat::rmNearestTiesToEven, &lost);
      values.push_back(v);
      break;
    }
    default:
      values.push_back(APFloat(s, APInt(64, random()).trunc(format.bits)));
      break;
    }
  return values;
}

/// Same value; any NaN equals any NaN.
bool same(const APFloat &x, const APFloat &y) { return (x.isNaN() && y.isNaN()) || x.bitwiseIsEqual(y); }
std::string show(const APFloat &v) {
  llvm::SmallString<40> text;
  v.toString(text);
  return text.str().str();
}

class FloatFormats : public testing::TestWithParam<FloatFormat> {};
INSTANTIATE_TEST_SUITE_P(All, FloatFormats, testing::ValuesIn(kFormats),
                         [](const auto &info) { return std::string(info.param.type); });

TEST_P(FloatFormats, EveryOperationRoundsCorrectly) {
  const FloatFormat &format = GetParam();
  using F = const APFloat &;
  struct Op {
    std::string text, declaration;
    std::function<APFloat(F, F, F)> expected;
  };
  const auto nearest = APFloat::rmNearestTiesToEven;
  const auto call = [&](const std::string &name, int operands, std::function<APFloat(F, F, F)> expected) {
    const char *const names[] = {"%a", "%b", "%c"};
    std::string text = "  %r = call T @llvm." + name + "." + format.suffix + "(",
                declaration = "declare T @llvm." + name + "." + format.suffix + "(";
    for (int k = 0; k < operands; ++k) {
      text += std::string(k ? ", T " : "T ") + names[k];
      declaration += k ? ", T" : "T";
    }
    return Op{text + ")", declaration + ")", std::move(expected)};
  };
  const auto rounded = [](F a, APFloat::roundingMode mode) {
    APFloat v = a;
    v.roundToIntegral(mode);
    return v;
  };
  const std::vector<Op> ops = {
      {"  %r = fadd T %a, %b", "",
       [&](F a, F b, F) {
         APFloat v = a;
         v.add(b, nearest);
         return v;
       }},
      {"  %r = fsub T %a, %b", "",
       [&](F a, F b, F) {
         APFloat v = a;
         v.subtract(b, nearest);
         return v;
       }},
      {"  %r = fmul T %a, %b", "",
       [&](F a, F b, F) {
         APFloat v = a;
         v.multiply(b, nearest);
         return v;
       }},
      {"  %r = fdiv T %a, %b", "",
       [&](F a, F b, F) {
         APFloat v = a;
         v.divide(b, nearest);
         return v;
       }},
      {"  %r = fneg T %a", "", [&](F a, F, F) { return -a; }},
      {"  %f = fcmp olt T %a, %b\n  %r = select i1 %f, T %a, T %c", "", [](F a, F b, F c) { return a < b ? a : c; }},
      {"  %f = fcmp uge T %a, %b\n  %r = select i1 %f, T %a, T %c", "", [](F a, F b, F c) { return a < b ? c : a; }},
      {"  %f = fcmp uno T %a, %b\n  %r = select i1 %f, T %b, T %c", "",
       [](F a, F b, F c) { return a.isNaN() || b.isNaN() ? b : c; }},
      {"  %f = fcmp one T %a, %b\n  %r = select i1 %f, T %a, T %c", "",
       [](F a, F b, F c) { return a < b || a > b ? a : c; }},
      call("fma", 3,
           [&](F a, F b, F c) {
             APFloat v = a;
             v.fusedMultiplyAdd(b, c, nearest);
             return v;
           }),
      call("fabs", 1, [](F a, F, F) { return llvm::abs(a); }),
      call("copysign", 2, [](F a, F b, F) { return APFloat::copySign(a, b); }),
      call("floor", 1, [&](F a, F, F) { return rounded(a, APFloat::rmTowardNegative); }),
      call("ceil", 1, [&](F a, F, F) { return rounded(a, APFloat::rmTowardPositive); }),
      call("trunc", 1, [&](F a, F, F) { return rounded(a, APFloat::rmTowardZero); }),
      call("rint", 1, [&](F a, F, F) { return rounded(a, APFloat::rmNearestTiesToEven); }),
      call("round", 1, [&](F a, F, F) { return rounded(a, APFloat::rmNearestTiesToAway); }),
      call("minnum", 2, [](F a, F b, F) { return llvm::minimumnum(a, b); }),
      call("maxnum", 2, [](F a, F b, F) { return llvm::maximumnum(a, b); }),
      call("minimum", 2, [](F a, F b, F) { return llvm::minimum(a, b); }),
      call("maximum", 2, [](F a, F b, F) { return llvm::maximum(a, b); }),
  };
  std::mt19937_64 random(format.bits);
  for (int repeat = 0; repeat < 12; ++repeat) {
    const std::vector<APFloat> inputs[] = {floats(format, random),
                                           [&] {
                                             auto v = floats(format, random);
                                             std::shuffle(v.begin(), v.end(), random);
                                             return v;
                                           }(),
                                           floats(format, random)};
    Slots slots[4];
    for (size_t k = 0; k < 3; ++k)
      for (size_t i = 0; i < 64; ++i)
        slots[k].narrow[i] = inputs[k][i].bitcastToAPInt().getZExtValue();
    for (const Op &op : ops)
      for (size_t condition = 0; condition < std::size(kConditions); ++condition) {
        runText(kernelOf(format.type, format.type, with(op.text, format.type), with(op.declaration, format.type),
                         kConditions[condition], false),
                linear(64, 64), arguments(slots[0].narrow, slots[1].narrow, slots[2].narrow, slots[3].narrow));
        for (uint32_t i = 0; i < 64; ++i) {
          if (!executes(condition, i))
            continue;
          const APFloat got(format.semantics(), APInt(64, slots[3].narrow[i]).trunc(format.bits));
          const APFloat want = op.expected(inputs[0][i], inputs[1][i], inputs[2][i]);
          ASSERT_TRUE(same(got, want)) << op.text << " " << format.type << ": " << show(inputs[0][i]) << ", "
                                       << show(inputs[1][i]) << ", " << show(inputs[2][i]) << " gives " << show(got)
                                       << ", not " << show(want);
        }
      }
  }
}

TEST_P(FloatFormats, Conversions) {
  const FloatFormat &from = GetParam();
  std::mt19937_64 random(from.bits + 1);
  const auto nearest = APFloat::rmNearestTiesToEven;
  for (int repeat = 0; repeat < 8; ++repeat) {
    const auto input = floats(from, random);
    Slots slots[2];
    for (size_t i = 0; i < 64; ++i)
      slots[0].narrow[i] = input[i].bitcastToAPInt().getZExtValue();
    for (const FloatFormat &to : kFormats) {
      if (to.bits == from.bits)
        continue;
      const std::string cast = to.bits > from.bits ? "fpext" : "fptrunc";
      runText(kernelOf(from.type, to.type, "  %r = " + cast + " " + from.type + " %a to " + to.type, "", kConditions[0],
                       false),
              linear(64, 64), arguments(slots[0].narrow, slots[0].narrow, slots[0].narrow, slots[1].narrow));
      for (size_t i = 0; i < 64; ++i) {
        APFloat want = input[i];
        bool lost;
        want.convert(to.semantics(), nearest, &lost);
        const APFloat got(to.semantics(), APInt(64, slots[1].narrow[i]).trunc(to.bits));
        ASSERT_TRUE(same(got, want)) << cast << " " << from.type << " " << show(input[i]) << " to " << to.type
                                     << " gives " << show(got);
      }
    }
    // To integers, saturating; and from integers.
    for (const unsigned bits : {8u, 16u, 32u, 64u})
      for (const bool sign : {false, true}) {
        const std::string t = "i" + std::to_string(bits);
        runText(kernelOf(from.type, t, std::string("  %r = fpto") + (sign ? "si " : "ui ") + from.type + " %a to " + t,
                         "", kConditions[0], false),
                linear(64, 64), arguments(slots[0].narrow, slots[0].narrow, slots[0].narrow, slots[1].narrow));
        for (size_t i = 0; i < 64; ++i) {
          llvm::APSInt want(bits, !sign);
          bool exact;
          input[i].convertToInteger(want, APFloat::rmTowardZero, &exact);
          if (input[i].isNaN())
            want = APInt(bits, 0);
          ASSERT_EQ(APInt(64, slots[1].narrow[i]).trunc(bits), APInt(want)) << show(input[i]) << " to " << t << sign;
        }
        Slots numbers[2];
        for (auto &n : numbers[0].narrow)
          n = random() >> (random() % 64);
        runText(kernelOf(t, from.type,
                         std::string("  %r = ") + (sign ? "si" : "ui") + "tofp " + t + " %a to " + from.type, "",
                         kConditions[0], false),
                linear(64, 64), arguments(numbers[0].narrow, numbers[0].narrow, numbers[0].narrow, numbers[1].narrow));
        for (size_t i = 0; i < 64; ++i) {
          APFloat want(from.semantics());
          want.convertFromAPInt(APInt(64, numbers[0].narrow[i]).trunc(bits), sign, nearest);
          const APFloat got(from.semantics(), APInt(64, numbers[1].narrow[i]).trunc(from.bits));
          ASSERT_TRUE(same(got, want)) << t << " " << numbers[0].narrow[i] << " to " << from.type << " gives "
                                       << show(got);
        }
      }
  }
}

} // namespace
} // namespace wavesan::cpu::test
