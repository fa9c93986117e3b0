// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells when the waves of a workgroup that do not wait at its barrier will never do anything new.
//
// Waves that wait at a barrier change nothing, so the others must bring the barrier about. They are sampled now and
// then: registers, position, and the workgroup's LDS. While samples go on showing something new, they are at work: a
// long computation, a lock that passes from one to the next. If for very long every sample has been seen before, and no
// wave has arrived anywhere, they go in a circle. Nobody outside the workgroup can change its LDS, so a circle through
// LDS alone is for ever. One that reads global memory may wait for another workgroup or for the host: it is given much
// longer, and counts only while the other workgroups of the launch do nothing new either.
#ifndef WAVESAN_CPU_ENGINE_STUCK_CHECK_H
#define WAVESAN_CPU_ENGINE_STUCK_CHECK_H

#include "workgroup.h"

#include <string>
#include <unordered_set>

namespace wavesan::cpu::engine {

/// Of one workgroup. All decisions depend on counts of operations alone, so they are repeatable.
class StuckCheck {
public:
  static constexpr uint64_t kLdsLimit = uint64_t(1) << 22;

  /// A wave has arrived at a barrier, left it or ended; or the workgroup starts.
  void progress(LaunchState &launch) {
    Quiet = LastNew = 0;
    NextSample = kFirstSample;
    Global = false;
    launch.progress.fetch_add(1, std::memory_order_relaxed);
  }
  /// A wave has executed so many memory and synchronisation operations while others wait at the barrier. True if the
  /// workgroup is stuck.
  bool ran(LaunchState &launch, const Workgroup &group, const WaveState &wave, uint64_t operations) {
    Quiet += operations;
    return Quiet >= NextSample && sample(launch, group, wave);
  }

private:
  static constexpr uint64_t kFirstSample = 1 << 16, kInterval = 4096;
  static constexpr size_t kMaxSeen = 1 << 16; ///< more states than these are no circle
  bool sample(LaunchState &launch, const Workgroup &group, const WaveState &wave);

  uint64_t Quiet = 0;   ///< operations since the last progress
  uint64_t LastNew = 0; ///< of these, when a sample showed something new
  uint64_t NextSample = kFirstSample;
  uint64_t Others = 0; ///< LaunchState::progress when it was looked at last
  bool Global = false; ///< a wave has accessed global memory since
  std::unordered_set<uint64_t> Seen;
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_STUCK_CHECK_H
