// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "TwinCloning.h"

#include "wavesan/abi/hooks.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace wavesan;

/// Attributes that the twin must not keep. The amdgpu-no-* ones promise that an input of the kernel is not used; the
/// hooks use the workgroup's and work-item's ids and private memory. (The device runtime's other inputs are looked up
/// when it is linked.) The memory and termination promises do not hold for the hooks.
static void dropAttributes(Function &F) {
  static constexpr StringLiteral Names[] = {
      "amdgpu-no-workitem-id-x",  "amdgpu-no-workitem-id-y",  "amdgpu-no-workitem-id-z", "amdgpu-no-workgroup-id-x",
      "amdgpu-no-workgroup-id-y", "amdgpu-no-workgroup-id-z", "amdgpu-no-cluster-id-x",  "amdgpu-no-cluster-id-y",
      "amdgpu-no-cluster-id-z",   "amdgpu-no-lds-kernel-id",  "amdgpu-lds-size",         "amdgpu-no-flat-scratch-init"};
  for (StringRef Name : Names)
    F.removeFnAttr(Name);
  for (Attribute::AttrKind Kind :
       {Attribute::Memory, Attribute::NoSync, Attribute::WillReturn, Attribute::NoFree, Attribute::NoRecurse,
        Attribute::OptimizeNone, Attribute::NoInline, Attribute::AlwaysInline, Attribute::Speculatable})
    F.removeFnAttr(Kind);
}

/// kernel_arg_* lists have one operand per argument.
static void extendArgumentMetadata(Function &Twin) {
  LLVMContext &C = Twin.getContext();
  auto Extend = [&](StringRef Kind, Metadata *Operand) {
    MDNode *Node = Twin.getMetadata(Kind);
    if (!Node || Node->getNumOperands() + 1 != Twin.arg_size())
      return;
    SmallVector<Metadata *, 8> Operands(Node->op_begin(), Node->op_end());
    Operands.push_back(Operand);
    Twin.setMetadata(Kind, MDNode::get(C, Operands));
  };
  Extend("kernel_arg_addr_space", ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(C), 1)));
  Extend("kernel_arg_access_qual", MDString::get(C, "none"));
  Extend("kernel_arg_type", MDString::get(C, "void*"));
  Extend("kernel_arg_base_type", MDString::get(C, "void*"));
  Extend("kernel_arg_type_qual", MDString::get(C, ""));
  // The name reaches the code object's metadata through this list: argument names of the IR are often discarded.
  SmallVector<Metadata *, 8> Names;
  MDNode *Known = Twin.getMetadata("kernel_arg_name");
  for (unsigned I = 0; I + 1 < Twin.arg_size(); ++I)
    Names.push_back(Known && I < Known->getNumOperands() ? Known->getOperand(I).get()
                                                         : MDString::get(C, Twin.getArg(I)->getName()));
  Names.push_back(MDString::get(C, abi::kContextArgName));
  Twin.setMetadata("kernel_arg_name", MDNode::get(C, Names));
}

/// `F` with more arguments at the end, at the end of the module so that the order of the originals stays.
static Expected<Function *> cloneWithArguments(Function &F, ArrayRef<Type *> Extra, GlobalValue::LinkageTypes Linkage) {
  Module &M = *F.getParent();
  std::string Name = (F.getName() + abi::kTwinSuffix).str();
  if (M.getNamedValue(Name))
    return createStringError("'" + Name + "' is already defined");
  SmallVector<Type *, 8> Params(F.getFunctionType()->params());
  Params.append(Extra.begin(), Extra.end());
  Function *Clone =
      Function::Create(FunctionType::get(F.getReturnType(), Params, false), Linkage, F.getAddressSpace(), Name, &M);
  ValueToValueMapTy Map;
  for (auto [From, To] : zip_first(F.args(), Clone->args())) {
    To.setName(From.getName());
    Map[&From] = &To;
  }
  SmallVector<ReturnInst *, 8> Returns;
  CloneFunctionInto(Clone, &F, Map, CloneFunctionChangeType::LocalChangesOnly, Returns);
  if (Clone->hasLocalLinkage())
    Clone->setVisibility(GlobalValue::DefaultVisibility);
  dropAttributes(*Clone);
  return Clone;
}

namespace {
class Cloner {
public:
  Cloner(Module &M, const CallGraphFacts &Facts, const LdsPlan &Plan) : M(M), Facts(Facts), Plan(Plan) {}

  Expected<TwinSet> run() {
    for (Function *Kernel : Facts.Kernels)
      if (Error E = cloneKernel(*Kernel))
        return createStringError("kernel '" + demangle(Kernel->getName()) + "': " + toString(std::move(E)));
    return std::move(Set);
  }

private:
  Error cloneKernel(Function &Kernel) {
    if (Facts.Recursive.contains(&Kernel))
      return createStringError("a kernel that calls itself is not supported");
    TwinFunction Twin;
    Twin.Original = &Kernel;
    Expected<Function *> Clone = cloneWithArguments(Kernel, {PointerType::get(M.getContext(), 1)}, Kernel.getLinkage());
    if (!Clone)
      return Clone.takeError();
    Twin.Clone = *Clone;
    if (Kernel.hasComdat()) {
      Comdat *C = M.getOrInsertComdat(Twin.Clone->getName());
      C->setSelectionKind(Kernel.getComdat()->getSelectionKind());
      Twin.Clone->setComdat(C);
    }
    Twin.Context = Twin.Clone->getArg(Twin.Clone->arg_size() - 1);
    Twin.Context->setName(abi::kContextArgName);
    extendArgumentMetadata(*Twin.Clone);
    IRBuilder<> B(&Twin.Clone->getEntryBlock(), Twin.Clone->getEntryBlock().begin());
    AllocaInst *State =
        B.CreateAlloca(ArrayType::get(B.getInt8Ty(), abi::kWaveStateBytes), 5, nullptr, "wavesan.state");
    State->setAlignment(Align(abi::kWaveStateAlign));
    Twin.State = State;
    if (Error E = inlineCallees(Twin))
      return E;
    Set.Twins.push_back(Twin);
    return Error::success();
  }

  Error inlineCallees(TwinFunction &Twin) {
    SmallVector<CallBase *, 16> Work, ToRecursive;
    for (Instruction &I : instructions(*Twin.Clone))
      if (auto *Call = dyn_cast<CallBase>(&I))
        Work.push_back(Call);
    while (!Work.empty()) {
      CallBase *Call = Work.pop_back_val();
      Function *Callee = directCallee(*Call);
      if (!Callee || Callee->isIntrinsic() || isRuntimeService(*Callee))
        continue;
      if (Callee->getFunctionType() != Call->getFunctionType())
        return createStringError("calls '" + demangle(Callee->getName()) + "' with another signature");
      if (Facts.Recursive.contains(Callee)) {
        ToRecursive.push_back(Call);
        continue;
      }
      Call->setCalledFunction(Callee);
      InlineFunctionInfo Info;
      InlineResult Result = InlineFunction(*Call, Info, /*MergeAttributes=*/true);
      if (!Result.isSuccess())
        return createStringError("cannot inline '" + demangle(Callee->getName()) + "': " + Result.getFailureReason());
      Twin.Inlined = true;
      Work.append(Info.InlinedCallSites.begin(), Info.InlinedCallSites.end());
    }
    for (CallBase *Call : ToRecursive)
      if (Error E = redirect(*Call, Twin.State))
        return E;
    return Error::success();
  }

  /// Calls the instrumented clone of a recursive function instead, with the wave's state.
  Error redirect(CallBase &Call, Value *State) {
    Expected<Function *> Clone = recursiveClone(*directCallee(Call));
    if (!Clone)
      return Clone.takeError();
    SmallVector<Value *, 8> Arguments(Call.args());
    Arguments.push_back(State);
    Arguments.append(Plan.Passed.begin(), Plan.Passed.end());
    SmallVector<OperandBundleDef, 1> Bundles;
    Call.getOperandBundlesAsDefs(Bundles);
    IRBuilder<> B(&Call);
    CallInst *New = B.CreateCall(*Clone, Arguments, Bundles);
    New->setAttributes(Call.getAttributes());
    New->setCallingConv(Call.getCallingConv());
    // Not a tail call: the callee gets a pointer to this function's stack.
    New->copyMetadata(Call);
    New->takeName(&Call);
    Call.replaceAllUsesWith(New);
    Call.eraseFromParent();
    return Error::success();
  }

  Expected<Function *> recursiveClone(Function &F) {
    if (auto It = Set.RecursiveClones.find(&F); It != Set.RecursiveClones.end())
      return It->second.Clone;
    if (F.isVarArg())
      return createStringError("recursive function '" + demangle(F.getName()) + "' with variable arguments");
    TwinFunction Twin;
    Twin.Original = &F;
    SmallVector<Type *, 4> Extra{PointerType::get(M.getContext(), 5)};
    for (GlobalVariable *V : Plan.Passed)
      Extra.push_back(V->getType());
    Expected<Function *> Clone = cloneWithArguments(F, Extra, GlobalValue::InternalLinkage);
    if (!Clone)
      return Clone.takeError();
    Twin.Clone = *Clone;
    Twin.State = Twin.Clone->getArg(F.arg_size());
    for (auto [I, V] : enumerate(Plan.Passed))
      Twin.LdsArguments.push_back({Twin.Clone->getArg(unsigned(F.arg_size() + 1 + I)), V});
    // Known before its body is looked at, which calls it.
    Set.RecursiveClones.insert({&F, Twin});
    if (Error E = inlineCallees(Twin))
      return std::move(E);
    Set.RecursiveClones[&F].Inlined = Twin.Inlined;
    return Twin.Clone;
  }

  Module &M;
  const CallGraphFacts &Facts;
  const LdsPlan &Plan;
  TwinSet Set;
};
} // namespace

Expected<TwinSet> wavesan::cloneTwins(Module &M, const CallGraphFacts &Facts, const LdsPlan &Plan) {
  return Cloner(M, Facts, Plan).run();
}
