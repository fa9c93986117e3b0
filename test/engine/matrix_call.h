// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One intrinsic on operands that are given lane by lane, bit by bit: how matrix instructions are tested. Numbers are
// encoded by LLVM's arbitrary-precision floats.
#ifndef WAVESAN_TEST_MATRIX_CALL_H
#define WAVESAN_TEST_MATRIX_CALL_H

#include "engine_fixture.h"

#include <optional>

namespace wavesan::cpu::test {

enum class Number { F32, F16, BF16, FP8, BF8, FP8Fnuz, BF8Fnuz, FP6, BF6, FP4, Scale, I32, I8, I4 };
int bitsOf(Number number);
bool isInteger(Number number);
/// The nearest number of that kind; integers wrap.
uint32_t encode(Number number, double value);
double decode(Number number, uint32_t bits);

/// What each lane of a wave has of an operand.
class LaneBits {
public:
  LaneBits(int lanes, int bitsPerLane)
      : lanes(lanes), dwordsPerLane((bitsPerLane + 31) / 32), values(size_t(lanes * dwordsPerLane)) {}
  void put(int lane, int firstBit, int bits, uint32_t value);
  uint32_t get(int lane, int firstBit, int bits) const;
  bool operator==(const LaneBits &) const = default;

  int lanes, dwordsPerLane;
  std::vector<uint32_t> values; ///< of lane 0, of lane 1, ...
};

struct MatrixOperand {
  std::string type; ///< of the IR
  const LaneBits *bits = nullptr;
  std::string immediate; ///< instead of bits
};
inline MatrixOperand immediate(const std::string &type, int value) { return {type, nullptr, std::to_string(value)}; }

struct MatrixCall {
  std::string intrinsic; ///< with its suffixes, without "llvm.amdgcn."
  std::string target, result;
  std::vector<MatrixOperand> operands;
  int firstActive = 0; ///< lanes before it do not take part
};
/// Runs it in one wave. Lanes that do not take part keep 0xee in every byte.
LaneBits execute(const MatrixCall &call, int resultBits);
/// The error of one that is refused; fails the test if it is not.
std::string errorOf(const MatrixCall &call);

/// "<4 x float>", or "float" if n is 1.
std::string vectorType(int n, const std::string &scalar);

} // namespace wavesan::cpu::test

#endif // WAVESAN_TEST_MATRIX_CALL_H
