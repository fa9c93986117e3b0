// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the agent offers beyond HSA (abi/replay.h).
#ifndef WAVESAN_CPU_AGENT_REPLAY_INTERFACE_H
#define WAVESAN_CPU_AGENT_REPLAY_INTERFACE_H

#include "wavesan/abi/replay.h"

#include <optional>

namespace wavesan::agent {

/// What was asked for with CpuAgent::setSchedule. Thread-safe.
std::optional<abi::Schedule> currentSchedule();

/// A dispatch has made its accesses in the order of the schedule. Thread-safe.
void noteOrderMade();

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_REPLAY_INTERFACE_H
