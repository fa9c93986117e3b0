// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "elementwise.h"

#include "llvm/ADT/SmallString.h"

#include <algorithm>
#include <cmath>

namespace wavesan::cpu::test {

using llvm::APFloat;
using llvm::APInt;

const FloatType kHalf{"half", "f16", APFloat::IEEEhalf, 16, 10}, kBFloat{"bfloat", "bf16", APFloat::BFloat, 16, 7},
    kSingle{"float", "f32", APFloat::IEEEsingle, 32, 23}, kDouble{"double", "f64", APFloat::IEEEdouble, 64, 52};

namespace {

constexpr size_t kWorkgroup = 64;
constexpr Slot kUntouched{0x5a5a5a5a5a5a5a5a, 0x5a5a5a5a5a5a5a5a};
/// Lanes that execute: all, few (visited one by one), many (computed for all and blended).
const char *const kConditions[] = {"icmp uge i32 %t, 0", "icmp eq i32 %t, 7", "icmp ne i32 %t, 7"};
bool executes(size_t condition, size_t lane) { return condition == 0 || (lane == 7) == (condition == 1); }

const char *const kNames[] = {"%a", "%b", "%c"};

std::string kernelOf(const Operation &o, const char *condition) {
  std::string loads;
  for (size_t k = 0; k < o.types.size(); ++k) {
    const std::string name = std::string(kNames[k]).substr(1);
    loads += "  %g" + name + " = getelementptr i128, ptr addrspace(1) %p" + name + ", i32 %i\n  %" + name + " = load " +
             o.types[k] + ", ptr addrspace(1) %g" + name + "\n";
  }
  return "define amdgpu_kernel void @k(ptr addrspace(1) %pa, ptr addrspace(1) %pb, ptr addrspace(1) %pc, "
         "ptr addrspace(1) %out) {\nentry:\n  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
         "  %w = call i32 @llvm.amdgcn.workgroup.id.x()\n  %wn = mul i32 %w, 64\n  %i = add i32 %wn, %t\n  %cond = " +
         std::string(condition) + "\n  br i1 %cond, label %then, label %end\nthen:\n" + loads + o.body +
         "\n  %go = getelementptr i128, ptr addrspace(1) %out, i32 %i\n  store " + o.result +
         " %r, ptr addrspace(1) %go\n  br label %end\nend:\n  ret void\n}\n"
         "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare i32 @llvm.amdgcn.workgroup.id.x()\n" +
         o.declarations;
}

} // namespace

Operation callOf(const std::string &intrinsic, const std::string &result, const std::vector<std::string> &types,
                 const std::vector<std::string> &immediates) {
  std::string call = "  %r = call " + result + " @llvm." + intrinsic + "(",
              declare = "declare " + result + " @llvm." + intrinsic + "(";
  const char *comma = "";
  for (size_t k = 0; k < types.size(); ++k, comma = ", ") {
    call += comma + types[k] + " " + kNames[k];
    declare += comma + types[k];
  }
  for (const std::string &immediate : immediates) {
    call += comma + immediate;
    declare += comma + immediate.substr(0, immediate.rfind(' '));
    comma = ", ";
  }
  return {call + ")", declare + ")\n", types, result};
}

void forEachResult(const Operation &operation, const std::vector<Values> &operands,
                   const std::function<void(size_t, Slot)> &check) {
  const size_t count = operands.front().size(), groups = (count + kWorkgroup - 1) / kWorkgroup;
  std::vector<Values> in(3, Values(groups * kWorkgroup));
  for (size_t k = 0; k < operands.size(); ++k) {
    ASSERT_EQ(operands[k].size(), count);
    std::copy(operands[k].begin(), operands[k].end(), in[k].begin());
  }
  Options options;
  options.target = operation.target;
  for (size_t condition = 0; condition < std::size(kConditions); ++condition) {
    Values out(groups * kWorkgroup, kUntouched);
    runText(kernelOf(operation, kConditions[condition]), linear(uint32_t(out.size()), kWorkgroup),
            arguments(in[0].data(), in[1].data(), in[2].data(), out.data()), options);
    if (testing::Test::HasFatalFailure())
      return;
    for (size_t k = 0; k < count; ++k) {
      if (executes(condition, k % kWorkgroup))
        check(k, out[k]);
      else
        ASSERT_EQ(out[k], kUntouched) << operation.body << ": lane " << k % kWorkgroup << " does not execute";
      if (testing::Test::HasFatalFailure()) // the first says enough
        return;
    }
  }
}

std::string errorOf(const Operation &operation) {
  Options options;
  options.target = operation.target;
  auto program = load(assemble(kernelOf(operation, kConditions[0])), options);
  if (!program)
    return "";
  Values in(kWorkgroup), out(kWorkgroup);
  const Outcome outcome = run(*program, "k", linear(kWorkgroup, kWorkgroup),
                              arguments(in.data(), in.data(), in.data(), out.data()), options);
  EXPECT_NE(outcome.kind, Outcome::Success) << operation.body;
  return outcome.message;
}

APFloat FloatType::rounded(long double v) const {
  if (std::isnan(v))
    return APFloat::getNaN(semantics());
  // A long double has bits to spare: two steps are right if the first rounds to odd.
  double d = double(v);
  if ((long double)d != v && std::isfinite(d) && bits != 64) {
    uint64_t u = std::bit_cast<uint64_t>(d);
    if (std::fabs((long double)d) > std::fabs(v))
      --u;
    d = std::bit_cast<double>(u | 1);
  }
  APFloat number(d);
  bool inexact;
  number.convert(semantics(), APFloat::rmNearestTiesToEven, &inexact);
  return number;
}

Values edgesAndRandom(const FloatType &type, std::mt19937_64 &random, size_t count) {
  const llvm::fltSemantics &s = type.semantics();
  Values values;
  for (const bool negative : {false, true}) {
    const auto add = [&](APFloat v) { values.push_back(slot(v)); };
    add(APFloat::getZero(s, negative));
    add(APFloat::getInf(s, negative));
    add(APFloat::getNaN(s, negative));
    add(APFloat::getSNaN(s, negative));
    add(APFloat::getSmallest(s, negative));
    add(APFloat::getSmallestNormalized(s, negative));
    APFloat below = APFloat::getSmallestNormalized(s, negative);
    below.next(!negative);
    add(below);
    add(APFloat::getLargest(s, negative));
    for (const double v : {0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0.75, 1e-3, 127.0, 128.0, 255.0, 256.0, 32768.0, 65536.0,
                           2147483648.0, 4294967296.0, 9223372036854775808.0, 18446744073709551616.0}) {
      APFloat number = type.rounded(negative ? -(long double)v : (long double)v);
      add(number);
      if (number.isFinite()) {
        number.next(false);
        add(number);
        number.next(true), number.next(true);
        add(number);
      }
    }
  }
  while (values.size() < count) {
    if (random() % 3) { // ordinary magnitudes
      const double v = (double(random() >> 11) * 0x1p-53 * 2 - 1) * std::ldexp(1.0, int(random() % 16) - 6);
      values.push_back(slot(type.rounded(v)));
    } else
      values.push_back(slot(type.number(random())));
  }
  return values;
}

Values edgesAndRandom(unsigned bits, std::mt19937_64 &random, size_t count) {
  Values values;
  const auto add = [&](const APInt &v) {
    const APInt wide = v.zext(128);
    values.push_back({wide.extractBitsAsZExtValue(64, 0), wide.extractBitsAsZExtValue(64, 64)});
  };
  for (const uint64_t v : {0,     1,      2,      3,      4,       7,        8,        12,       13,       15,   16,
                           23,    24,     31,     32,     33,      63,       64,       65,       0x7f,     0x80, 0xff,
                           0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000, 0xffffff, 0x1000000}) {
    add(APInt(bits, v, false, true));
    add(-APInt(bits, v, false, true));
  }
  add(APInt::getSignedMinValue(bits)), add(APInt::getSignedMaxValue(bits));
  add(APInt::getSignedMinValue(bits) + 1), add(APInt::getSignedMaxValue(bits) - 1);
  while (values.size() < count) {
    APInt v(128, random());
    v = (v << 64) | APInt(128, random());
    add(v.trunc(bits).lshr(random() % 4 ? 0 : unsigned(random() % bits)));
  }
  return values;
}

Values shuffled(Values values, std::mt19937_64 &random) {
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

bool sameFloat(const FloatType &type, uint64_t a, uint64_t b) {
  return distanceInUlps(type, a, b) == 0 && (type.number(a).isNaN() || type.number(a).bitwiseIsEqual(type.number(b)));
}

uint64_t distanceInUlps(const FloatType &type, uint64_t a, uint64_t b) {
  const APFloat x = type.number(a), y = type.number(b);
  if (x.isNaN() || y.isNaN())
    return x.isNaN() && y.isNaN() ? 0 : ~uint64_t(0);
  const auto place = [&](const APFloat &v) {
    const uint64_t magnitude = llvm::abs(v).bitcastToAPInt().getZExtValue();
    return v.isNegative() ? -__int128(magnitude) : __int128(magnitude);
  };
  const __int128 d = place(x) - place(y);
  return uint64_t(d < 0 ? -d : d);
}

std::string show(const FloatType &type, uint64_t bits) {
  llvm::SmallString<40> text;
  type.number(bits).toString(text);
  char hex[32];
  std::snprintf(hex, sizeof hex, " (0x%llx)", (unsigned long long)type.number(bits).bitcastToAPInt().getZExtValue());
  return text.str().str() + hex;
}

} // namespace wavesan::cpu::test
