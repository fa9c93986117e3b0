// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One operation on many values: kernels that load up to three operands for each lane, compute, and store a result. They
// run with full waves, with one lane of each wave and with all but one, because the engine has a loop for each.
#ifndef WAVESAN_TEST_ELEMENTWISE_H
#define WAVESAN_TEST_ELEMENTWISE_H

#include "engine_fixture.h"

#include "llvm/ADT/APFloat.h"

#include <bit>
#include <random>

namespace wavesan::cpu::test {

/// Bits of a value of up to 128 bits, from the lowest.
struct Slot {
  uint64_t low = 0, high = 0;
  bool operator==(const Slot &) const = default;
};
inline Slot slot(uint64_t v) { return {v, 0}; }
inline Slot slot(float v) { return {std::bit_cast<uint32_t>(v), 0}; }
inline Slot slot(double v) { return {std::bit_cast<uint64_t>(v), 0}; }
inline Slot slot(const llvm::APFloat &v) { return {v.bitcastToAPInt().getZExtValue(), 0}; }
inline float floatOf(Slot s) { return std::bit_cast<float>(uint32_t(s.low)); }
inline double doubleOf(Slot s) { return std::bit_cast<double>(s.low); }

struct Operation {
  std::string body;               ///< defines %r from %a, %b, %c (as many as there are types)
  std::string declarations;       ///< of what the body calls
  std::vector<std::string> types; ///< of %a, %b, %c
  std::string result;             ///< type of %r
  std::string target = "gfx90a";
};
/// A call of `intrinsic` (with the suffixes of its types) with %a, %b, %c and then `immediates` ("i1 false").
Operation callOf(const std::string &intrinsic, const std::string &result, const std::vector<std::string> &types,
                 const std::vector<std::string> &immediates = {});

using Values = std::vector<Slot>;
/// Runs the operation on values[k] of each operand, and calls check(k, result) for every value and every kind of wave.
/// Operands are as long as the first. Fails the test if a lane that does not execute has stored.
void forEachResult(const Operation &operation, const std::vector<Values> &operands,
                   const std::function<void(size_t, Slot)> &check);

/// The error of a kernel that computes the operation once; fails the test if there is none.
std::string errorOf(const Operation &operation);

/// A floating-point type of the IR.
struct FloatType {
  const char *ir, *suffix;
  const llvm::fltSemantics &(*semantics)();
  unsigned bits, mantissa; ///< mantissa: bits that are stored
  llvm::APFloat number(uint64_t v) const { return {semantics(), llvm::APInt(bits, v, false, true)}; }
  llvm::APFloat rounded(long double v) const;
};
inline void PrintTo(const FloatType &type, std::ostream *os) { *os << type.ir; }
extern const FloatType kHalf, kBFloat, kSingle, kDouble;
inline std::vector<FloatType> allFloatTypes() { return {kHalf, kBFloat, kSingle, kDouble}; }
/// Zeros, infinities, quiet and signalling NaN, denormals, the largest and the smallest numbers, halves around
/// integers, and random bits up to `count` values.
Values edgesAndRandom(const FloatType &type, std::mt19937_64 &random, size_t count);
/// The same for integers of some width: 0, 1, -1, the extremes and their neighbours, shift amounts around 32.
Values edgesAndRandom(unsigned bits, std::mt19937_64 &random, size_t count);
/// Values in another order, so that pairs of operands vary.
Values shuffled(Values values, std::mt19937_64 &random);

/// The same bits, or both NaN.
bool sameFloat(const FloatType &type, uint64_t a, uint64_t b);
/// How many representable numbers lie between two that are not NaN; 0 for two NaN, and very much for one.
uint64_t distanceInUlps(const FloatType &type, uint64_t a, uint64_t b);
std::string show(const FloatType &type, uint64_t bits);

} // namespace wavesan::cpu::test

#endif // WAVESAN_TEST_ELEMENTWISE_H
