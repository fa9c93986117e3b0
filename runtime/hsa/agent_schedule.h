// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule of dispatches on the CPU agent, as far as WaveSan sets it itself.
#ifndef WAVESAN_HSA_AGENT_SCHEDULE_H
#define WAVESAN_HSA_AGENT_SCHEDULE_H

#include "api.h"

#include "wavesan/abi/replay.h"

namespace wavesan::hsa {

/// The agent's own interface; null if the runtime is not the CPU agent.
const abi::CpuAgent *findCpuAgent(const Api &api);

/// Sets a schedule, and that of the options again when it goes. For whoever has the agent's window.
class ScheduleSet {
public:
  ScheduleSet(const abi::CpuAgent &agent, const abi::Schedule &schedule) : Agent(agent) {
    Agent.setSchedule(&schedule);
  }
  ~ScheduleSet() { Agent.setSchedule(nullptr); }
  bool orderMade() const { return Agent.orderMade(); }
  ScheduleSet(const ScheduleSet &) = delete;
  ScheduleSet &operator=(const ScheduleSet &) = delete;

private:
  const abi::CpuAgent &Agent;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_AGENT_SCHEDULE_H
