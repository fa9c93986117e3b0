// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NotedWrites.h"

#include "CallGraphFacts.h"
#include "InlineAsmFacts.h"
#include "StoreSet.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/AMDGPUAddrSpace.h"

using namespace llvm;
using namespace wavesan;

namespace {

class Judge {
public:
  Judge(const Function &F, const AccessChoice &Choice, LdsArgumentList LdsArguments, const GpuTarget &Target)
      : Target(Target), Places(F, LdsArguments), KnownAsm(Choice.KnownAsm.begin(), Choice.KnownAsm.end()) {
    for (const Access &A : Choice.Accesses)
      if ((A.Bits & abi::kAccessWrite) && !A.IsCopy && !A.Buffer && !(A.Ordering & abi::kAccessOfCopy))
        ++Hooked[A.I];
  }

  bool isNoted(const Instruction &I) const {
    if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->isInlineAsm())
      return isNotedAsm(*Call);
    // Ordered loads and fences "write", for the optimiser.
    if (!I.mayWriteToMemory() || isa<LoadInst>(I) || isa<FenceInst>(I))
      return true;
    if (auto *Store = dyn_cast<StoreInst>(&I))
      return isNotedAt(I, Store->getPointerOperand());
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      return isNotedAt(I, Atomic->getPointerOperand());
    if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
      return isNotedAt(I, Exchange->getPointerOperand());
    if (auto *Memory = dyn_cast<AnyMemIntrinsic>(&I))
      return isNotedAt(I, Memory->getRawDest());
    if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
      return staysInWorkgroup(*Intrinsic);
    auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? directCallee(*Call) : nullptr;
    // Of a function that is called the caller asks (notesEachWrite() of it).
    return Callee &&
           (Callee->getName().starts_with("__wavesan_") || (!Callee->isDeclaration() && !isRuntimeService(*Callee)));
  }

private:
  bool isNotedAt(const Instruction &I, const Value *Pointer) const {
    const Region Where = Places.of(Pointer).Where;
    return Where == Region::Private || Where == Region::Lds || Hooked.contains(&I);
  }

  bool isNotedAsm(const CallBase &Call) const {
    if (!KnownAsm.contains(&Call))
      return false;
    unsigned Writes = 0;
    for (const AsmMemory &Memory : readInlineAsm(Call, Target).Memory)
      if ((Memory.Bits & abi::kAccessWrite) && !Memory.IsCopy) {
        if (Memory.IsOfCopy)
          return false;
        ++Writes;
      }
    return Hooked.lookup(&Call) == Writes;
  }

  static bool staysInWorkgroup(const IntrinsicInst &I) {
    switch (I.getIntrinsicID()) {
    case Intrinsic::trap:
    case Intrinsic::debugtrap:
    case Intrinsic::ubsantrap:
    case Intrinsic::prefetch:
    case Intrinsic::amdgcn_ds_append:
    case Intrinsic::amdgcn_ds_consume:
    case Intrinsic::amdgcn_ds_gws_barrier:
      return true;
    default:
      return I.isAssumeLikeIntrinsic() || writesNothingShared(I);
    }
  }

  const GpuTarget &Target;
  MemoryPlaces Places;
  SmallPtrSet<const Instruction *, 8> KnownAsm;
  DenseMap<const Instruction *, unsigned> Hooked; ///< hooks that hear of its writes
};

} // namespace

bool wavesan::notesEachWrite(const Function &F, const AccessChoice &Choice, LdsArgumentList LdsArguments,
                             const GpuTarget &Target) {
  const Judge Of(F, Choice, LdsArguments, Target);
  return all_of(instructions(F), [&](const Instruction &I) { return Of.isNoted(I); });
}
