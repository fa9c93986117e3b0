// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "RuntimeLinking.h"

#include "CallGraphFacts.h"
#include "CheckCalls.h"
#include "DeviceRuntime.h"
#include "Hooks.h"

#include "wavesan/abi/device_check.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace wavesan;

/// The runtime is compiled for no processor in particular; it must not impose its own flags and attributes.
static void adapt(Module &Runtime, const Module &M, const Function &Model) {
  while (!Runtime.named_metadata_empty())
    Runtime.eraseNamedMetadata(&*Runtime.named_metadata_begin());
  Runtime.setTargetTriple(M.getTargetTriple());
  for (StringRef Used : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *V = Runtime.getNamedGlobal(Used))
      V->eraseFromParent();
  for (Function &F : Runtime) {
    if (F.isDeclaration())
      continue;
    AttributeMask Own;
    for (Attribute A : F.getAttributes().getFnAttrs())
      // What the function does not use stays true, and calls of it then pass less.
      if (A.isStringAttribute() && !A.getKindAsString().starts_with("amdgpu-no-"))
        Own.addAttribute(A.getKindAsString());
    F.removeFnAttrs(Own);
    for (StringRef Name : {"target-cpu", "target-features", "amdgpu-flat-work-group-size", "amdgpu-waves-per-eu"})
      if (Attribute A = Model.getFnAttribute(Name); A.isValid())
        F.addFnAttr(A);
  }
}

/// Inputs of the kernel that the runtime reads, as the attributes that deny them.
static void allowInputs(const SetVector<Function *> &Runtime, ArrayRef<Function *> Functions) {
  SmallVector<StringRef, 4> Denials;
  for (Function *F : Runtime)
    for (Instruction &I : instructions(*F))
      if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
        switch (Intrinsic->getIntrinsicID()) {
        case Intrinsic::amdgcn_dispatch_ptr:
          Denials.push_back("amdgpu-no-dispatch-ptr");
          break;
        case Intrinsic::amdgcn_dispatch_id:
          Denials.push_back("amdgpu-no-dispatch-id");
          break;
        case Intrinsic::amdgcn_queue_ptr:
          Denials.push_back("amdgpu-no-queue-ptr");
          break;
        case Intrinsic::amdgcn_implicitarg_ptr:
          Denials.push_back("amdgpu-no-implicitarg-ptr");
          break;
        default: // ids of workgroup and work-item are allowed in every twin (TwinCloning.cpp)
          break;
        }
  for (Function *F : Functions)
    for (StringRef Denial : Denials)
      F->removeFnAttr(Denial);
}

static Error inlineRuntime(Function &F, const SetVector<Function *> &Runtime) {
  SmallVector<CallBase *, 32> Work;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      Work.push_back(Call);
  while (!Work.empty()) {
    CallBase *Call = Work.pop_back_val();
    Function *Callee = directCallee(*Call);
    if (!Callee || !Runtime.contains(Callee) || (!hookOf(*Callee) && Callee->hasFnAttribute(Attribute::NoInline)))
      continue;
    InlineFunctionInfo Info;
    InlineResult Result = InlineFunction(*Call, Info);
    if (!Result.isSuccess())
      return createStringError("device runtime: cannot inline '" + Callee->getName() + "' into '" + F.getName() +
                               "': " + Result.getFailureReason());
    Work.append(Info.InlinedCallSites.begin(), Info.InlinedCallSites.end());
  }
  return Error::success();
}

/// The hooks are the same for all and ask: here a kernel becomes one that follows LDS flags, or one that pays nothing
/// for them.
static void answerOrdersLds(Function &F, const Function &Question, bool Ordered) {
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (auto *Call = dyn_cast<CallBase>(&I); Call && directCallee(*Call) == &Question) {
      Call->replaceAllUsesWith(ConstantInt::getBool(F.getContext(), Ordered));
      Call->eraseFromParent();
    }
  for (BasicBlock &Block : F) {
    SimplifyInstructionsInBlock(&Block);
    ConstantFoldTerminator(&Block, /*DeleteDeadConditions=*/true);
  }
  removeUnreachableBlocks(F);
}

Error wavesan::linkDeviceRuntime(Module &M, ArrayRef<Function *> Functions, const DenseSet<const Function *> &Ordered) {
  Expected<std::unique_ptr<Module>> Parsed =
      parseBitcodeFile(MemoryBufferRef(deviceRuntimeBitcode(), "wavesan device runtime"), M.getContext());
  if (!Parsed)
    return createStringError("device runtime: " + toString(Parsed.takeError()));
  Module &Runtime = **Parsed;
  if (Runtime.getDataLayout() != M.getDataLayout())
    return createStringError("device runtime: its data layout is not the module's");
  for (size_t I = 0; I < size_t(abi::Hook::Count); ++I) {
    Function *Declared = M.getFunction(abi::kHookSymbols[I]), *Defined = Runtime.getFunction(abi::kHookSymbols[I]);
    if (!Declared)
      continue;
    if (!Defined || Defined->isDeclaration())
      return createStringError("device runtime: '" + Declared->getName() + "' is missing");
    if (Defined->getFunctionType() != Declared->getFunctionType())
      return createStringError("device runtime: '" + Declared->getName() + "' has another signature");
  }
  adapt(Runtime, M, *Functions.front());

  DenseSet<GlobalValue *> Before;
  for (GlobalValue &V : M.global_values())
    if (!V.isDeclaration())
      Before.insert(&V);
  if (Linker::linkModules(M, std::move(*Parsed), Linker::LinkOnlyNeeded))
    return createStringError("device runtime: linking failed");
  SetVector<Function *> Linked;
  SmallVector<GlobalVariable *, 4> LinkedVariables;
  for (Function &F : M)
    if (!F.isDeclaration() && !Before.contains(&F)) {
      F.setLinkage(GlobalValue::InternalLinkage);
      F.setVisibility(GlobalValue::DefaultVisibility);
      F.setComdat(nullptr);
      Linked.insert(&F);
    }
  for (GlobalVariable &V : M.globals())
    if (!V.isDeclaration() && !Before.contains(&V)) {
      V.setLinkage(GlobalValue::InternalLinkage);
      V.setVisibility(GlobalValue::DefaultVisibility);
      V.setComdat(nullptr);
      LinkedVariables.push_back(&V);
    }

  for (const char *OutOfLine : abi::kOutOfLineSymbols)
    if (Function *Check = M.getFunction(OutOfLine))
      if (Error E = prepareCheck(*Check))
        return E;
  allowInputs(Linked, Functions);
  for (Function *F : Functions) {
    if (Error E = inlineRuntime(*F, Linked))
      return E;
    if (Function *Question = M.getFunction(abi::kOrdersLdsSymbol))
      answerOrdersLds(*F, *Question, Ordered.contains(F));
  }

  // Helpers kept out of line call others, which are kept for them; the rest goes.
  for (bool Changed = true; Changed;) {
    Changed = false;
    Linked.remove_if([&](Function *F) {
      F->removeDeadConstantUsers();
      if (!F->use_empty())
        return false;
      F->eraseFromParent();
      return Changed = true;
    });
  }
  for (GlobalVariable *V : LinkedVariables) {
    V->removeDeadConstantUsers();
    if (V->use_empty())
      V->eraseFromParent();
  }
  for (Function *F : Linked)
    if (hookOf(*F))
      return createStringError("device runtime: '" + F->getName() + "' is still called after inlining");
  return Error::success();
}
