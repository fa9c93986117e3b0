// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tool: everything that one load of the library owns, from OnLoad to the end of the process.
//
// The life of a checked dispatch: loader_interceptor (code object -> kernels and twins), queue_interceptor and
// packet_rewriter (packet -> packet of the twin), drain (completion -> results), findings (results -> reports).
#ifndef WAVESAN_HSA_TOOL_H
#define WAVESAN_HSA_TOOL_H

#include "agent_info.h"
#include "agent_schedule.h"
#include "api.h"
#include "capsule_recorder.h"
#include "dispatch_resources.h"
#include "drain.h"
#include "findings.h"
#include "further_passes.h"
#include "kernel_selection.h"
#include "kernel_table.h"
#include "memory_map.h"
#include "race_confirmer.h"
#include "replay_window.h"
#include "snapshot_tiers.h"
#include "status.h"
#include "stream_races.h"
#include "wait_check.h"

#include "wavesan/abi/options.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <sys/types.h>

namespace wavesan::hsa {

class QueueRegistry;

/// Thread-safe. One instance is current; it is never destroyed, because the runtime may call interceptors until the
/// process is gone.
class Tool {
public:
  /// Makes a tool current and replaces functions in `table`, which must outlive the process or OnUnload. False, after
  /// one printed line, when the runtime does not fit.
  static bool load(HsaApiTable *table);
  /// The current tool; null before load().
  static Tool *current();

  /// Waits a bounded time for what is still running, prints the summary and goes quiet: later dispatches run
  /// unchecked. Completions are still passed on. Idempotent; does nothing in a forked child.
  void finish();
  /// finish(), then ends the tool's thread and gives the runtime its functions back. Idempotent.
  void unload();

  /// False once finish() has begun: dispatches are passed through.
  bool active() const { return Active.load(std::memory_order_acquire); }
  /// True in a child that was forked after the tool was loaded: the threads and the runtime that the tool works with are
  /// its parent's.
  bool forkedAway() const;
  /// Says once that such a child's dispatches are not checked. Takes no lock: the parent may have held any when it forked.
  void sayForkedAway();
  /// Dispatches may have to run in windows for what WaveSan itself does with their races.
  bool watchesDispatches() const { return capsules.enabled() || confirmer.enabled() || further.enabled(); }
  /// The program's copies and fills come through this library: windows keep them apart.
  bool followsCopies() const { return watchesDispatches() || !options.tool.empty(); }
  uint64_t nextDispatchNumber() { return Dispatches.fetch_add(1, std::memory_order_relaxed) + 1; }

  const abi::Options options;
  const Api api;
  const abi::CpuAgent *const cpuAgent; ///< null: the runtime is another one

private:
  Tool(abi::Options options, Api api, HsaApiTable *table, Sinks sinks, report::Suppressions suppressions,
       std::unique_ptr<Status> status);
  void printOptions();

  HsaApiTable *Table;
  const pid_t Process;
  std::atomic<bool> Active{true};
  std::atomic<uint64_t> Dispatches{0};
  std::mutex EndMutex; ///< finish() and unload(), one at a time
  bool Ended = false, Unloaded = false;
  Tool *Previous = nullptr; ///< keeps earlier tools of the process reachable

public: // initialised after the private members that they need
  std::unique_ptr<Status> status;
  MemoryMap memory;
  WindowTable windows;
  TierBudgets tiers;
  KernelSelection selection;
  Findings findings;
  StreamRaces streams;
  AgentTable agents;
  KernelTable kernels;
  LoadedObjects objects;
  CapsuleRecorder capsules;
  RaceConfirmer confirmer;
  FurtherPasses further;
  WaitChecker waits;
  DispatchResources resources;
  Drain drain;
  std::unique_ptr<QueueRegistry> queues;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_TOOL_H
