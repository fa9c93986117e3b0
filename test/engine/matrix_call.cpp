// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matrix_call.h"

#include "llvm/ADT/APFloat.h"

#include <algorithm>

namespace wavesan::cpu::test {

using llvm::APFloat;

namespace {

const llvm::fltSemantics &semanticsOf(Number number) {
  switch (number) {
  case Number::F32:
    return APFloat::IEEEsingle();
  case Number::F16:
    return APFloat::IEEEhalf();
  case Number::BF16:
    return APFloat::BFloat();
  case Number::FP8:
    return APFloat::Float8E4M3FN();
  case Number::BF8:
    return APFloat::Float8E5M2();
  case Number::FP8Fnuz:
    return APFloat::Float8E4M3FNUZ();
  case Number::BF8Fnuz:
    return APFloat::Float8E5M2FNUZ();
  case Number::FP6:
    return APFloat::Float6E2M3FN();
  case Number::BF6:
    return APFloat::Float6E3M2FN();
  case Number::FP4:
    return APFloat::Float4E2M1FN();
  default:
    return APFloat::Float8E8M0FNU();
  }
}

int lanesOf(const MatrixCall &call) {
  for (const MatrixOperand &o : call.operands)
    if (o.bits)
      return o.bits->lanes;
  return 64;
}

std::string moduleOf(const MatrixCall &call) {
  const std::string name = "@llvm.amdgcn." + call.intrinsic;
  std::string parameters, types, loads, values;
  for (size_t k = 0; k < call.operands.size(); ++k) {
    const MatrixOperand &o = call.operands[k];
    const std::string n = std::to_string(k), separator = k ? ", " : "";
    types += separator + o.type;
    values += separator + o.type + " " + (o.bits ? "%v" + n : o.immediate);
    if (!o.bits)
      continue;
    parameters += "ptr addrspace(1) %a" + n + ", ";
    loads += "  %p" + n + " = getelementptr [" + std::to_string(o.bits->dwordsPerLane) +
             " x i32], ptr addrspace(1) %a" + n + ", i32 %t\n  %v" + n + " = load " + o.type + ", ptr addrspace(1) %p" +
             n + ", align 4\n";
  }
  return "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare " + call.result + " " + name + "(" + types +
         ")\ndefine amdgpu_kernel void @k(" + parameters +
         "ptr addrspace(1) %d, i32 %stride) #0 {\n  %t = call i32 @llvm.amdgcn.workitem.id.x()\n" + loads +
         "  %at = mul i32 %t, %stride\n  %pd = getelementptr i32, ptr addrspace(1) %d, i32 %at\n  %on = icmp uge i32 "
         "%t, " +
         std::to_string(call.firstActive) + "\n  br i1 %on, label %yes, label %no\nyes:\n  %vd = call " + call.result +
         " " + name + "(" + values + ")\n  store " + call.result +
         " %vd, ptr addrspace(1) %pd, align 4\n  br label %no\nno:\n  ret void\n}\nattributes #0 = { "
         "\"target-features\"=\"+wavefrontsize" +
         std::to_string(lanesOf(call)) + "\" }\n";
}

Outcome runCall(const MatrixCall &call, LaneBits &result) {
  Options options;
  options.target = call.target;
  const auto program = load(assemble(moduleOf(call)), options);
  Arguments arguments;
  for (const MatrixOperand &o : call.operands)
    if (o.bits)
      arguments.add(o.bits->values.data());
  arguments.add(result.values.data()).add(int32_t(result.dwordsPerLane));
  return run(*program, "k", linear(uint32_t(result.lanes), uint32_t(result.lanes)), arguments, options);
}

} // namespace

int bitsOf(Number number) {
  switch (number) {
  case Number::F32:
  case Number::I32:
    return 32;
  case Number::F16:
  case Number::BF16:
    return 16;
  case Number::FP6:
  case Number::BF6:
    return 6;
  case Number::FP4:
  case Number::I4:
    return 4;
  default:
    return 8;
  }
}
bool isInteger(Number number) { return number == Number::I32 || number == Number::I8 || number == Number::I4; }

uint32_t encode(Number number, double value) {
  const int bits = bitsOf(number);
  if (isInteger(number))
    return uint32_t(int64_t(value)) & (bits == 32 ? ~0u : (1u << bits) - 1);
  APFloat f(value);
  bool inexact = false;
  f.convert(semanticsOf(number), APFloat::rmNearestTiesToEven, &inexact);
  return uint32_t(f.bitcastToAPInt().getZExtValue());
}

double decode(Number number, uint32_t bits) {
  const unsigned width = unsigned(bitsOf(number));
  if (isInteger(number))
    return double(llvm::APInt(width, bits).getSExtValue());
  APFloat f(semanticsOf(number), llvm::APInt(width, bits));
  bool inexact = false;
  f.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return f.convertToDouble();
}

void LaneBits::put(int lane, int firstBit, int bits, uint32_t value) {
  for (int k = 0; k < bits; ++k) {
    uint32_t &dword = values[size_t(lane * dwordsPerLane + (firstBit + k) / 32)];
    const uint32_t mask = 1u << ((firstBit + k) % 32);
    dword = value >> k & 1 ? dword | mask : dword & ~mask;
  }
}

uint32_t LaneBits::get(int lane, int firstBit, int bits) const {
  uint32_t value = 0;
  for (int k = 0; k < bits; ++k)
    value |= (values[size_t(lane * dwordsPerLane + (firstBit + k) / 32)] >> ((firstBit + k) % 32) & 1) << k;
  return value;
}

LaneBits execute(const MatrixCall &call, int resultBits) {
  LaneBits result(lanesOf(call), resultBits);
  std::fill(result.values.begin(), result.values.end(), 0xeeeeeeeeu);
  const Outcome outcome = runCall(call, result);
  EXPECT_EQ(outcome.kind, Outcome::Success) << call.intrinsic << " on " << call.target << ": " << outcome.message;
  return result;
}

std::string errorOf(const MatrixCall &call) {
  LaneBits result(lanesOf(call), 1024);
  const Outcome outcome = runCall(call, result);
  EXPECT_EQ(outcome.kind, Outcome::UnsupportedInstruction) << call.intrinsic << " on " << call.target;
  return outcome.message;
}

std::string vectorType(int n, const std::string &scalar) {
  return n == 1 ? scalar : "<" + std::to_string(n) + " x " + scalar + ">";
}

} // namespace wavesan::cpu::test
