// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the text of an inline asm does, as far as it is understood: waits, barriers and one memory instruction.
//
// Hooks can stand before and after an inline asm, not inside it. The text's order is kept: what belongs before its
// memory instruction or its barrier's arrival goes before, the rest after. Waits and barriers of a text that is
// understood in parts only are taken into account all the same, because they happen; its memory instructions are not
// checked.
#ifndef WAVESAN_PASS_INLINEASMFACTS_H
#define WAVESAN_PASS_INLINEASMFACTS_H

#include "MemoryPlaces.h"
#include "Target.h"

#include "wavesan/abi/hooks.h"

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class CallBase;
}

namespace wavesan {

struct AsmSync {
  enum Kind { Wait, BarrierArrive, BarrierLeave };
  Kind What;
  uint32_t Completed = 0; ///< Wait: abi::WaitCompleted bits
};

struct AsmMemory {
  Region Where;                       ///< Lds (ds_*), Global (global_*), Generic (flat_*)
  llvm::Value *Address;               ///< pointer, or integer: an LDS offset, or a 64-bit address
  uint32_t Bits;                      ///< abi::AccessBits
  uint32_t Ordering;                  ///< of atomics: AtomicFacts::infoBits()
  llvm::SmallVector<ByteRun, 2> Runs; ///< offsets from Address
  std::string Mnemonic;
  bool PrecedesSync = false; ///< its hook goes before those of Before, not after them
};

struct AsmFacts {
  bool Understood = true; ///< false: something in the text may access memory and is not checked
  bool NamedBarrier = false;
  bool SplitReversed = false; ///< waits for a barrier and then signals it: no place for the hooks
  unsigned PartialWaits = 0;  ///< waits for a count above zero
  std::optional<AsmMemory> Memory;
  llvm::SmallVector<AsmSync, 2> Before, After; ///< in the order of the text
};

/// `Call` is a call of inline asm.
AsmFacts readInlineAsm(const llvm::CallBase &Call, const GpuTarget &Target);

/// What the immediate of s_waitcnt waits for.
struct WaitFacts {
  uint32_t Completed = 0; ///< abi::WaitCompleted bits
  bool Partial = false;   ///< waits for some count above zero, which is taken as no wait
};
WaitFacts decodePackedWait(uint64_t Immediate, const GpuTarget &Target);

} // namespace wavesan

#endif // WAVESAN_PASS_INLINEASMFACTS_H
