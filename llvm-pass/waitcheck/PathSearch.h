// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a hazard to a path: which way execution gets from the producer to the consumer with the item still pending, and whether it can.
#ifndef WAVESAN_WAITCHECK_PATHSEARCH_H
#define WAVESAN_WAITCHECK_PATHSEARCH_H

#include "BranchFacts.h"
#include "Solver.h"

namespace wavesan::waitcheck {

struct HazardPath {
  bool found = false;      ///< a path that no known fact contradicts
  bool exhausted = false;  ///< all paths were looked at
  bool decided = false;    ///< a conditional branch lies on it
  uint32_t producer = noProducer;
  std::vector<uint32_t> blocks; ///< from the producer's block to the consumer's
};

class PathSearch {
public:
  PathSearch(const IsaContext &isa, const Function &f, const Solution &s);

  /// A shortest path (in blocks) for this hazard. If the recorded producer has none, every other instruction that leaves such an item is
  /// tried. Not found and exhausted: the hazard cannot happen.
  HazardPath find(const Hazard &h);

private:
  HazardPath from(uint32_t producer, const Hazard &h);
  const std::vector<BranchFacts> &facts();

  const IsaContext &isa;
  const Function &f;
  const Solution &solution;
  const Transfer transfer;
  std::vector<BranchFacts> entryFacts; ///< computed when first needed
  uint64_t work = 0;
};

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_PATHSEARCH_H
