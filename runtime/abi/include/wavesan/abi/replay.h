// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the replay of a capsule (runtime/replay), the HSA tool (runtime/hsa) and the CPU agent (runtime/cpu) tell one another.
// Host only; all are of one build.
#ifndef WAVESAN_ABI_REPLAY_H
#define WAVESAN_ABI_REPLAY_H

#include "wavesan/abi/global_memory.h"
#include "wavesan/abi/hooks.h"

#include <atomic>

namespace wavesan::abi {

/// Memory that a replay has put where the recorded program had it, and the name it had in reports.
struct PlacedMemory {
  uint64_t address, bytes;
  uint64_t number; ///< report::MemoryPlace
  uint32_t kind;
};

/// Exported by the HSA tool: `void wavesan_place_memory(const PlacedMemory *)`. Before the dispatch.
inline constexpr char kPlaceMemorySymbol[] = "wavesan_place_memory";

/// A launch of a graph, offered by the HIP interposer as the range of a kernel replay.
struct GraphRange {
  uint64_t nodes;
  const char *declined; ///< why it cannot be replayed (docs/replay.md); null: it can
  const char *const *kernels; ///< linkage names of those that it launches
  uint64_t kernelCount;
  void *self;
  int (*launch)(void *self); ///< launches it and waits for all of it. Returns hipError_t
  /// Whether some of these bytes are memory that the program has allocated, and not HIP for itself.
  bool (*isOfProgram)(void *self, uint64_t begin, uint64_t bytes);
};
/// False: nobody wants to replay it, and nothing has been launched. Else `result` is what the program gets.
using ReplayGraph = bool(const GraphRange *, int *result);
/// Exported by the interposer: `void wavesan_hip_replay_graph(uint32_t version, ReplayGraph *)`, by which the HSA tool says
/// who takes them; null: nobody any more. Thread-safe.
inline constexpr char kReplayGraphSymbol[] = "wavesan_hip_replay_graph";

/// How the CPU agent executes a dispatch. Its workgroups run side by side and take turns as the seed says.
struct Schedule {
  struct Side {
    uint32_t site;
    uint32_t workgroup[3];
    uint32_t wave;
  };
  uint64_t seed = 0;
  bool forced =
      false; ///< `first` before `second`, where the program allows it; for the agent's own hooks (hooks=native)
  bool preferFirst = false; ///< forced: the wave of `first` runs when both could; else that of `second`
  Side first{}, second{};
  /// As in cpu::ForcedOrder.
  bool lds = false;
  uint64_t begin = 0, bytes = 0;
};

/// Addresses of global memory. Borders inside of memory are multiples of kShadowWindowUnit.
struct ShadowWindow {
  uint64_t begin, end;
};
inline constexpr uint64_t kShadowWindowUnit = 64 * 1024;
static_assert(kShadowWindowUnit == 1u << kGlobalUnitLog2);

/// What somebody wants to know, and to keep, of memory that is written: chunk by chunk, counted from the begin of its region.
/// `regions` are in the order of addresses and do not overlap.
struct WriteRecord {
  static constexpr uint64_t kChunk = 64 * 1024;
  enum State : uint8_t { Untouched, Saving, Touched };
  struct Region {
    uint64_t begin, bytes;
    uint8_t *copy;               ///< gets what a chunk held before the first write; null: nobody needs it
    std::atomic<uint8_t> *state; ///< State of each chunk. Only goes up
  };
  const Region *regions = nullptr;
  uint64_t count = 0;
  std::atomic<uint32_t> holders{0}; ///< dispatches and copies that may still use it. Grows only while the agent has it
};

/// Exported by the CPU agent, and by it alone: `const CpuAgent *wavesan_cpu_agent(void)`.
struct CpuAgent {
  uint32_t version; ///< kAbiVersion
  /// The schedule of all dispatches from now on; null: that of the options. Copied. For a caller that has the agent to itself.
  void (*setSchedule)(const Schedule *);
  /// Dispatches from now on record accesses to this memory and leave others out, as if they were not there; null: all.
  /// Copied. For a caller that has the agent to itself.
  void (*setShadowWindow)(const ShadowWindow *);
  /// From now on all that dispatches, copies and fills write through the agent is put into the record before it is written. Not
  /// noticed: what the host writes through pointers, and what goes to these bytes by another address. Thread-safe.
  void (*addWriteRecord)(WriteRecord *);
  /// Not by those that begin from now on; see holders. Thread-safe.
  void (*removeWriteRecord)(WriteRecord *);
  /// Since the schedule was set, a dispatch has made its two forced accesses in the order asked for, at least once.
  /// Thread-safe.
  bool (*orderMade)();
};
inline constexpr char kCpuAgentSymbol[] = "wavesan_cpu_agent";

/// Exit statuses of the program that replays one capsule.
enum class ReplayExit : int {
  Ran = 0,       ///< the result file says what came of it
  CannotRun = 3, ///< a line on stderr says why
};

} // namespace wavesan::abi

#endif // WAVESAN_ABI_REPLAY_H
