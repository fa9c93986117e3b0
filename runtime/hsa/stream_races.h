// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tool's end of the check for races between commands: dispatches on their way to the HIP interposer, which knows
// the order of commands, and races on their way back (abi/stream_check.h).
#ifndef WAVESAN_HSA_STREAM_RACES_H
#define WAVESAN_HSA_STREAM_RACES_H

#include "host_lines.h"
#include "kernel_table.h"
#include "memory_map.h"

#include "wavesan/abi/stream_check.h"
#include "wavesan/report/summary.h"

#include <hsa/hsa.h>

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace wavesan::hsa {

/// A dispatch that belongs to a command. Delivered once: by deliver() or when it is destroyed.
class StreamDispatch : abi::AccessSink {
public:
  StreamDispatch(const abi::StreamCheck &check, uint64_t ticket, uint64_t kernel, uint64_t dispatch);
  ~StreamDispatch() { deliver(); }
  StreamDispatch(const StreamDispatch &) = delete;
  StreamDispatch &operator=(const StreamDispatch &) = delete;

  /// For DispatchContext::accessSink.
  uint64_t sink() { return reinterpret_cast<uint64_t>(static_cast<abi::AccessSink *>(this)); }
  /// The dispatch has ended: what it touched goes to the interposer.
  void deliver();

private:
  static void taken(abi::AccessSink *sink, const abi::DispatchAccesses *accesses);

  const abi::StreamCheck &Check;
  const uint64_t Ticket, Kernel, Dispatch;
  bool Recorded = false, Delivered = false;
  std::vector<abi::AccessRun> Runs;
  std::vector<abi::SyncPlace> Places;
  uint64_t Lost = 0;
};

/// Thread-safe.
class StreamRaces {
public:
  using Report = std::function<void(report::Race)>;
  /// `report` gets each race, from any thread that submits or completes commands.
  StreamRaces(MemoryMap &memory, const KernelTable &kernels, Report report)
      : Memory(memory), Loaded(kernels), Found(std::move(report)) {}

  /// Looks for the interposer in the process. False: there is none, or the check is off.
  bool connect();
  /// The packet of a dispatch is being submitted by this thread. Null: it belongs to no known command.
  std::shared_ptr<StreamDispatch> bind(const hsa_kernel_dispatch_packet_t &packet,
                                       const std::shared_ptr<const Kernel> &kernel, uint64_t dispatch);
  /// HIP has allocated these bytes (host addresses) for itself. False where that is not known.
  bool isOfHip(uint64_t begin, uint64_t bytes) const { return Check && !Check->isOfProgram(begin, bytes); }
  /// The device sees this host memory at `device`; null: no longer.
  void aliased(const void *host, const void *device, uint64_t bytes) const {
    if (Check)
      Check->alias(host, device, device ? bytes : 0);
  }
  /// Compares what can be compared and adds the counters. Once; nothing is reported afterwards.
  void finish(report::Summary &summary);

private:
  void report(const abi::StreamRace &race);

  MemoryMap &Memory;
  const KernelTable &Loaded;
  const Report Found;
  const abi::StreamCheck *Check = nullptr;
  HostLines Lines;
  std::mutex Mutex;
  std::set<std::shared_ptr<const Kernel>> Kernels; ///< that tickets name: they outlive their executables
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_STREAM_RACES_H
