// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each block: the set of source barriers, or the end, that can come next. On the way to the next barrier the set only
// shrinks, so a work-item loses the way to a barrier on exactly one edge: the branch there has decided. The CPU agent looks
// which edge that was (runtime/cpu/engine/barrier_flow.h); here all edges are looked for that it can have been.
#include "BarrierBranches.h"

#include "SiteRecorder.h"

#include "wavesan/abi/hooks.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <map>
#include <set>

using namespace llvm;
using namespace wavesan;

namespace {

/// The table grows with the third power of it.
constexpr unsigned kMaxSources = 24;

const Function *calleeOf(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call ? Call->getCalledFunction() : nullptr;
}
bool isArrival(const Instruction &I) {
  const Function *Callee = calleeOf(I);
  return Callee && Callee->getName() == abi::kHookSymbols[uint32_t(abi::Hook::BarrierArrive)];
}

bool isExact(const DILocation *Location) {
  for (const DILocation *L = Location; L; L = L->getInlinedAt())
    if (L->getLine() == 0)
      return false;
  return Location != nullptr;
}

/// The frames of a position, the kernel's first.
SmallVector<const DILocation *, 8> framesOf(const DILocation *Location) {
  SmallVector<const DILocation *, 8> Frames;
  for (const DILocation *L = Location; L; L = L->getInlinedAt())
    Frames.insert(Frames.begin(), L);
  return Frames;
}

/// Line, column and depth: of a branch, in the innermost frame that it shares with a barrier.
using Position = std::tuple<uint32_t, uint32_t, uint32_t>;
Position positionOf(const DILocation *Branch, const DILocation *Barrier) {
  Position Found{};
  const auto B = framesOf(Branch), Q = framesOf(Barrier);
  for (size_t I = 0; I < std::min(B.size(), Q.size()); ++I) {
    if (B[I]->getScope()->getSubprogram() != Q[I]->getScope()->getSubprogram())
      break;
    Found = {B[I]->getLine(), B[I]->getColumn(), uint32_t(I)};
    if (B[I]->getLine() != Q[I]->getLine() || B[I]->getColumn() != Q[I]->getColumn())
      break;
  }
  return Found;
}

/// Copies of one barrier have one key.
std::string keyOf(const DILocation *Location) {
  std::string Key;
  for (const DILocation *L = Location; L; L = L->getInlinedAt())
    Key += (L->getDirectory() + "/" + L->getFilename() + ":" + Twine(L->getLine()) + ":" + Twine(L->getColumn()) + "|").str();
  return Key;
}

class Flow {
public:
  explicit Flow(const Function &F) : F(F) {
    collect();
    if (!Locations.empty() && Locations.size() <= kMaxSources)
      solve();
    else
      Locations.clear();
  }

  void record(SiteRecorder &Sites) const {
    for (unsigned P = 0; P < Locations.size(); ++P)
      for (unsigned X = 0; X <= Locations.size(); ++X) { // the last one: the end
        if (X == P)
          continue;
        std::vector<std::pair<unsigned, Position>> Known; // by start: a source, or the kernel's beginning
        unsigned Starts = 0;
        std::set<Position> Different;
        for (unsigned L = 0; L <= Locations.size(); ++L) {
          if (!From[L].test(P) || !From[L].test(bitOf(X)))
            continue;
          ++Starts;
          const Position Branch = decides(L, P, X);
          if (std::get<0>(Branch) == 0)
            continue;
          Known.push_back({L, Branch});
          Different.insert(Branch);
        }
        const bool Everywhere = Known.size() == Starts && Different.size() == 1;
        for (const auto &[L, Branch] : Known) {
          const auto &[Line, Column, Depth] = Branch;
          std::optional<const DILocation *> Start;
          if (!Everywhere)
            Start = L == end() ? nullptr : Locations[L];
          Sites.addBranch(Start, Locations[P], X == end() ? nullptr : Locations[X], Line, Column, Depth);
          if (Everywhere)
            break;
        }
      }
  }

private:
  struct Block {
    BitVector Next, Out; ///< from its beginning, and from its end on
    bool Stops = false;  ///< a barrier is in it
  };
  // Bits: the sources, the end, and what is not known.
  unsigned bitOf(unsigned Source) const { return Source; }
  unsigned end() const { return unsigned(Locations.size()); }
  unsigned unknown() const { return unsigned(Locations.size()) + 1; }

  void collect() {
    for (const BasicBlock &B : F)
      for (const Instruction &I : B)
        if (const DILocation *Location = I.getDebugLoc().get(); isArrival(I) && isExact(Location))
          if (Keys.try_emplace(keyOf(Location), unsigned(Locations.size())).second)
            Locations.push_back(Location);
    // Functions that may come to a barrier.
    SmallVector<const Function *, 8> Work;
    if (const Function *Hook = F.getParent()->getFunction(abi::kHookSymbols[uint32_t(abi::Hook::BarrierArrive)]))
      Work.push_back(Hook);
    while (!Work.empty())
      for (const User *U : Work.pop_back_val()->users())
        if (auto *Call = dyn_cast<CallBase>(U); Call && WithBarriers.insert(Call->getFunction()).second)
          Work.push_back(Call->getFunction());
  }

  /// Bit of what stops a work-item here, if anything does.
  std::optional<unsigned> stopAt(const Instruction &I) const {
    if (isArrival(I)) {
      const DILocation *Location = I.getDebugLoc().get();
      return isExact(Location) ? Keys.find(keyOf(Location))->second : unknown();
    }
    const Function *Callee = calleeOf(I);
    return Callee && WithBarriers.contains(Callee) ? std::optional(unknown()) : std::nullopt;
  }

  void solve() {
    const unsigned Bits = unknown() + 1;
    for (const BasicBlock &B : F) {
      Block &Here = Blocks[&B];
      Here.Next.resize(Bits);
      Here.Out.resize(Bits);
      for (const Instruction &I : B)
        if (auto Stop = stopAt(I); Stop && !Here.Stops) {
          Here.Next.set(*Stop);
          Here.Stops = true;
        }
      if (isa<ReturnInst>(B.getTerminator()))
        Here.Out.set(end());
      if (!Here.Stops)
        Here.Next = Here.Out;
    }
    const SmallVector<const BasicBlock *, 32> Order(post_order(&F));
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (const BasicBlock *B : Order) {
        Block &Here = Blocks[B];
        BitVector Out = Here.Out;
        for (const BasicBlock *Next : successors(B))
          Out |= Blocks[Next].Next;
        if (Out == Here.Out)
          continue;
        Changed = true;
        Here.Out = Out;
        if (!Here.Stops)
          Here.Next = Out;
      }
    }
    // What can follow each barrier, and the kernel's beginning, and the blocks whose ends are reached until then.
    From.assign(Locations.size() + 1, BitVector(Bits));
    Reached.resize(Locations.size() + 1);
    From.back() |= Blocks[&F.getEntryBlock()].Next;
    if (!Blocks[&F.getEntryBlock()].Stops)
      leave(&F.getEntryBlock(), end());
    for (const BasicBlock &B : F) {
      std::optional<unsigned> Last;
      for (const Instruction &I : B)
        if (auto Stop = stopAt(I)) {
          if (Last && *Last < end())
            From[*Last].set(*Stop);
          Last = Stop;
        }
      if (Last && *Last < end())
        leave(&B, *Last);
    }
  }
  /// Whoever starts at `Start` comes to the end of this block.
  void leave(const BasicBlock *B, unsigned Start) {
    From[Start] |= Blocks[B].Out;
    for (SmallVector<const BasicBlock *, 16> Work{B}; !Work.empty();) {
      const BasicBlock *Here = Work.pop_back_val();
      if (Reached[Start].insert(Here).second)
        for (const BasicBlock *Next : successors(Here))
          if (!Blocks[Next].Stops)
            Work.push_back(Next);
    }
  }

  /// The branch at which one who starts at `L` and comes to `To` has lost the way to `Lost`; line 0 if there are several, or if
  /// no position is known. `Any`: there is an edge.
  Position lostAt(unsigned L, unsigned Lost, unsigned To, const DILocation *Barrier, bool &Any) const {
    std::set<Position> Found;
    for (const BasicBlock *B : Reached[L]) {
      if (!Blocks.find(B)->second.Out.test(Lost))
        continue;
      for (const BasicBlock *Next : successors(B)) {
        const BitVector &After = Blocks.find(Next)->second.Next;
        if (!After.test(Lost) && After.test(To))
          Found.insert(positionOf(B->getTerminator()->getDebugLoc().get(), Barrier));
      }
    }
    Any = !Found.empty();
    return Found.size() == 1 ? *Found.begin() : Position{};
  }
  Position decides(unsigned L, unsigned P, unsigned X) const {
    bool Any = false;
    const Position Left = lostAt(L, P, X, Locations[P], Any);
    return Any ? Left : lostAt(L, X, P, Locations[P], Any);
  }

  const Function &F;
  std::map<std::string, unsigned> Keys; ///< source barriers
  std::vector<const DILocation *> Locations;
  SmallPtrSet<const Function *, 8> WithBarriers;
  DenseMap<const BasicBlock *, Block> Blocks;
  std::vector<BitVector> From; ///< by start
  std::vector<SmallPtrSet<const BasicBlock *, 16>> Reached;
};

} // namespace

void wavesan::recordBarrierBranches(const Function &Twin, SiteRecorder &Sites) { Flow(Twin).record(Sites); }
