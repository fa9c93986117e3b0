// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "CheckCalls.h"

#include "CallGraphFacts.h"

#include "wavesan/abi/device_check.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace wavesan;

Error wavesan::prepareCheck(Function &Check) {
  Check.addFnAttr(Attribute::NoRecurse); // with local linkage: the code generator saves no registers in it
  Check.addFnAttr(Attribute::Convergent);
  for (User *U : Check.users()) {
    auto *Call = dyn_cast<CallBase>(U);
    if (!Call || Call->getCalledFunction() != &Check)
      return createStringError("device runtime: '" + Check.getName() + "' is used other than by calls");
    // Two calls must never become one whose site depends on the lane.
    Call->addFnAttr(Attribute::NoMerge);
    Call->setConvergent();
  }
  return Error::success();
}

/// An unrolled loop has many addresses with few bases, and the same ones in each round: the code generator would keep
/// them all in registers from one check to the next.
static void splitAddress(CallBase &Check) {
  auto *Address = dyn_cast<PtrToIntOperator>(Check.getArgOperand(abi::kCheckAddress));
  if (!Address)
    return;
  Value *Pointer = Address->getPointerOperand();
  const DataLayout &Layout = Check.getFunction()->getDataLayout();
  APInt Offset(Layout.getIndexTypeSizeInBits(Pointer->getType()), 0);
  Value *Base = Pointer->stripAndAccumulateConstantOffsets(Layout, Offset, /*AllowNonInbounds=*/true);
  auto *Known = dyn_cast<ConstantInt>(Check.getArgOperand(abi::kCheckOffset));
  // Without a base the address is a constant as a whole. The offset has 32 bits.
  if (!Known || isa<Constant>(Base) || Offset.isZero() || !Offset.isSignedIntN(31))
    return;
  IRBuilder<> B(&Check);
  if (Base->getType() != Pointer->getType()) // a cast to generic was between the two
    Base = B.CreateAddrSpaceCast(Base, Pointer->getType());
  Check.setArgOperand(abi::kCheckAddress, B.CreatePtrToInt(Base, Address->getType()));
  Check.setArgOperand(abi::kCheckOffset, B.getInt32(uint32_t(Known->getZExtValue() + uint64_t(Offset.getSExtValue()))));
}

static bool isCheck(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  Function *Callee = Call ? directCallee(*Call) : nullptr;
  return Callee && (Callee->getName() == abi::kCheckSymbol || Callee->getName() == abi::kOrderedCheckSymbol ||
                    Callee->getName() == abi::kGlobalCheckSymbol);
}

/// Makes one value of several, at least one of them new: computed late, it keeps those occupied.
static bool joinsValues(const Instruction &I) {
  bool Joins = isa<BinaryOperator>(I) || isa<SelectInst>(I);
  if (auto *Call = dyn_cast<IntrinsicInst>(&I))
    Joins = Call->doesNotAccessMemory() && !Call->isConvergent();
  if (!Joins || I.getType()->isIntegerTy(1) || I.getType()->getScalarSizeInBits() > 64)
    return false;
  unsigned Variable = 0;
  bool New = false;
  for (const Value *Operand : I.operands()) {
    Variable += !isa<Constant>(Operand);
    auto *Source = dyn_cast<Instruction>(Operand);
    New |= Source && Source->getParent() == I.getParent();
  }
  return Variable >= 2 && New;
}

/// Nothing orders `sum += x` against the call of a check, so the code generator may compute all sums of a block after
/// its last check, and keep every x until then. A use in front of the next check, which emits no code, holds each in
/// its place.
static void holdInPlace(BasicBlock &Block, Function &FakeUse) {
  SmallVector<Instruction *, 16> Open; // computed since the last check
  SmallVector<std::pair<Instruction *, Instruction *>, 16> Uses;
  DenseMap<const Instruction *, unsigned> Checks; // how many come before an instruction of the block
  unsigned Count = 0;
  for (Instruction &I : Block) {
    Count += isCheck(I);
    Checks[&I] = Count;
  }
  auto UsedLater = [&](Instruction *I) {
    return any_of(I->users(), [&](User *U) {
      auto *Where = cast<Instruction>(U);
      return Where->getParent() != &Block || isa<PHINode>(Where) || Checks[Where] != Checks[I];
    });
  };
  for (Instruction &I : Block) {
    if (isCheck(I)) {
      for (Instruction *Value : Open)
        if (UsedLater(Value))
          Uses.push_back({Value, &I});
      Open.clear();
    } else if (joinsValues(I)) {
      Open.push_back(&I);
    }
  }
  for (auto [Value, Before] : Uses) {
    IRBuilder<> B(Before);
    B.CreateCall(&FakeUse, {Value});
  }
}

/// llvm.fake.use(...); null where this LLVM does not have it yet (19): then large kernels may need scratch memory.
static Function *fakeUse(Module &M) {
  constexpr StringLiteral Name = "llvm.fake.use";
  if (Function *Known = M.getFunction(Name))
    return Known;
  FunctionType *T = FunctionType::get(Type::getVoidTy(M.getContext()), /*isVarArg=*/true);
  Function *F = Function::Create(T, GlobalValue::ExternalLinkage, Name, &M);
  if (F->isIntrinsic() && F->getIntrinsicID() != Intrinsic::not_intrinsic)
    return F;
  F->eraseFromParent();
  return nullptr;
}

void wavesan::relieveRegisters(Function &F) {
  for (Instruction &I : instructions(F))
    if (isCheck(I))
      splitAddress(cast<CallBase>(I));
  if (!any_of(instructions(F), isCheck))
    return;
  if (Function *FakeUse = fakeUse(*F.getParent()))
    for (BasicBlock &Block : F)
      holdInPlace(Block, *FakeUse);
}
