// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between float and floats of eight bits.
#ifndef WAVESAN_CPU_ENGINE_FP8_CONVERSIONS_H
#define WAVESAN_CPU_ENGINE_FP8_CONVERSIONS_H

#include "fp8.h"
#include "handlers.h"

namespace wavesan::cpu::engine {

/// Op::extra of all of them.
struct Fp8Conversion {
  Fp8 format;
  uint32_t select; ///< which byte or half of the 32 bits
};
Handler fp8FromByte(); ///< d = byte of a
Handler fp8FromPair(); ///< d, and the register behind it = bytes of a half of a
Handler fp8ToPair();   ///< d = c, but for one half: a and b

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_FP8_CONVERSIONS_H
