// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "handlers_isa.h"

namespace wavesan::cpu::engine::WAVESAN_ISA {

const HandlerSet &handlerSet() {
  static constexpr HandlerSet set = {
      .intBinary = intBinary,
      .intUnary = intUnary,
      .intTernary = intTernary,
      .overflow = overflow,
      .intCompare = intCompare,
      .zeroExtendOrTruncate = zeroExtendOrTruncate,
      .signExtend = signExtend,
      .select = select,
      .selectVector = selectVector,
      .move = move,
      .scaledAdd = scaledAdd,
      .split = split,
      .join = join,
      .floatUnary = floatUnary,
      .floatBinary = floatBinary,
      .floatTernary = floatTernary,
      .floatCompare = floatCompare,
      .floatClass = floatClass,
      .ldexp = ldexp,
      .frexpExponent = frexpExponent,
      .floatCast = floatCast,
      .floatToInt = floatToInt,
      .intToFloat = intToFloat,
      .load = load,
      .store = store,
  };
  return set;
}

} // namespace wavesan::cpu::engine::WAVESAN_ISA
