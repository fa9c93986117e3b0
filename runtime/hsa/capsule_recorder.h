// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes capsules of dispatches (option capsule, docs/capsule.md).
//
// Whether a dispatch shows a race is known when it is over, and then its memory is no longer as it was. So memory is
// saved before every dispatch that may get a capsule (watched_dispatch.h), until there are enough capsules.
#ifndef WAVESAN_HSA_CAPSULE_RECORDER_H
#define WAVESAN_HSA_CAPSULE_RECORDER_H

#include "kernel_table.h"
#include "replay_snapshot.h"

#include "wavesan/abi/options.h"
#include "wavesan/capsule/capsule.h"
#include "wavesan/report/name_filter.h"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace wavesan::hsa {

class Findings;
class Tool;
struct DispatchRace;
struct QueueState;

/// Thread-safe.
class CapsuleRecorder {
public:
  explicit CapsuleRecorder(const abi::Options &options);

  bool enabled() const { return !Directory.empty(); }
  /// Dispatches of this kernel may still get a capsule.
  bool wants(const Kernel &kernel) const;
  /// Before the dispatch, whose memory has been saved. Nothing, after declined(), if it can have no capsule. The result
  /// refers to `memory`.
  std::optional<capsule::Capsule> begin(Tool &tool, const QueueState &queue, const Kernel &kernel,
                                        const hsa_kernel_dispatch_packet_t &packet, uint64_t dispatch,
                                        const Snapshot &memory);
  /// After it: writes the capsule if it is to have one.
  void end(Findings &findings, const Kernel &kernel, capsule::Capsule capsule, const Snapshot &memory,
           const std::vector<DispatchRace> &races);
  /// The dispatch gets none: said now, or if it shows a race.
  void declined(Findings &findings, const Kernel &kernel, uint64_t dispatch, const std::string &why) const;
  /// Says how many were written.
  void finish(Findings &findings) const;

private:
  bool full() const { return Most != 0 && Written.load(std::memory_order_relaxed) >= Most; }

  const std::string Directory;
  const bool All; ///< not only racy ones
  const report::KernelFilter Kernels;
  const uint64_t Most, MostBytes;
  std::atomic<uint64_t> Written{0};
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_CAPSULE_RECORDER_H
