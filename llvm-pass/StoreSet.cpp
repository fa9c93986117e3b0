// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StoreSet.h"

#include "LlvmVersions.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/AMDGPUAddrSpace.h"

using namespace llvm;
using namespace wavesan;

// Many say nothing of what they write, so that the optimiser leaves them where they are.
bool wavesan::writesNothingShared(const IntrinsicInst &I) {
  return StringCases<bool>(amdgcnName(I))
      .StartsWith("s.barrier", true)
      .StartsWith("sched.", true)
      .StartsWith("iglp.", true)
      .StartsWith("s.sleep", true)
      .StartsWith("s.wait", true)
      .StartsWith("s.getreg", true)
      .StartsWith("s.setreg", true)
      .StartsWith("s.sendmsg", true)
      .StartsWith("s.dcache.", true)
      .StartsWith("buffer.wbinv", true)
      .Cases({"wave.barrier", "s.setprio", "s.memtime", "s.memrealtime", "s.wakeup", "s.icache.inv", "s.sethalt",
              "endpgm"},
             true)
      // Copies to LDS.
      .Cases({"global.load.lds", "load.to.lds", "raw.ptr.buffer.load.lds", "struct.ptr.buffer.load.lds"}, true)
      .StartsWith("global.load.async.to.lds", true)
      .Default(false);
}

namespace {

class Collector {
public:
  explicit Collector(const Function &F) : Layout(F.getParent()->getDataLayout()) {}

  void add(const Instruction &I) {
    if (!I.mayWriteToMemory() || isa<LoadInst>(I) || isa<FenceInst>(I)) // ordered ones "write", for the optimiser
      return;
    if (auto *Store = dyn_cast<StoreInst>(&I))
      return addPointer(Store->getPointerOperand());
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      return addPointer(Atomic->getPointerOperand());
    if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
      return addPointer(Exchange->getPointerOperand());
    if (auto *Memory = dyn_cast<AnyMemIntrinsic>(&I))
      return addPointer(Memory->getRawDest());
    if (auto *Call = dyn_cast<CallBase>(&I))
      return addCall(*Call);
    Set.Known = false;
  }

  StoreSet Set;

private:
  static bool isOfTheWorkgroup(unsigned AddressSpace) {
    return AddressSpace == AMDGPUAS::LOCAL_ADDRESS || AddressSpace == AMDGPUAS::PRIVATE_ADDRESS;
  }

  void addCall(const CallBase &Call) {
    const Function *Callee = Call.getCalledFunction();
    if (Callee && Callee->getName().starts_with("__wavesan_"))
      return;
    if (!Callee || !Callee->isIntrinsic()) {
      Set.Known = false;
      return;
    }
    if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call); Intrinsic && writesNothingShared(*Intrinsic))
      return;
    const MemoryEffects Elsewhere =
        Call.getMemoryEffects().getWithoutLoc(IRMemLocation::ArgMem).getWithoutLoc(IRMemLocation::InaccessibleMem);
    if (isModSet(Elsewhere.getModRef())) {
      Set.Known = false;
      return;
    }
    if (!isModSet(Call.getMemoryEffects().getModRef(IRMemLocation::ArgMem)))
      return;
    bool Named = false;
    for (unsigned N = 0; N < Call.arg_size(); ++N)
      if (Call.getArgOperand(N)->getType()->isPtrOrPtrVectorTy() && !Call.onlyReadsMemory(N)) {
        addPointer(Call.getArgOperand(N));
        Named = true;
      }
    if (!Named) // the address is in a descriptor
      Set.Known = false;
  }

  void addPointer(const Value *Pointer) {
    if (isOfTheWorkgroup(Pointer->getType()->getPointerAddressSpace()))
      return;
    SmallVector<const Value *, 4> Objects;
    getUnderlyingObjects(Pointer, Objects, nullptr, 0);
    for (const Value *Object : Objects)
      addObject(Object);
  }

  void addObject(const Value *Object) {
    if (isa<AllocaInst>(Object) || isa<ConstantPointerNull>(Object) || isa<UndefValue>(Object))
      return;
    if (Object->getType()->isPointerTy() && isOfTheWorkgroup(Object->getType()->getPointerAddressSpace()))
      return;
    if (auto *Variable = dyn_cast<GlobalVariable>(Object)) {
      Set.Variables.insert(Variable->getName().str());
    } else if (auto *Argument = dyn_cast<llvm::Argument>(Object); Argument && !Argument->hasByRefAttr()) {
      Set.Arguments.insert({Argument->getArgNo(), 0});
    } else if (auto *Load = dyn_cast<LoadInst>(Object)) {
      addLoaded(*Load);
    } else {
      Set.Known = false;
    }
  }

  /// A pointer that was a member of an argument passed by value.
  void addLoaded(const LoadInst &Load) {
    APInt Offset(Layout.getIndexTypeSizeInBits(Load.getPointerOperandType()), 0);
    const Value *Base = Load.getPointerOperand()->stripAndAccumulateConstantOffsets(Layout, Offset, true);
    auto *Argument = dyn_cast<llvm::Argument>(Base);
    if (Argument && Argument->hasByRefAttr() && !Offset.isNegative() && Offset.ult(UINT32_MAX) &&
        Argument->getType()->getPointerAddressSpace() == AMDGPUAS::CONSTANT_ADDRESS)
      Set.Arguments.insert({Argument->getArgNo(), uint32_t(Offset.getZExtValue())});
    else
      Set.Known = false;
  }

  const DataLayout &Layout;
};

} // namespace

StoreSet wavesan::storeSetOf(const Function &Twin) {
  Collector All(Twin);
  for (const Instruction &I : instructions(Twin))
    All.add(I);
  if (!All.Set.Known)
    return {false, {}, {}};
  return All.Set;
}
