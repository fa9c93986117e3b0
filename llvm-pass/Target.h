// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the pass must know about a GPU: plain data, and an error for anything else.
#ifndef WAVESAN_PASS_TARGET_H
#define WAVESAN_PASS_TARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Function;
}

namespace wavesan {

/// A field of the immediate of s_waitcnt: one or two bit ranges, the second above the first in the count.
struct WaitField {
  unsigned LowBit, LowWidth;
  unsigned HighBit, HighWidth;
  unsigned decode(uint64_t Immediate) const {
    uint64_t Low = (Immediate >> LowBit) & ((1u << LowWidth) - 1);
    uint64_t High = (Immediate >> HighBit) & ((1u << HighWidth) - 1);
    return unsigned(Low | (High << LowWidth));
  }
  /// The count that means no wait.
  unsigned largest() const { return (1u << (LowWidth + HighWidth)) - 1; }
};

struct GpuTarget {
  unsigned Major;     ///< ISA major version: 9 to 12
  bool HasPackedWait; ///< s_waitcnt with one immediate; otherwise separate counters (gfx12)
  WaitField Vmcnt, Lgkmcnt;
  bool HasWideBuffers = false; ///< gfx1250: buffer resources with 57 bits of address and 45 of size
};

/// The target that a kernel is compiled for, from its "target-cpu" attribute.
llvm::Expected<GpuTarget> targetOf(const llvm::Function &Kernel);

} // namespace wavesan

#endif // WAVESAN_PASS_TARGET_H
