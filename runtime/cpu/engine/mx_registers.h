// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of mx_float.h's formats as they follow one another, without gaps, in a lane's dwords.
#ifndef WAVESAN_CPU_ENGINE_MX_REGISTERS_H
#define WAVESAN_CPU_ENGINE_MX_REGISTERS_H

#include "mx_float.h"
#include "wave.h"

#include <vector>

namespace wavesan::cpu::engine {

inline float mxElement(const Wave &w, const std::vector<Register> &dwords, MxFormat format, uint32_t index,
                       uint32_t lane) {
  const uint32_t bits = MxLayout(format).bits(), first = index * bits, dword = first / 32;
  uint64_t value = w.at<uint32_t>(dwords[dword])[lane];
  if (first % 32 + bits > 32)
    value |= uint64_t(w.at<uint32_t>(dwords[dword + 1])[lane]) << 32;
  return mxToFloat(uint32_t(value >> (first % 32)) & ((1u << bits) - 1), format);
}

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_MX_REGISTERS_H
