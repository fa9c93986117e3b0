// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HostAccesses.h"

#include "wavesan/abi/host_watch.h"

#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
namespace abi = wavesan::abi;

static cl::opt<bool> CheckHost("wavesan-check-host",
                               cl::desc("instrument the host's accesses to memory that commands may use"));

namespace {

struct HostAccess {
  Instruction *I;
  Value *Address;
  Value *Size;
  uint32_t Bits;
};

/// The two forms that the function has in LLVM 19 to 22.
template <class T> bool mayBeCaptured(const T *Object) {
  if constexpr (requires { PointerMayBeCaptured(Object, false, false, 0u); })
    return PointerMayBeCaptured(Object, /*ReturnCaptures=*/false, /*StoreCaptures=*/true);
  else
    return PointerMayBeCaptured(Object, /*ReturnCaptures=*/false);
}

/// Memory that no command can use: the stack, unless somebody is given its address (and may register it), and what nobody
/// writes.
bool isOutOfReach(const Value *Address) {
  const Value *Object = getUnderlyingObject(Address);
  if (isa<AllocaInst>(Object))
    return !mayBeCaptured(Object);
  const auto *Global = dyn_cast<GlobalVariable>(Object);
  return Global && (Global->isConstant() || Global->isThreadLocal());
}

uint32_t orderBits(AtomicOrdering Order) {
  return (isAcquireOrStronger(Order) ? abi::kHostAcquire : 0u) | (isReleaseOrStronger(Order) ? abi::kHostRelease : 0u) |
         (isStrongerThanUnordered(Order) ? uint32_t(abi::kAccessAtomic) : 0u);
}

class Collector {
public:
  explicit Collector(const DataLayout &Layout, LLVMContext &C) : Layout(Layout), SizeType(Type::getInt64Ty(C)) {}
  std::vector<HostAccess> Accesses;

  void visit(Instruction &I) {
    if (I.hasMetadata(LLVMContext::MD_nosanitize))
      return;
    if (auto *Load = dyn_cast<LoadInst>(&I))
      add(I, Load->getPointerOperand(), Load->getType(), abi::kAccessRead | orderBits(Load->getOrdering()));
    else if (auto *Store = dyn_cast<StoreInst>(&I))
      add(I, Store->getPointerOperand(), Store->getValueOperand()->getType(),
          abi::kAccessWrite | orderBits(Store->getOrdering()));
    else if (auto *RMW = dyn_cast<AtomicRMWInst>(&I))
      add(I, RMW->getPointerOperand(), RMW->getValOperand()->getType(),
          abi::kAccessRead | abi::kAccessWrite | orderBits(RMW->getOrdering()));
    else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
      add(I, Exchange->getPointerOperand(), Exchange->getNewValOperand()->getType(),
          abi::kAccessRead | abi::kAccessWrite | orderBits(Exchange->getSuccessOrdering()));
    else if (auto *Range = dyn_cast<MemIntrinsic>(&I)) {
      add(I, Range->getRawDest(), Range->getLength(), abi::kAccessWrite);
      if (auto *Copy = dyn_cast<MemTransferInst>(Range))
        add(I, Copy->getRawSource(), Range->getLength(), abi::kAccessRead);
    }
  }

private:
  void add(Instruction &I, Value *Address, Type *Accessed, uint32_t Bits) {
    const TypeSize Bytes = Layout.getTypeStoreSize(Accessed);
    if (!Bytes.isScalable())
      add(I, Address, ConstantInt::get(SizeType, Bytes.getFixedValue()), Bits);
  }
  void add(Instruction &I, Value *Address, Value *Size, uint32_t Bits) {
    if (Address->getType()->getPointerAddressSpace() == 0 && !isOutOfReach(Address))
      Accesses.push_back({&I, Address, Size, Bits});
  }
  const DataLayout &Layout;
  Type *SizeType;
};

/// HostWatch of abi/host_watch.h, one for each executable or library, and its constructor.
GlobalVariable *addWatch(Module &M) {
  LLVMContext &C = M.getContext();
  PointerType *Pointer = PointerType::getUnqual(C);
  Type *Word = Type::getInt32Ty(C);
  const bool HasComdat = Triple(M.getTargetTriple()).supportsCOMDAT();
  auto Shared = [&](GlobalObject *G) {
    G->setVisibility(GlobalValue::HiddenVisibility);
    if (HasComdat)
      G->setComdat(M.getOrInsertComdat(G->getName()));
  };
  auto *Idle = new GlobalVariable(M, Word, /*isConstant=*/false, GlobalValue::LinkOnceODRLinkage,
                                  ConstantInt::get(Word, 0), "__wavesan_host_idle");
  Shared(Idle);
  auto *Layout = StructType::get(C, {Pointer, Pointer});
  auto *Watch = new GlobalVariable(M, Layout, /*isConstant=*/false, GlobalValue::LinkOnceODRLinkage,
                                   ConstantStruct::get(Layout, {Idle, ConstantPointerNull::get(Pointer)}),
                                   "__wavesan_host_watch");
  Shared(Watch);

  auto *Start = Function::Create(FunctionType::get(Type::getVoidTy(C), false), GlobalValue::LinkOnceODRLinkage,
                                 "__wavesan_host_start", M);
  Shared(Start);
  IRBuilder<> Builder(BasicBlock::Create(C, "entry", Start));
  FunctionCallee Find = M.getOrInsertFunction("dlsym", FunctionType::get(Pointer, {Pointer, Pointer}, false));
  Value *Name = Builder.CreateGlobalString(abi::kHostWatchSymbol);
  Value *Found = Builder.CreateCall(Find, {ConstantPointerNull::get(Pointer), Name}); // RTLD_DEFAULT
  BasicBlock *Call = BasicBlock::Create(C, "call", Start), *End = BasicBlock::Create(C, "end", Start);
  Builder.CreateCondBr(Builder.CreateIsNotNull(Found), Call, End);
  Builder.SetInsertPoint(Call);
  Builder.CreateCall(FunctionType::get(Type::getVoidTy(C), {Pointer}, false), Found, {Watch});
  Builder.CreateBr(End);
  Builder.SetInsertPoint(End);
  Builder.CreateRetVoid();
  appendToGlobalCtors(M, Start, 0, HasComdat ? Start : nullptr);
  return Watch;
}

/// What tells source positions apart: the optimiser copies accesses.
uint32_t positionOf(const Instruction &I) {
  const DebugLoc &At = I.getDebugLoc();
  return At ? (At.getLine() * 31 + At.getCol()) % 0xffff + 1 : 0;
}

void instrument(const HostAccess &A, GlobalVariable *Watch) {
  IRBuilder<> Builder(A.I);
  Type *Pointer = Builder.getPtrTy(), *Word = Builder.getInt32Ty();
  Value *Where = Builder.CreateLoad(Pointer, Watch);
  LoadInst *Busy = Builder.CreateAlignedLoad(Word, Where, Align(4));
  Busy->setAtomic(AtomicOrdering::Monotonic);
  MDNode *Rarely = MDBuilder(Watch->getContext()).createUnlikelyBranchWeights();
  Instruction *Then = SplitBlockAndInsertIfThen(Builder.CreateIsNotNull(Busy), A.I->getIterator(), false, Rarely);
  IRBuilder<> Slow(Then);
  Slow.SetCurrentDebugLocation(A.I->getDebugLoc());
  Value *Report = Slow.CreateLoad(Pointer, Slow.CreateConstInBoundsGEP2_32(Watch->getValueType(), Watch, 0, 1));
  Slow.CreateCall(FunctionType::get(Slow.getVoidTy(), {Pointer, Slow.getInt64Ty(), Word}, false), Report,
                  {A.Address, Slow.CreateZExtOrTrunc(A.Size, Slow.getInt64Ty()),
                   Slow.getInt32(A.Bits | positionOf(*A.I) << abi::kHostPositionShift)});
}

} // namespace

PreservedAnalyses wavesan::HostAccessesPass::run(Module &M, ModuleAnalysisManager &) {
  if (!CheckHost || Triple(M.getTargetTriple()).isAMDGPU() || Triple(M.getTargetTriple()).isAMDGCN())
    return PreservedAnalyses::all();
  Collector Found(M.getDataLayout(), M.getContext());
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasFnAttribute(Attribute::Naked) && !F.hasFnAttribute(Attribute::NoImplicitFloat))
      for (Instruction &I : instructions(F))
        Found.visit(I);
  if (Found.Accesses.empty())
    return PreservedAnalyses::all();
  GlobalVariable *Watch = addWatch(M);
  for (const HostAccess &A : Found.Accesses)
    instrument(A, Watch);
  return PreservedAnalyses::none();
}
