// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the workgroups of a kernel can run at the same time without a difference to running one after the other.
#ifndef WAVESAN_CPU_ENGINE_INDEPENDENCE_H
#define WAVESAN_CPU_ENGINE_INDEPENDENCE_H

namespace llvm {
class FenceInst;
class Function;
}

namespace wavesan::cpu::engine {

/// True if the kernel, and all that it can call, has nothing by which workgroups tell one another something, or by
/// which the order of workgroups shows: no atomic on global memory but commutative updates of one kind whose results
/// are not used; no volatile or atomic access, no fence beyond the workgroup, no hooks, no host calls, no inline
/// assembly that touches memory, no call whose target is unknown. What is left is plain memory; there order shows only
/// if workgroups race. Reads the module: the caller keeps others from changing it.
bool hasIndependentWorkgroups(const llvm::Function &kernel);

/// The same for the twin of a checked kernel, whose hooks do not count, if they fail a trial in which workgroups race
/// (trial.h): the pass has left out no access, and there are no atomics on global memory, which cannot be undone.
bool canRunOnTrial(const llvm::Function &twin);

/// Whether a fence is of workgroup scope or narrower.
bool staysInWorkgroup(const llvm::FenceInst &fence);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_INDEPENDENCE_H
