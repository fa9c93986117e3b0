// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether atomics on LDS may order the waves of a kernel: then the device runtime follows them, which others do not pay
// for.
#ifndef WAVESAN_PASS_LDSORDER_H
#define WAVESAN_PASS_LDSORDER_H

#include "AccessCollection.h"
#include "SyncCollection.h"

namespace wavesan {

/// What functions of a kernel do, joined by "or".
enum LdsOrderFacts : uint32_t {
  kLdsReads = 1, ///< atomics that may be on LDS and reach other waves
  kLdsWrites = 2,
  kLdsAcquires = 4, ///< the same with an order of their own
  kLdsReleases = 8,
  kFencesAcquire = 16, ///< fences that reach other waves
  kFencesRelease = 32,
};

/// Of a function before its hooks. The fences around a barrier of the workgroup do not count: what they would make
/// known the barrier does.
uint32_t ldsOrderFacts(llvm::ArrayRef<Access> Accesses, llvm::ArrayRef<SyncPoint> Points);

/// May one wave release something through LDS and another one acquire it? Histograms and counters, with relaxed atomics
/// between barriers, do not.
constexpr bool ordersThroughLds(uint32_t Facts) {
  const bool Releases = (Facts & kLdsReleases) != 0 || ((Facts & kLdsWrites) != 0 && (Facts & kFencesRelease) != 0),
             Acquires = (Facts & kLdsAcquires) != 0 || ((Facts & kLdsReads) != 0 && (Facts & kFencesAcquire) != 0);
  return Releases && Acquires;
}

} // namespace wavesan

#endif // WAVESAN_PASS_LDSORDER_H
