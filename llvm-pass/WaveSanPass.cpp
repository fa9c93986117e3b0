// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "WaveSanPass.h"

#include "AccessInstrumentation.h"
#include "BarrierBranches.h"
#include "CheckCalls.h"
#include "CoveredAccesses.h"
#include "Embedding.h"
#include "Filters.h"
#include "HostWaits.h"
#include "LdsOrder.h"
#include "LdsVariables.h"
#include "LlvmVersions.h"
#include "NotedWrites.h"
#include "RuntimeLinking.h"
#include "SourceLoops.h"
#include "StoredConstants.h"
#include "SyncInstrumentation.h"
#include "TwinCloning.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/ScalarizeMaskedMemIntrin.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;
using namespace wavesan;

static bool hasFlatAccess(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    return any_of(I.operands(), [](const Use &Operand) {
      return Operand->getType()->isPointerTy() && Operand->getType()->getPointerAddressSpace() == 0;
    });
  });
}

/// Makes addresses known, without touching the accesses themselves: mostly for -O0 and for inlined calls.
static void prepare(const TwinFunction &Twin, FunctionAnalysisManager &Analyses) {
  FunctionPassManager Passes;
  if (Twin.Inlined || Twin.Original->hasOptNone())
    Passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  if (hasFlatAccess(*Twin.Clone))
    Passes.addPass(InferAddressSpacesPass(/*FlatAddressSpace=*/0));
  Passes.addPass(ScalarizeMaskedMemIntrinPass());
  Analyses.invalidate(*Twin.Clone, Passes.run(*Twin.Clone, Analyses));
}

static void cleanUp(Function &F, FunctionAnalysisManager &Analyses) {
  FunctionPassManager Passes;
  Passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  Passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  Passes.addPass(InstCombinePass());
  Passes.addPass(SimplifyCFGPass());
  Analyses.invalidate(F, Passes.run(F, Analyses));
}

static Error verify(const Function &F) {
  std::string Why;
  raw_string_ostream Stream(Why);
  if (!verifyFunction(F, &Stream))
    return Error::success();
  return createStringError("internal error: '" + demangle(F.getName()) +
                           "' is invalid after instrumentation: " + StringRef(Why).split('\n').first);
}

/// Barriers are told apart by their source positions: the optimiser copies and merges them.
static uint32_t barriersWithoutPosition(const Function &F, ArrayRef<SyncPoint> Points) {
  if (F.getSubprogram())
    return 0;
  auto Count = count_if(Points, [](const SyncPoint &Point) {
    return (Point.What == SyncPoint::BarrierArrive || Point.What == SyncPoint::BarrierFull) && !Point.I->getDebugLoc();
  });
  return Count > 1 ? uint32_t(Count) : 0;
}

static bool isInlineAsm(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && Call->isInlineAsm();
}

/// The hooks of inline asm, in the order of its text.
static void instrumentAsm(Function &F, const AccessChoice &Choice, const SyncChoice &Sync, const GpuTarget &Target,
                          Value *State, HookEmitter &Hooks, SiteRecorder &Sites) {
  struct Hook {
    unsigned Sequence;
    bool After;
    const Access *A;
    const SyncPoint *Point;
  };
  MapVector<Instruction *, std::vector<Hook>> ByCall;
  for (Instruction &I : instructions(F)) // so that sites are numbered in program order
    if (isInlineAsm(I))
      ByCall[&I];
  for (const SyncPoint &Point : Sync.Points)
    if (isInlineAsm(*Point.I))
      ByCall[Point.I].push_back(
          {Point.Sequence, Point.What == SyncPoint::Wait || Point.What == SyncPoint::BarrierLeave, nullptr, &Point});
  for (const Access &A : Choice.Accesses)
    if (isInlineAsm(*A.I))
      ByCall[A.I].push_back({A.Sequence, A.After, &A, nullptr});
  for (auto &[Call, List] : ByCall) {
    llvm::sort(List, [](const Hook &A, const Hook &B) { return A.Sequence < B.Sequence; });
    auto Emit = [&](const Hook &H) {
      if (H.A)
        instrumentAccess(*H.A, Target, State, Hooks, Sites);
      else
        instrumentSync(*H.Point, State, Hooks, Sites);
    };
    // Each goes directly next to the call: behind it the last one first. A full barrier and an atomic stand on both
    // sides, nearest to the call, and so come last.
    for (const Hook &H : reverse(List))
      if (H.After)
        Emit(H);
    for (const Hook &H : List)
      if (!H.After)
        Emit(H);
  }
}

/// Instruments one function and returns what its kernel's entry must say.
static Expected<KernelSummary> instrumentFunction(const TwinFunction &Twin, const GpuTarget &Target,
                                                  const Filters &Filter, HookEmitter &Hooks, SiteRecorder &Sites) {
  Function &F = *Twin.Clone;
  bool IsTwin = Twin.Context;
  Expected<SyncChoice> Sync = chooseSync(F, IsTwin, Target);
  if (!Sync)
    return Sync.takeError();
  Expected<AccessChoice> Choice = chooseAccesses(F, Twin.LdsArguments, Target);
  if (!Choice)
    return Choice.takeError();

  KernelSummary Summary;
  Summary.Stores = storeSetOf(F);
  if (mayWaitForHost(F))
    Summary.Flags |= abi::kKernelWaitsForHost;
  // Atomics are never ignored: they order other accesses.
  erase_if(Choice->Accesses, [&](const Access &A) {
    StringRef Why = A.isAtomic() ? "" : Filter.ignored(*A.I);
    if (!Why.empty())
      Choice->Skips.add(Why);
    return !Why.empty();
  });
  Summary.NotesWrites = notesEachWrite(F, *Choice, Twin.LdsArguments, Target);
  if (unsigned Covered = removeCovered(F, *Choice, *Sync)) // reads alone
    Summary.Skips.add(abi::kSkipCovered, Covered);
  if (IsTwin) { // the callers of other functions may write as well
    const std::vector<std::string> Stored =
        storedConstants(F, Choice->Accesses, *Sync, PostDominatorTree(F));
    for (auto [A, Bytes] : zip(Choice->Accesses, Stored))
      A.Stored = Bytes;
  }
  Summary.LdsOrder = ldsOrderFacts(Choice->Accesses, Sync->Points);
  Summary.Sites = uint32_t(Choice->Accesses.size());
  Summary.ChecksAll = Choice->Skips.size() == 0;
  Summary.Skips.add(Choice->Skips);
  Summary.Skips.add(Sync->Skips);
  if (uint32_t Barriers = barriersWithoutPosition(F, Sync->Points))
    Summary.Skips.add("barriers without debug info: waves at different ones are not told apart (compile with "
                      "-gline-tables-only)",
                      Barriers);
  if (Choice->hasCopies())
    Summary.Flags |= abi::kKernelCopiesAsync;
  else if (Sync->PartialVmemWaits)
    Summary.Skips.add(kPartialWaitReason, Sync->PartialVmemWaits);
  if (Sync->PartialLdsWaits)
    Summary.Flags |= abi::kKernelCountsLdsWaits;
  if (Sync->NamedBarriers)
    Summary.Flags |= abi::kKernelNamedBarriers;
  std::vector<Issued> Unhooked;
  if (Choice->hasCopies() && Sync->PartialVmemWaits)
    Unhooked = chooseIssued(F, *Choice);
  if (usesDynamicLds(F))
    Summary.Flags |= abi::kKernelUsesDynamicLds;
  for (const Issued &Some : Unhooked)
    instrumentIssued(*Some.I, Some.Info, Twin.State, Hooks);
  instrumentAsm(F, *Choice, *Sync, Target, Twin.State, Hooks, Sites);
  // A hook in front of an instruction goes directly in front of it, so the later ones come last.
  for (const SyncPoint &Point : Sync->Points)
    if (!isInlineAsm(*Point.I))
      instrumentSync(Point, Twin.State, Hooks, Sites);
  for (const Access &A : Choice->Accesses)
    if (!isInlineAsm(*A.I))
      instrumentAccess(A, Target, Twin.State, Hooks, Sites);
  for (const Access &A : Choice->Accesses)
    Summary.GranuleLog2 = std::min(Summary.GranuleLog2, A.granuleLog2());
  return Summary;
}

/// Adds what the recursive clones that a twin reaches say.
static void addReached(KernelSummary &Summary, const TwinFunction &Twin,
                       const DenseMap<Function *, KernelSummary> &RecursiveSummaries) {
  for (Function *F : reachableFrom({Twin.Clone})) {
    auto It = RecursiveSummaries.find(F);
    // A hook, or the kernel itself; anything else that is not instrumented has been noticed where it is called.
    if (It == RecursiveSummaries.end() && F != Twin.Clone && !F->isDeclaration())
      Summary.NotesWrites = false;
    if (It != RecursiveSummaries.end()) {
      Summary.GranuleLog2 = std::min(Summary.GranuleLog2, It->second.GranuleLog2);
      Summary.Flags |= It->second.Flags;
      Summary.LdsOrder |= It->second.LdsOrder;
      Summary.Sites += It->second.Sites;
      Summary.ChecksAll &= It->second.ChecksAll;
      Summary.NotesWrites &= It->second.NotesWrites;
      Summary.Skips.add(It->second.Skips);
    }
  }
}

/// Why a kernel can have no twin: it, or what it calls, synchronises by something that is not followed, which may order
/// any two accesses. Empty: it can.
static Expected<StringRef> whyUnfollowed(Function &Kernel, const GpuTarget &Target) {
  for (Function *F : reachableFrom({&Kernel})) {
    if (F->isDeclaration() || isRuntimeService(*F))
      continue;
    Expected<SyncChoice> Sync = chooseSync(*F, /*IsTwin=*/false, Target);
    if (!Sync)
      return Sync.takeError();
    if (Sync->Unfollowed)
      return Sync->Unfollowed;
  }
  return StringRef();
}

static void linkByMetadata(Module &M, const TwinSet &Set) {
  NamedMDNode *Node = M.getOrInsertNamedMetadata(abi::kTwinMetadata);
  for (const TwinFunction &Twin : Set.Twins)
    Node->addOperand(
        MDNode::get(M.getContext(), {ValueAsMetadata::get(Twin.Original), ValueAsMetadata::get(Twin.Clone)}));
}

/// HIP before 6 (code object version 4) crashes at the launch of a kernel whose metadata names a default queue or a
/// completion action for device-side enqueue, which HIP does not have. The optimiser usually proves that they are not
/// used; at -O0 it does not run. The attributes change metadata only, no instruction.
static void denyDeviceEnqueue(Module &M, ArrayRef<Function *> Kernels) {
  auto *Version = mdconst::extract_or_null<ConstantInt>(M.getModuleFlag("amdhsa_code_object_version"));
  bool Enqueues = any_of(M, [](const Function &F) { return F.getName().starts_with("__enqueue_kernel"); });
  if (!Version || Version->getZExtValue() >= 500 || Enqueues)
    return;
  for (Function *Kernel : Kernels)
    for (StringRef Denial : {"amdgpu-no-default-queue", "amdgpu-no-completion-action"})
      Kernel->addFnAttr(Denial);
}

Error WaveSanPass::instrument(Module &M, ModuleAnalysisManager &Analyses) {
  if (M.getNamedMetadata(abi::kTwinMetadata))
    return createStringError("the module is instrumented already (is the plugin loaded twice?)");

  // Collect.
  Expected<CallGraphFacts> Facts = collectCallGraphFacts(M);
  if (!Facts)
    return Facts.takeError();
  if (Facts->Kernels.empty())
    return Error::success();
  if (LinkTimeOptimisation || isPreparedForLto(M))
    return createStringError("link-time optimisation of device code (-fgpu-rdc, -foffload-lto) is not supported");
  denyDeviceEnqueue(M, Facts->Kernels);
  Expected<Filters> Filter = Filters::load(M);
  if (!Filter)
    return Filter.takeError();
  SiteRecorder Sites;
  erase_if(Facts->Kernels, [&](Function *Kernel) {
    if (!Filter->leavesOut(*Kernel))
      return false;
    Sites.addLeftOut(*Kernel);
    return true;
  });
  std::vector<GpuTarget> Targets;
  SmallVector<Function *, 8> Followed;
  for (Function *Kernel : Facts->Kernels) {
    Expected<GpuTarget> Target = targetOf(*Kernel);
    if (!Target)
      return Target.takeError();
    Expected<StringRef> Why = whyUnfollowed(*Kernel, *Target);
    if (!Why)
      return createStringError("kernel '" + demangle(Kernel->getName()) + "': " + toString(Why.takeError()));
    if (!Why->empty()) {
      Sites.addLeftOut(*Kernel, *Why);
      continue;
    }
    Followed.push_back(Kernel);
    Targets.push_back(*Target);
  }
  Facts->Kernels = Followed;
  LdsPlan Plan = planLds(M, *Facts);
  Expected<TwinSet> Set = cloneTwins(M, *Facts, Plan);
  if (!Set)
    return Set.takeError();
  cloneLdsVariables(M, *Set, Plan);
  auto &FunctionAnalyses = Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *, 16> Functions;
  for (const TwinFunction &Twin : Set->Twins)
    Functions.push_back(Twin.Clone);
  for (const auto &[Original, Twin] : Set->RecursiveClones)
    Functions.push_back(Twin.Clone);
  HookEmitter Hooks(M);
  for (const TwinFunction &Twin : Set->Twins) {
    // First, so that the state has a use and survives.
    instrumentBegin(*Twin.Clone, Twin.State, Twin.Context, Hooks);
    prepare(Twin, FunctionAnalyses);
  }
  for (const auto &[Original, Twin] : Set->RecursiveClones)
    prepare(Twin, FunctionAnalyses);

  // Choose and instrument.
  DenseMap<Function *, KernelSummary> RecursiveSummaries;
  DenseSet<const Function *> Ordered;
  for (const auto &[Original, Twin] : Set->RecursiveClones) {
    Expected<KernelSummary> Summary = instrumentFunction(Twin, Targets.front(), *Filter, Hooks, Sites);
    if (!Summary)
      return createStringError("function '" + demangle(Original->getName()) + "': " + toString(Summary.takeError()));
    RecursiveSummaries[Twin.Clone] = *Summary;
  }
  for (auto [Twin, Target] : zip(Set->Twins, Targets)) {
    Expected<KernelSummary> Summary = instrumentFunction(Twin, Target, *Filter, Hooks, Sites);
    if (!Summary)
      return createStringError("kernel '" + demangle(Twin.Original->getName()) + "': " + toString(Summary.takeError()));
    addReached(*Summary, Twin, RecursiveSummaries);
    if (ordersThroughLds(Summary->LdsOrder)) {
      Summary->Flags |= abi::kKernelOrdersThroughLds;
      for (Function *F : reachableFrom({Twin.Clone}))
        Ordered.insert(F);
    }
    if (Summary->ChecksAll)
      Twin.Clone->addFnAttr(abi::kChecksAllAttribute);
    Sites.addKernel(*Twin.Original, *Twin.Clone, *Summary);
    recordBarrierBranches(*Twin.Clone, Sites);
  }
  forEachSourceLoop(M, Analyses,
                    [&](const DISubprogram &Code, uint32_t First, uint32_t Last) { Sites.addLoop(Code, First, Last); });
  if (Sites.siteCount() > abi::kMaxSites)
    return createStringError("the module has " + Twine(Sites.siteCount()) + " sites, more than " +
                             Twine(abi::kMaxSites) + " are not supported");
  linkByMetadata(M, *Set);
  for (Function *F : Functions) {
    FunctionAnalyses.invalidate(*F, PreservedAnalyses::none());
    if (Error E = verify(*F))
      return E;
  }

  embed(M, Sites.finish(), moduleBitcode(M));
  if (Where == Stop::BeforeRuntime || Functions.empty())
    return Error::success();
  if (Error E = linkDeviceRuntime(M, Functions, Ordered))
    return E;
  for (Function *F : Functions) {
    FunctionAnalyses.invalidate(*F, PreservedAnalyses::none());
    cleanUp(*F, FunctionAnalyses);
    relieveRegisters(*F);
    FunctionAnalyses.invalidate(*F, PreservedAnalyses::none());
    if (Error E = verify(*F))
      return E;
  }
  return Error::success();
}

PreservedAnalyses WaveSanPass::run(Module &M, ModuleAnalysisManager &Analyses) {
  const Triple Target(M.getTargetTriple());
  // SPIR-V, NVPTX and r600 are offload targets too: a build that asked for checks must not pass without them.
  bool Offload = Target.isAMDGPU() || Target.isNVPTX() || Target.isSPIRV();
  if (!Offload)
    return PreservedAnalyses::all();
  auto Fail = [&](const Twine &Why) {
    M.getContext().emitError("wavesan: " + Why);
    return PreservedAnalyses::none();
  };
  if (!Target.isAMDGCN())
    return Fail("target '" + Target.str() + "' is not supported");
  if (Error E = instrument(M, Analyses))
    return Fail(toString(std::move(E)));
  return PreservedAnalyses::none();
}
