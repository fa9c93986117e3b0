// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixpoint over one function, and what its callers may rely on.
#ifndef WAVESAN_WAITCHECK_SOLVER_H
#define WAVESAN_WAITCHECK_SOLVER_H

#include "Transfer.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace wavesan::waitcheck {

struct Solution {
  std::vector<PendingState> entry; ///< per block, at its start
  std::vector<CallFacts> calls;    ///< per block, for the call at its end
  CallFacts atReturn;              ///< what a call of the function does
  uint64_t steps = 0;              ///< instructions visited
};

/// What the call at the end of a block does.
using CalleeFacts = llvm::function_ref<CallFacts(const Block &)>;

/// Computes the least fixpoint: for every block the union over all paths of what is pending, with minimum ages.
/// Monotone and finite.
Solution solve(const IsaContext &isa, const Function &f, CalleeFacts callee);

/// What is pending at the call, or tail call, that ends a block.
struct AtCall {
  EntryFacts pending;  ///< what the function itself began
  CounterSet open = 0; ///< counters of which its callers' operations may still be pending
};
AtCall pendingAtCall(const IsaContext &isa, const Function &f, const Solution &s, uint32_t block);

/// One more pass over the solution, with the hazards.
std::vector<Hazard> findHazards(const IsaContext &isa, const Function &f, const Solution &s);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_SOLVER_H
