// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "Hooks.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace wavesan;
using abi::Hook;

FunctionType *wavesan::hookType(Hook H, LLVMContext &C) {
  Type *Void = Type::getVoidTy(C), *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C);
  Type *Flat = PointerType::get(C, 0), *Global = PointerType::get(C, 1), *State = PointerType::get(C, 5);
  auto Make = [&](ArrayRef<Type *> Rest) {
    SmallVector<Type *, 6> Params{State};
    Params.append(Rest.begin(), Rest.end());
    return FunctionType::get(Void, Params, false);
  };
  switch (H) {
  case Hook::KernelBegin:
    return Make({Global});
  case Hook::KernelEnd:
    return Make({});
  case Hook::LdsAccess:
  case Hook::LdsCopy:
    return Make({I32, I32, I32, I32});
  case Hook::GenericAccess:
  case Hook::GlobalAccess:
    return Make({Flat, I32, I32});
  case Hook::LdsRange:
    return Make({I32, I64, I32, I32, I32});
  case Hook::GenericRange:
  case Hook::GlobalRange:
    return Make({Flat, I64, I32, I32});
  case Hook::AtomicDone:
    return Make({Flat, I32, I32, Type::getInt1Ty(C)});
  case Hook::NamedBarrier:
    return Make({I32, I32, I32});
  case Hook::BarrierArrive:
  case Hook::BarrierLeave:
  case Hook::Fence:
  case Hook::Wait:
  case Hook::VmemIssued:
  case Hook::GridArrive:
  case Hook::GridLeave:
    return Make({I32});
  case Hook::Count:
    break;
  }
  llvm_unreachable("not a hook");
}

std::optional<Hook> wavesan::hookOf(const Function &F) {
  for (size_t I = 0; I < size_t(Hook::Count); ++I)
    if (F.getName() == abi::kHookSymbols[I])
      return Hook(I);
  return std::nullopt;
}

CallInst *HookEmitter::call(IRBuilderBase &B, Hook H, ArrayRef<Value *> Arguments) {
  Function *&F = Declared[size_t(H)];
  if (!F) {
    F = Function::Create(hookType(H, M.getContext()), GlobalValue::ExternalLinkage, abi::kHookSymbols[size_t(H)], &M);
    F->setVisibility(GlobalValue::HiddenVisibility);
    F->setDoesNotThrow();
    F->setConvergent();
  }
  CallInst *Call = B.CreateCall(F, Arguments);
  Call->setConvergent();
  Call->setDoesNotThrow();
  return Call;
}
