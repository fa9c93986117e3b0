// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barrier divergence and early exit in one workgroup.
//
// The rule: a barrier of the language (__syncthreads() and its like) must be reached by every work-item of the
// workgroup. So all work-items pass the same sequence of source barriers and then end. Each lane has a number, the
// barriers that it has passed; what lanes with the same number do next is one *step* of the workgroup, and must be one
// thing. The verdict depends on these sequences alone, not on which wave came first.
//
// Bare barriers (s_barrier as an instruction of the target) follow the target's rule instead: waves arrive as wholes,
// wherever they are, and waves that have ended do not count. At such a step any bare barrier, and the end, will do.
//
// The first step that is not one thing is the finding. What follows it in the same workgroup is out of step anyway, and
// is not looked at.
#ifndef WAVESAN_CPU_DIVERGENCE_H
#define WAVESAN_CPU_DIVERGENCE_H

#include "engine.h"

#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace wavesan::cpu {

/// Used by the thread that executes the workgroup.
class DivergenceCheck {
public:
  void start(uint32_t waves);
  void begin(const WaveView &wave, LaneMask lanes);
  /// Lanes arrive at a barrier, or signal a split one.
  void arrive(const WaveView &wave, LaneMask lanes, uint32_t site);
  void end(const WaveView &wave, LaneMask lanes);
  /// Passes on what was found: workgroup, memory space and key are the caller's to fill in.
  void finish(const std::function<void(abi::RaceRecord &)> &found) const;

  /// Steps kept; for tests: bounded in programs without divergence, however many barriers they pass.
  size_t openSteps() const { return Steps.size(); }

private:
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  static constexpr uint32_t kMaxTurns = 8;

  /// Lanes that do one thing at a step.
  struct Group {
    uint32_t source = BarrierMap::kEnd;
    uint32_t site = abi::kNoSite;
    bool bare = false;
    /// Of the lowest lane, which speaks for all, so that the text does not depend on who came first:
    uint32_t wave = 0, lane = 0;
    uint32_t lastSource = BarrierMap::kEnd; ///< barrier before this one
    uint32_t apartWave = kNoWave;           ///< a wave that reaches the barrier in parts
    LaneMask apartLanes = 0;                ///< its later part
    uint32_t turns[kMaxTurns];
    uint32_t turnCount = 0;
    LaneMask lanes[abi::kMaxWavesPerWorkgroup] = {};
  };
  static constexpr uint32_t kNoWave = 0xffffffffu;
  struct Step {
    std::vector<Group> groups;
    uint32_t arrived = 0; ///< lanes
  };
  struct Ended {
    uint64_t step;
    uint32_t lanes;
    uint32_t wave;
    LaneMask mask;
    uint32_t turns[kMaxTurns];
    uint32_t turnCount;
    uint32_t lastSource;
  };
  struct WaveTrack {
    LaneMask live = 0;   ///< begun and not ended
    bool uniform = true; ///< all live lanes have passed `passed` barriers
    uint64_t passed = 0;
    uint32_t lastSource = BarrierMap::kEnd; ///< of the barrier before
    std::unique_ptr<uint64_t[]> lanePassed; ///< where not uniform
  };

  /// Calls f(step, lanes) for lanes with the same number.
  template <class F> static void forEachStep(const WaveTrack &track, LaneMask lanes, F &&f);
  void advance(WaveTrack &track, LaneMask lanes);
  void place(const WaveView &wave, uint64_t step, LaneMask lanes, uint32_t site, BarrierMap::Barrier barrier);
  void judge(uint64_t step);
  void dropPassed();
  bool conflicts(const Group &a, const Group &b) const;
  Group endGroup(uint64_t step) const;
  static bool isLoop(const Group &inside, const Group &outside);
  abi::RaceRecord record(const Group &previous, const Group &current) const;
  abi::RaceRecord apartRecord(const Group &group) const;
  static void copyTurns(const WaveView &wave, uint32_t lane, uint32_t (&turns)[kMaxTurns], uint32_t &count);

  uint32_t WaveCount = 0, Begun = 0, LaneCount = 0;
  std::vector<WaveTrack> Waves;
  std::deque<Step> Steps; ///< from First on
  uint64_t First = 0;
  uint64_t Found = kNone; ///< the first step that is not one thing
  std::vector<Ended> Ends;
  const BarrierMap *Map = nullptr;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_DIVERGENCE_H
