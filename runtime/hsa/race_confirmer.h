// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells whether the order of two accesses that race changes what the dispatch computes (option confirm,
// docs/replay.md).
//
// The dispatch runs again from the same memory, with the two accesses forced into one order and then into the other,
// under several seeds each: by the engine of the CPU agent, or elsewhere, and with hooks=device, by delays of the device
// runtime. A byte counts as changed by the order only if all passes of one order agree on it, and all
// passes of the other order on another value: everything else in which the passes differ may come from anything that
// the seeds vary.
#ifndef WAVESAN_HSA_RACE_CONFIRMER_H
#define WAVESAN_HSA_RACE_CONFIRMER_H

#include "findings.h"
#include "replay_packet.h"

#include "wavesan/abi/options.h"
#include "wavesan/abi/replay.h"

#include <atomic>
#include <vector>

namespace wavesan::hsa {

/// Thread-safe.
class RaceConfirmer {
public:
  RaceConfirmer(const abi::Options &options, const abi::CpuAgent *agent);

  bool enabled() const { return On; }
  bool wants(const Kernel &kernel) const;
  /// After the first pass of `host`, whose races these are. Reports a verdict for each that is new. Afterwards memory is
  /// as the first pass left it.
  void confirm(Tool &tool, PacketHost &host, const Kernel &kernel, const std::vector<DispatchRace> &races,
               uint64_t dispatch);

private:
  /// One pass, the access of `first` before that of `second`. Returns whether that came about.
  bool pass(PacketHost &host, uint64_t number, const abi::Schedule &schedule);
  report::Confirmation verdict(Tool &tool, PacketHost &host, const Kernel &kernel, const DispatchRace &race,
                               uint64_t dispatch);

  const bool On;
  const uint64_t FirstSeed;
  const uint32_t Seeds; ///< for each order
  const uint64_t MostRaces;
  const bool ByDelays;
  const abi::CpuAgent *const Agent;
  std::atomic<uint64_t> Tried{0};
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_RACE_CONFIRMER_H
