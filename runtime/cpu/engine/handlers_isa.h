// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declarations of the operations that are compiled once for each instruction set, in a namespace named WAVESAN_ISA.
// Sources that include this header must not use inline functions of the standard library (see wave.h).
#ifndef WAVESAN_CPU_ENGINE_HANDLERS_ISA_H
#define WAVESAN_CPU_ENGINE_HANDLERS_ISA_H

#include "handlers.h"

#ifndef WAVESAN_ISA
#error "WAVESAN_ISA names the instruction set that this file is compiled for"
#endif

namespace wavesan::cpu::engine::WAVESAN_ISA {

// Documented in HandlerSet.
Handler intBinary(IntBinary, Width);
Handler intUnary(IntUnary, Width);
Handler intTernary(IntTernary, Width);
Handler overflow(Overflow, Width);
Handler intCompare(IntCompare, Width);
Handler zeroExtendOrTruncate(Width from, Width to);
Handler signExtend(Width from, Width to);
Handler select(Width);
Handler selectVector(Width);
Handler move(Width);
Handler scaledAdd(Width pointer, Width index);
Handler split(Width wide, Width narrow);
Handler join(Width narrow, Width wide);
Handler floatUnary(FloatUnary, FloatKind);
Handler floatBinary(FloatBinary, FloatKind);
Handler floatTernary(FloatTernary, FloatKind);
Handler floatCompare(FloatKind);
Handler floatClass(FloatKind);
Handler ldexp(FloatKind);
Handler frexpExponent(FloatKind);
Handler floatCast(FloatKind from, FloatKind to);
Handler floatToInt(FloatKind, bool isSigned, Width to);
Handler intToFloat(Width, bool isSigned, FloatKind);
Handler load(Space, Width);
Handler store(Space, Width);

/// All of the above.
const HandlerSet &handlerSet();

} // namespace wavesan::cpu::engine::WAVESAN_ISA

#endif // WAVESAN_CPU_ENGINE_HANDLERS_ISA_H
