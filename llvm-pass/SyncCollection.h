// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choose: barriers, fences, ordered atomics, waits and the ends of a twin.
#ifndef WAVESAN_PASS_SYNCCOLLECTION_H
#define WAVESAN_PASS_SYNCCOLLECTION_H

#include "SiteRecorder.h"
#include "Target.h"

#include <vector>

namespace llvm {
class Function;
class Instruction;
} // namespace llvm

namespace wavesan {

/// Waits for a count above zero of vector memory, where no copy is known that they could be for.
inline constexpr const char *kPartialWaitReason = "wait for a count above zero";

struct SyncPoint {
  enum Kind {
    BarrierArrive, ///< hook before
    BarrierLeave,  ///< hook after
    BarrierFull,   ///< both
    GridBarrier,   ///< both, of the whole grid
    NamedBarrier,  ///< hook before, of a wait after
    FenceBefore,   ///< release half of an atomic
    FenceAfter,    ///< fence instruction, acquire half of an atomic
    WaitBefore,    ///< inline asm that waits before it does something else
    Wait,          ///< hook after
    HeapRelease,   ///< hook before device free: what its wave did comes before who gets the block next
    HeapAcquire,   ///< hook after device malloc
    KernelEnd,     ///< hook before
  };
  llvm::Instruction *I;
  Kind What;
  uint32_t Operand = 0;  ///< fenceInfo(), waitInfo() or abi::NamedBarrierOperation
  unsigned Sequence = 0; ///< of inline asm: its place among the hooks of the same call
};

struct SyncChoice {
  /// In program order.
  std::vector<SyncPoint> Points;
  SkipCounts Skips;
  unsigned PartialVmemWaits = 0; ///< waits that count vector memory above zero
  unsigned PartialLdsWaits = 0;  ///< the same of LDS
  bool NamedBarriers = false;
  /// Synchronisation that no hook can describe: why nothing can be said of accesses that it may order. Null: none.
  const char *Unfollowed = nullptr;
};

/// `IsTwin`: returns end the kernel. Fails with one line on what no program may contain (unknown synchronisation
/// scopes, the trap handler's barriers).
llvm::Expected<SyncChoice> chooseSync(llvm::Function &F, bool IsTwin, const GpuTarget &Target);

} // namespace wavesan

#endif // WAVESAN_PASS_SYNCCOLLECTION_H
