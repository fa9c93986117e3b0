// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choose: reads that need no check of their own, since an earlier access of the same lane says all that they could.
//
// A plain read B is covered by a plain access A in front of it in the same block if A touches at least the bytes of B
// (the same address value, constant distances) and the lane does nothing in between that could order it with others:
// no barrier, fence, wait, atomic, call, or cross-lane operation. Then another access X has an order with B exactly if
// it has the same order with A: X before B needs an acquire of this lane behind X, B before X a release behind B, and
// none lies between A and B. If X conflicts with B, it is a write, and so conflicts with A as well. The race that B would
// have been part of is found at A. Writes are never covered: lanes may write different values there.
// Functions in which completion is counted by instruction (asynchronous copies, waits for a count above zero) are left
// alone: there A may be complete while B is not.
#ifndef WAVESAN_PASS_COVEREDACCESSES_H
#define WAVESAN_PASS_COVEREDACCESSES_H

#include "AccessCollection.h"
#include "SyncCollection.h"

namespace wavesan {

/// Takes covered reads out of `Choice` and returns their number.
unsigned removeCovered(llvm::Function &F, AccessChoice &Choice, const SyncChoice &Sync);

} // namespace wavesan

#endif // WAVESAN_PASS_COVEREDACCESSES_H
