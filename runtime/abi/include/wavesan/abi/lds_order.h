// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device runtime's memory for what atomics on LDS order between the waves of one workgroup. Freestanding.
//
// Ownership: it lies in the workgroup's slot of the pool (DispatchContext::slotPool), behind the cells if those are
// there. The workgroup clears it when it takes the slot. The flags are looked at and changed by the wave that holds
// WorkgroupState::ldsOrderLock; a wave's rows by that wave.
//
// Block:  LdsOrder  rows of waves[waves][kLdsRowsOfWave]  rows of flags[kLdsFlags]
//
// A row has two bounds for each wave: accesses to LDS, and to global memory, of generations below are known.
#ifndef WAVESAN_ABI_LDS_ORDER_H
#define WAVESAN_ABI_LDS_ORDER_H

#include <stdint.h>

namespace wavesan::abi {

inline constexpr uint32_t kLdsFlags = 64;

/// An address in LDS through which waves release and acquire.
struct LdsFlag {
  uint32_t address; ///< LDS byte offset plus 1; 0: free
  uint32_t carries; ///< its row holds a release
};
static_assert(sizeof(LdsFlag) == 8);

/// Accesses that a cell could not keep a record of, by a hash of the cell: the epoch of the last one, plus 1.
inline constexpr uint32_t kLdsLossBuckets = 256;

struct LdsOrder {
  uint32_t used; ///< flags
  uint32_t reserved[3];
  LdsFlag flags[kLdsFlags];
  uint32_t lostReads[kLdsLossBuckets], lostWrites[kLdsLossBuckets];
};
static_assert(sizeof(LdsOrder) == 16 + kLdsFlags * sizeof(LdsFlag) + 2 * kLdsLossBuckets * 4);

/// What a wave knows; what relaxed atomics have read, which an acquire fence makes known; what the release fences so
/// far have released.
enum LdsRow : uint32_t { kLdsKnown, kLdsPending, kLdsFenced, kLdsRowsOfWave };

constexpr uint32_t ldsRowBytes(uint32_t waves) { return 2 * waves * 4; }
/// Of the LdsOrder; what its workgroup has to clear.
constexpr uint32_t ldsOrderClearedBytes(uint32_t waves) {
  return uint32_t(sizeof(LdsOrder)) + waves * kLdsRowsOfWave * ldsRowBytes(waves);
}
/// A multiple of 8.
constexpr uint32_t ldsOrderBytes(uint32_t waves) {
  return ldsOrderClearedBytes(waves) + kLdsFlags * ldsRowBytes(waves);
}

} // namespace wavesan::abi

#endif // WAVESAN_ABI_LDS_ORDER_H
