// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the replay of a capsule (runtime/replay), the HSA tool (runtime/hsa) and the CPU agent (runtime/cpu) tell one another.
// Host only; all are of one build.
#ifndef WAVESAN_ABI_REPLAY_H
#define WAVESAN_ABI_REPLAY_H

#include "wavesan/abi/hooks.h"

namespace wavesan::abi {

/// Memory that a replay has put where the recorded program had it, and the name it had in reports.
struct PlacedMemory {
  uint64_t address, bytes;
  uint64_t number; ///< report::MemoryPlace
  uint32_t kind;
};

/// Exported by the HSA tool: `void wavesan_place_memory(const PlacedMemory *)`. Before the dispatch.
inline constexpr char kPlaceMemorySymbol[] = "wavesan_place_memory";

/// How the CPU agent executes a dispatch. Its workgroups run side by side and take turns as the seed says.
struct Schedule {
  struct Side {
    uint32_t site;
    uint32_t workgroup[3];
    uint32_t wave;
  };
  uint64_t seed;
  bool forced; ///< `first` before `second`, where the program allows it
  bool preferFirst; ///< forced: the wave of `first` runs when both could; else that of `second`
  Side first, second;
};

/// Exported by the CPU agent, and by it alone: `const CpuAgent *wavesan_cpu_agent(void)`.
struct CpuAgent {
  uint32_t version; ///< kAbiVersion
  /// The schedule of all dispatches from now on; null: that of the options. Copied. For a caller that has the agent to itself.
  void (*setSchedule)(const Schedule *);
};
inline constexpr char kCpuAgentSymbol[] = "wavesan_cpu_agent";

/// Exit statuses of the program that replays one capsule.
enum class ReplayExit : int {
  Ran = 0,       ///< the result file says what came of it
  CannotRun = 3, ///< a line on stderr says why
};

} // namespace wavesan::abi

#endif // WAVESAN_ABI_REPLAY_H
