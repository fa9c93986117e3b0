// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LdsOrder.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace llvm;
using namespace wavesan;

/// The next instruction in this direction that does something.
static const Instruction *neighbour(const Instruction &I, bool After) {
  const Instruction *N = &I;
  do
    N = After ? N->getNextNode() : N->getPrevNode();
  while (N && (isa<FenceInst>(N) || N->isDebugOrPseudoInst()));
  return N;
}

static bool isBarrier(const Instruction *I) {
  const auto *Call = dyn_cast_or_null<IntrinsicInst>(I);
  return Call && Call->getIntrinsicID() == Intrinsic::amdgcn_s_barrier;
}

uint32_t wavesan::ldsOrderFacts(ArrayRef<Access> Accesses, ArrayRef<SyncPoint> Points) {
  uint32_t Facts = 0;
  for (const Access &A : Accesses) {
    const uint32_t Info = A.info(0);
    if (!abi::atomicInWorkgroup(Info) || A.Where == Region::Global)
      continue;
    if (A.Bits & abi::kAccessRead)
      Facts |= kLdsReads | (abi::atomicAcquires(Info) ? kLdsAcquires : 0u);
    if (A.Bits & abi::kAccessWrite)
      Facts |= kLdsWrites | (abi::atomicReleases(Info) ? kLdsReleases : 0u);
  }
  for (const SyncPoint &Point : Points) {
    if (Point.What != SyncPoint::FenceAfter || !isa<FenceInst>(Point.I) ||
        abi::fenceScope(Point.Operand) < abi::Scope::Workgroup)
      continue;
    if (abi::fenceBits(Point.Operand) & abi::kFenceAcquire && !isBarrier(neighbour(*Point.I, /*After=*/false)))
      Facts |= kFencesAcquire;
    if (abi::fenceBits(Point.Operand) & abi::kFenceRelease && !isBarrier(neighbour(*Point.I, /*After=*/true)))
      Facts |= kFencesRelease;
  }
  return Facts;
}
