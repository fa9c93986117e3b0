// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "Before its next barrier" is judged on pieces of the control flow graph. A cut is a barrier with a fence in front that
// completes what the wave has written, at which the wave arrives as a whole: a barrier of the language, or one in a block
// that every execution comes through. Cuts part blocks; what is still connected, in whatever direction, is one piece. Between
// two cuts a wave does not leave a piece: also where it executes the arms of a branch one after the other.
#include "StoredConstants.h"

#include "Hooks.h"

#include "wavesan/abi/system_files.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace wavesan;

namespace {

/// More writes in one piece are not compared one by one.
constexpr size_t kMaxWrites = 256;

/// Little endian; empty if some bits are unknown.
std::string bytesOf(const Constant &C, const DataLayout &Layout) {
  Type *T = C.getType();
  const uint64_t Bits = Layout.getTypeSizeInBits(T).getKnownMinValue();
  if (T->isVectorTy()) {
    auto *Vector = dyn_cast<FixedVectorType>(T);
    std::string All;
    for (unsigned I = 0; Vector && I < Vector->getNumElements(); ++I) {
      const Constant *Element = C.getAggregateElement(I);
      const std::string Bytes = Element ? bytesOf(*Element, Layout) : std::string();
      if (Bytes.empty())
        return {};
      All += Bytes;
    }
    return All.size() * 8 == Bits ? All : std::string();
  }
  if (Bits == 0 || Bits % 8 != 0 || Layout.getTypeStoreSizeInBits(T).getFixedValue() != Bits)
    return {};
  APInt Value(unsigned(Bits), 0);
  if (auto *Int = dyn_cast<ConstantInt>(&C))
    Value = Int->getValue();
  else if (auto *Float = dyn_cast<ConstantFP>(&C))
    Value = Float->getValueAPF().bitcastToAPInt();
  else if (!isa<ConstantPointerNull>(C))
    return {};
  std::string Bytes;
  for (unsigned I = 0; I < Bits; I += 8)
    Bytes += char(Value.extractBitsAsZExtValue(8, I));
  return Bytes;
}

/// What the instruction of an access stores: one byte where all are the same, else all of them where two accesses that
/// overlap must be at one address.
std::string storedBy(const Access &A) {
  const DataLayout &Layout = A.I->getDataLayout();
  if (A.Bits != abi::kAccessWrite || A.Buffer || A.IsCopy)
    return {};
  if (auto *Set = dyn_cast<MemSetInst>(A.I)) {
    auto *Byte = dyn_cast<ConstantInt>(Set->getValue());
    return Byte ? std::string(1, char(Byte->getZExtValue())) : std::string();
  }
  auto *Store = dyn_cast<StoreInst>(A.I);
  auto *Value = Store ? dyn_cast<Constant>(Store->getValueOperand()) : nullptr;
  if (!Value || A.Runs.size() != 1)
    return {};
  const std::string Bytes = bytesOf(*Value, Layout);
  if (Bytes.empty() || Bytes.size() != A.Runs.front().Size)
    return {};
  if (all_of(Bytes, [&](char C) { return C == Bytes.front(); }))
    return Bytes.substr(0, 1);
  return isPowerOf2_64(Bytes.size()) && Store->getAlign().value() >= Bytes.size() ? Bytes : std::string();
}

bool mayShareBytes(const Access &A, const Access &B) {
  if (A.Where != B.Where)
    return A.Where == Region::Generic || B.Where == Region::Generic;
  return A.Where != Region::Lds || !A.VariableAddress || !B.VariableAddress || A.VariableAddress == B.VariableAddress;
}

bool completesWrites(const SyncPoint &Point) {
  const uint32_t Both = abi::kFenceLds | abi::kFenceGlobal;
  return (Point.What == SyncPoint::FenceAfter || Point.What == SyncPoint::FenceBefore) &&
         (abi::fenceBits(Point.Operand) & Both) == Both &&
         (abi::fenceBits(Point.Operand) & (abi::kFenceRelease | abi::kFenceSeqCst)) != 0 &&
         abi::fenceScope(Point.Operand) >= abi::Scope::Workgroup;
}

bool isOfLanguage(const Instruction &Barrier) {
  const DILocation *Location = Barrier.getDebugLoc();
  if (!Location)
    return false;
  StringRef File = Location->getFilename();
  const std::string Whole = (Location->getDirectory() + "/" + File).str();
  return abi::isLanguageFile(File.starts_with("/") ? std::string_view(File.data(), File.size()) : Whole);
}

/// May a call write memory that lanes share, and what is not an access of this function?
bool mayWriteUnseen(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Call && !isa<IntrinsicInst>(Call) && Call->mayWriteToMemory() && !(Callee && hookOf(*Callee));
}

class Pieces {
public:
  Pieces(Function &F, const SyncChoice &Sync, const PostDominatorTree &Always) {
    DenseMap<const Instruction *, bool> Completes; // fences, and barriers that are cuts if one stands in front
    for (const SyncPoint &Point : Sync.Points)
      if (completesWrites(Point))
        Completes[Point.I] = true;
      else if (Point.What == SyncPoint::BarrierFull || Point.What == SyncPoint::BarrierArrive)
        Completes[Point.I] = false;
    DenseMap<const BasicBlock *, unsigned> First, Last;
    for (BasicBlock &Block : F) {
      const bool Everybody = Always.dominates(&Block, &F.getEntryBlock());
      First[&Block] = fresh();
      bool Complete = false;
      for (Instruction &I : Block) {
        Of[&I] = Count;
        auto It = Completes.find(&I);
        if (It == Completes.end())
          Complete = Complete && !I.mayWriteToMemory();
        else if (It->second)
          Complete = true;
        else if (Complete && (Everybody || isOfLanguage(I)))
          fresh();
      }
      Last[&Block] = Count;
    }
    for (BasicBlock &Block : F)
      for (BasicBlock *Next : successors(&Block))
        Classes.unionSets(Last[&Block], First[Next]);
  }
  unsigned of(const Instruction &I) const { return Classes.getLeaderValue(Of.lookup(&I)); }

private:
  unsigned fresh() {
    Classes.insert(++Count);
    return Count;
  }
  unsigned Count = 0;
  EquivalenceClasses<unsigned> Classes;
  DenseMap<const Instruction *, unsigned> Of;
};

} // namespace

std::vector<std::string> wavesan::storedConstants(Function &Twin, ArrayRef<Access> Accesses, const SyncChoice &Sync,
                                                  const PostDominatorTree &Always) {
  std::vector<std::string> Stored;
  for (const Access &A : Accesses)
    Stored.push_back(storedBy(A));
  if (all_of(Stored, [](const std::string &S) { return S.empty(); }))
    return Stored;
  const Pieces Parts(Twin, Sync, Always);
  DenseMap<unsigned, std::vector<size_t>> Writes; // accesses of each piece
  for (size_t I = 0; I < Accesses.size(); ++I)
    if (Accesses[I].Bits & abi::kAccessWrite)
      Writes[Parts.of(*Accesses[I].I)].push_back(I);
  DenseMap<unsigned, bool> Unseen;
  for (BasicBlock &Block : Twin)
    for (Instruction &I : Block)
      if (mayWriteUnseen(I))
        Unseen[Parts.of(I)] = true;
  std::vector<std::string> Lasting(Stored.size());
  for (const auto &[Piece, Here] : Writes)
    for (size_t I : Here)
      if (!Stored[I].empty() && Here.size() <= kMaxWrites && !Unseen.lookup(Piece) &&
          all_of(Here, [&](size_t J) { return Stored[J] == Stored[I] || !mayShareBytes(Accesses[I], Accesses[J]); }))
        Lasting[I] = Stored[I];
  return Lasting;
}
