// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between float, half or bfloat and the formats of mx_float.h, with a scale (v_cvt_scalef32_*) or without.
#ifndef WAVESAN_CPU_ENGINE_SCALED_CONVERSIONS_H
#define WAVESAN_CPU_ENGINE_SCALED_CONVERSIONS_H

#include "mx_float.h"
#include "wave.h"

#include <vector>

namespace wavesan::cpu::engine {

enum class WideFormat : uint8_t { Single, Half, BFloat };

struct ScaledConversion {
  bool toWide;
  WideFormat wide;
  MxFormat narrow;
  uint32_t count;                   ///< of elements
  uint32_t firstBit;                ///< of the narrow elements in their registers
  std::vector<Register> wides;      ///< one for each element
  std::vector<Register> narrows;    ///< the elements follow one another without gaps
  uint32_t narrowBits;              ///< of one of those registers: 16 or 32
  std::vector<Register> old, whole; ///< what the result is but for the elements, and its registers; or none
  Register scale = kNoRegister;     ///< a float, of which the exponent counts; none: 1
};
Handler scaledConversion(); ///< extra: ScaledConversion

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_SCALED_CONVERSIONS_H
