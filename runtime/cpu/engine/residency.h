// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory in which one workgroup at a time lives: waves, LDS, private memory; and the scheduler of its waves. Reused
// from workgroup to workgroup and from launch to launch; used by one thread at a time, the same one while a workgroup is resident.
#ifndef WAVESAN_CPU_ENGINE_RESIDENCY_H
#define WAVESAN_CPU_ENGINE_RESIDENCY_H

#include "stuck_check.h"
#include "workgroup.h"

#include <cstddef>
#include <string>

namespace wavesan::cpu::engine {

/// Anonymous memory that costs nothing until it is touched.
class Mapping {
public:
  Mapping() = default;
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  ~Mapping();
  /// At least `bytes`; the content is kept or zero. False if the system has no more.
  bool reserve(size_t bytes);
  uint8_t *data() const { return memory; }

private:
  uint8_t *memory = nullptr;
  size_t size = 0;
};

/// What all workgroups of a launch share.
struct Shape {
  uint32_t workgroups[3];
  uint64_t count;
  uint32_t waves;         ///< of a full workgroup
  uint32_t scratchStride; ///< bytes of private memory of one lane
};

class Residency {
public:
  /// Prepares for a launch. False with `error` set if memory is short.
  bool prepare(LaunchState &launch, const Shape &shape, std::string &error);
  /// Makes the workgroup with this linear id resident. The one before must be finished. `watch` may be null.
  void start(LaunchState &launch, const Shape &shape, uint64_t linearId, WatchPost *watch);
  /// Runs the workgroup until it ends, fails, or a wave has executed more than `budget` memory and synchronisation
  /// operations; in the last case it is suspended between two operations and the next call goes on from there.
  Outcome run(LaunchState &launch, uint32_t budget);
  /// True if the last run() ended because of the budget.
  bool suspended() const { return isSuspended; }
  const Workgroup &workgroup() const { return group; }
  /// Waves that wait at the workgroup's barrier.
  uint64_t waitingWaves() const { return waiting; }
  /// Calls HookHandler::workgroupEnd, whatever state the workgroup is in. Once for each start().
  void finish(LaunchState &launch);

private:
  Workgroup group;
  Mapping lds, scratch;
  uint32_t ldsAperture = 0;
  uint32_t partSize[3] = {}; ///< work-items for which the wave banks hold the ids
  uint32_t partWaveSize = 0;

  uint64_t runnable = 0, waiting = 0; ///< waves that have not ended: may run, wait for the barrier
  bool isSuspended = false;
  StuckCheck stuck;
  void noteProgress(LaunchState &launch);
  Outcome stuckOutcome(const LaunchState &launch) const;

  void setWorkitems(uint32_t lanes, const uint32_t (&size)[3]);
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_RESIDENCY_H
