// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous copies between global memory and LDS that a wave has issued and that have not reached their destination.
//
// A copy may complete at any time from its issue to the wait that guarantees it. The engine keeps it back until then,
// or until the scheduler's random numbers complete it earlier, so that a program that lacks the wait can be seen to
// read old data. A load reads global memory when it is issued, a store reads LDS when it completes. Copies complete in
// order.
#ifndef WAVESAN_CPU_ENGINE_COPIES_H
#define WAVESAN_CPU_ENGINE_COPIES_H

#include "wave.h"

#include <vector>

namespace wavesan::cpu::engine {

struct WaveState;

struct PendingCopy {
  bool toLds;
  bool fenced;       ///< the compiler waits for it where memory order asks for it
  bool asyncCounter; ///< counted by asynccnt, not with vector memory
  uint64_t number;   ///< WaveState::vmemIssued or asyncIssued, itself included
  uint32_t bytes;    ///< of one lane
  LaneMask lanes;
  uint32_t lds[kMaxLanes];
  uint64_t global[kMaxLanes];    ///< of a store
  std::vector<std::byte> loaded; ///< of a load: bytes of each lane of `lanes`, one after the other
};

/// What a copy operation needs beside its registers.
struct CopyShape {
  uint32_t globalBytes; ///< of one lane
  uint32_t ldsBytes;    ///< loads of less than a dword write one
  bool toLds, consecutive, fenced, asyncCounter;
};

/// Performs the oldest `count` copies.
void performCopies(WaveState &w, size_t count);
/// At a scheduling decision: perhaps performs some.
void performSomeCopies(WaveState &w);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_COPIES_H
