// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which barrier comes next: the barriers of a twin by source position, and the branches that decide between them.
//
// The optimiser copies barriers (unrolled and peeled loops, inlined callees). Copies have one source position, calls
// they were inlined through included, so positions tell source barriers apart and instructions do not. A barrier whose
// position has been lost or merged is taken for any barrier.
//
// For each block, `next` is the set of what lanes can meet first from its beginning on: barriers, or the kernel's end.
// An edge on which the set shrinks is a turn: taking it decides against something. Sets only shrink on the way to the
// next barrier, so a lane takes at most as many turns as there are barriers until then.
#ifndef WAVESAN_CPU_ENGINE_BARRIER_FLOW_H
#define WAVESAN_CPU_ENGINE_BARRIER_FLOW_H

#include "wave.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <string>
#include <vector>

namespace llvm {
class BasicBlock;
class CallBase;
class DILocation;
class Function;
class Instruction;
} // namespace llvm

namespace wavesan::cpu::engine {

/// Immutable after construction, except for turnOf(), which the decoder calls with the program's lock held before any
/// launch can name the turn.
class BarrierFlow final : public BarrierMap {
public:
  explicit BarrierFlow(const llvm::Function &kernel);

  bool empty() const { return barriers.empty(); }
  /// Number of the turn of this edge of the kernel, or kNoTurn.
  uint32_t turnOf(const llvm::Instruction &branch, const llvm::BasicBlock *to) const;

  Barrier barrier(uint32_t site) const override;
  bool leaves(uint32_t turn, uint32_t source) const override;
  Position position(uint32_t turn, uint32_t barrierSite) const override;

private:
  struct Site {
    Barrier barrier;
    const llvm::DILocation *location;
  };
  struct TurnEdge {
    const llvm::DILocation *location;
    llvm::BitVector left; ///< bit of each source that this edge leaves
  };

  void collectBarriers(const llvm::Function &kernel);
  void solve(const llvm::Function &kernel);
  uint32_t bitOf(uint32_t source) const;

  llvm::DenseMap<uint32_t, Site> barriers; ///< by site
  std::map<std::string, uint32_t> sources;
  std::vector<TurnEdge> turns;
  llvm::DenseMap<std::pair<const llvm::Instruction *, const llvm::BasicBlock *>, uint32_t> turnOfEdge;
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_BARRIER_FLOW_H
