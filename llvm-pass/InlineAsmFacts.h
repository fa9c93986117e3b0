// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the text of an inline asm does, as far as it is understood: waits, barriers and memory instructions.
//
// Hooks can stand before and after an inline asm, not inside it. The text's order is kept: what belongs before its
// last memory instruction or its barrier's arrival goes before, the rest after. Waits and barriers of a text that is
// understood in parts only are taken into account all the same, because they happen; its memory instructions are not
// checked. Arithmetic between them is understood as far as that it changes neither an address nor the active lanes.
#ifndef WAVESAN_PASS_INLINEASMFACTS_H
#define WAVESAN_PASS_INLINEASMFACTS_H

#include "MemoryPlaces.h"
#include "Target.h"

#include "wavesan/abi/hooks.h"

#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace llvm {
class CallBase;
}

namespace wavesan {

struct AsmSync {
  enum Kind { Wait, BarrierArrive, BarrierLeave };
  Kind What;
  uint32_t Info = 0;     ///< Wait: abi::waitInfo()
  unsigned Sequence = 0; ///< in the text, AsmMemory included
};

struct AsmMemory {
  Region Where;                       ///< Lds (ds_*), Global (global_*), Generic (flat_*)
  llvm::Value *Address;               ///< pointer, or integer: an LDS offset, or a 64-bit address
  llvm::Value *Offset = nullptr;      ///< of 32 bits, added to Address; null: none
  uint32_t Bits;                      ///< abi::AccessBits
  uint32_t Ordering;                  ///< of atomics: AtomicFacts::infoBits()
  llvm::SmallVector<ByteRun, 2> Runs; ///< offsets from Address
  std::string Mnemonic;
  unsigned Sequence = 0;
  bool After = false;                    ///< its hook goes behind the asm
  bool IsCopy = false, IsOfCopy = false; ///< the LDS side and the global side of an asynchronous copy
};

struct AsmFacts {
  bool Understood = true; ///< false: something in the text may access memory and is not checked
  bool NamedBarrier = false;  ///< operates on one, also in a text that is not understood
  bool WakesBarrier = false;  ///< s_wakeup_barrier, likewise
  bool SplitReversed = false; ///< waits for a barrier and then signals it: no place for the hooks
  unsigned PartialLdsWaits = 0, PartialVmemWaits = 0; ///< waits for a count above zero
  std::vector<AsmMemory> Memory;                      ///< in the order of the text
  llvm::SmallVector<AsmSync, 2> Before, After;        ///< in the order of the text
};

/// `Call` is a call of inline asm.
AsmFacts readInlineAsm(const llvm::CallBase &Call, const GpuTarget &Target);

/// What a wait waits for. A count that is not below `NoWait` is no wait.
struct WaitFacts {
  uint32_t Info = 0;                            ///< abi::waitInfo(); 0: nothing that a hook is about
  bool PartialLds = false, PartialVmem = false; ///< for a count above zero

  void lds(uint64_t Count, uint64_t NoWait = 64);
  void vmem(uint64_t Count, const GpuTarget &Target);
  void async(uint64_t Count);
};
/// What the immediate of s_waitcnt waits for.
WaitFacts decodePackedWait(uint64_t Immediate, const GpuTarget &Target);

} // namespace wavesan

#endif // WAVESAN_PASS_INLINEASMFACTS_H
