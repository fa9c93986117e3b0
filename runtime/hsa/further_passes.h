// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks global memory that did not fit into the budget of the checks, in further passes of the dispatch from the same
// memory, each of which records one part of it (option further_passes, docs/replay.md).
#ifndef WAVESAN_HSA_FURTHER_PASSES_H
#define WAVESAN_HSA_FURTHER_PASSES_H

#include "findings.h"
#include "replay_packet.h"

#include "wavesan/abi/options.h"
#include "wavesan/abi/replay.h"

#include <functional>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// Of a pass over part of memory.
enum class PartResult {
  Whole,  ///< everything in it was recorded
  Partly, ///< there was no room for all of it
  Failed, ///< nothing can follow
};

/// Divides `ranges` (in the order of addresses) and tries the parts, smaller ones where one does not fit. The whole has
/// been tried and has not fitted. `mostPasses`: calls of `pass`. Returns how many there were; `rest` is true if some
/// memory was not recorded.
uint64_t passOverParts(const std::vector<MemoryMap::LiveRange> &ranges, uint64_t mostPasses,
                       const std::function<PartResult(const abi::ShadowWindow &)> &pass, bool &rest);

class FurtherPasses {
public:
  FurtherPasses(const abi::Options &options, const abi::CpuAgent *agent);

  bool enabled() const { return Most != 0; }
  bool wants(const Kernel &kernel) const;
  /// After the first pass of `host`, for which there was not enough room. Returns the races that later ones show.
  /// Afterwards memory is as the first pass left it.
  std::vector<DispatchRace> run(Tool &tool, PacketHost &host, const Kernel &kernel, uint64_t dispatch) const;

private:
  const uint64_t Most;
  const abi::CpuAgent *const Agent; ///< whose own hooks record; null: the device runtime does
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_FURTHER_PASSES_H
