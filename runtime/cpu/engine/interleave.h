// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which workgroups of a launch are resident, and which of them runs.
//
// Workgroups run in order, one at a time, each to its end. Only one in which a wave executes more than a budget of
// memory and synchronisation operations is suspended with its whole state, because it may wait for a workgroup that
// has not started (a flag, a barrier of the grid). The number of suspended workgroups at most doubles before all of
// them have run again: a grid barrier of n workgroups is reached after about 2n turns, while workgroups that are
// only long end with few others resident. All decisions depend on operation counts alone, so they are repeatable.
//
// Workgroups that are independent (independence.h) are shared out among several threads. Each of them proceeds as above
// with those that it has taken: memory that nobody declares as shared may still be polled.
#ifndef WAVESAN_CPU_ENGINE_INTERLEAVE_H
#define WAVESAN_CPU_ENGINE_INTERLEAVE_H

#include "residency.h"

#include <memory>
#include <mutex>
#include <vector>

namespace wavesan::cpu::engine {

/// Residencies that no launch uses. Thread-safe.
class ResidencyPool {
public:
  std::unique_ptr<Residency> take();
  /// Keeps a few; the memory of the rest is released.
  void give(std::unique_ptr<Residency> residency);

private:
  std::mutex mutex;
  std::vector<std::unique_ptr<Residency>> idle;
};

/// How many workgroups of this launch may be resident at once; at least 1. A kernel whose workgroups wait for more
/// workgroups than these runs until it is cancelled, as it would on a device that it overfills.
uint64_t residentLimit(const LaunchState &launch, const Shape &shape);

/// Runs all workgroups to their ends, or stops at an error (crew.h). HookHandler::workgroupEnd is called for each
/// workgroup that was started. If they are `independent`, up to Launch::threads threads execute them, the calling one
/// among them.
Outcome runWorkgroups(LaunchState &launch, const Shape &shape, ResidencyPool &pool, bool independent);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_INTERLEAVE_H
