// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "CoveredAccesses.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"

#include <map>
#include <tuple>

using namespace llvm;
using namespace wavesan;

static cl::opt<bool> KeepCovered("wavesan-keep-covered",
                                 cl::desc("WaveSan: check reads whose bytes the same lane has just accessed, too"));

namespace {

/// An address without the constants in it.
using Base = std::tuple<Value *, Value *, Region>;
struct Place {
  Base Of;
  int64_t Distance = 0;
};

Place placeOf(const Access &A, const DataLayout &Layout) {
  Value *Pointer = A.Pointer;
  if (!Pointer->getType()->isPointerTy())
    return {{Pointer, A.Offset, A.Where}, 0};
  APInt Distance(Layout.getIndexTypeSizeInBits(Pointer->getType()), 0);
  Pointer = Pointer->stripAndAccumulateConstantOffsets(Layout, Distance, /*AllowNonInbounds=*/true);
  return {{Pointer, A.Offset, A.Where}, Distance.getSExtValue()};
}

/// Whether a lane may get or give an order here, or may not come out of it.
bool mayOrder(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false; // atomics are accesses or sync points
  if (isa<AnyMemIntrinsic>(Call) || isa<DbgInfoIntrinsic>(Call))
    return false;
  return !isa<IntrinsicInst>(Call) || Call->isConvergent() || Call->mayHaveSideEffects() || !Call->willReturn();
}

class Block {
public:
  explicit Block(const DataLayout &Layout) : Layout(Layout) {}

  void forget() { Known.clear(); }

  bool covers(const Access &A) const {
    if (A.Bits & abi::kAccessWrite)
      return false;
    if (auto *Load = dyn_cast<LoadInst>(A.I); Load && Load->isVolatile())
      return false; // may be what a loop waits for
    const Place At = placeOf(A, Layout);
    auto It = Known.find(At.Of);
    return It != Known.end() && all_of(A.Runs, [&](const ByteRun &Run) {
             const int64_t First = At.Distance + int64_t(Run.Offset), Last = First + int64_t(Run.Size);
             return any_of(It->second, [&](const auto &Range) { return Range.first <= First && Last <= Range.second; });
           });
  }

  void add(const Access &A) {
    const Place At = placeOf(A, Layout);
    for (const ByteRun &Run : A.Runs) {
      const int64_t First = At.Distance + int64_t(Run.Offset);
      Known[At.Of].push_back({First, First + int64_t(Run.Size)});
    }
  }

private:
  const DataLayout &Layout;
  std::map<Base, SmallVector<std::pair<int64_t, int64_t>, 2>> Known;
};

} // namespace

unsigned wavesan::removeCovered(Function &F, AccessChoice &Choice, const SyncChoice &Sync) {
  if (KeepCovered || Choice.hasCopies() || Sync.PartialVmemWaits || Sync.PartialLdsWaits || !Choice.KnownAsm.empty())
    return 0;
  SmallPtrSet<const Instruction *, 16> Syncs;
  for (const SyncPoint &Point : Sync.Points)
    Syncs.insert(Point.I);
  DenseMap<const Instruction *, SmallVector<size_t, 2>> At;
  for (size_t I = 0; I < Choice.Accesses.size(); ++I)
    At[Choice.Accesses[I].I].push_back(I);
  std::vector<bool> Covered(Choice.Accesses.size());
  unsigned Count = 0;
  for (BasicBlock &Code : F) {
    Block Known(F.getParent()->getDataLayout());
    for (Instruction &I : Code) {
      if (Syncs.contains(&I) || mayOrder(I))
        Known.forget();
      auto It = At.find(&I);
      if (It == At.end())
        continue;
      for (size_t Index : It->second) {
        const Access &A = Choice.Accesses[Index];
        if (A.isAtomic()) {
          Known.forget();
        } else if (!A.Buffer && !A.Length && !A.Runs.empty()) { // of a buffer, lanes may be out of range
          if (Known.covers(A)) {
            Covered[Index] = true;
            ++Count;
          } else {
            Known.add(A);
          }
        }
      }
    }
  }
  size_t Index = 0;
  erase_if(Choice.Accesses, [&](const Access &) { return Covered[Index++]; });
  return Count;
}
