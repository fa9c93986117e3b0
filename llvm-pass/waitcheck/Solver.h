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
  std::vector<PendingState> entry;    ///< per block, at its start
  std::vector<CounterSet> callProves; ///< per block, for the call at its end
  CounterSet provedAtReturn = allCounters; ///< counters whose operations of the caller are complete at every return
  uint64_t steps = 0;                 ///< instructions visited
};

/// What a call proves: by the address of the callee, if it is known.
using CalleeFacts = llvm::function_ref<CounterSet(const Block &)>;

/// Computes the least fixpoint: for every block the union over all paths of what is pending, with minimum ages. Monotone and finite.
Solution solve(const IsaContext &isa, const Function &f, CalleeFacts callee);

/// One more pass over the solution, with the hazards.
std::vector<Hazard> findHazards(const IsaContext &isa, const Function &f, const Solution &s);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_SOLVER_H
