// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "independence.h"

#include "wavesan/abi/hooks.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

#include <optional>
#include <utility>

namespace wavesan::cpu::engine {

using namespace llvm;

namespace {

constexpr unsigned kLds = 3, kConstant = 4, kPrivate = 5;

/// LDS and private memory: nobody outside the workgroup can see it.
bool isLocal(const Value *pointer) {
  const auto space = [](const Value *p) { return p->getType()->getPointerAddressSpace(); };
  if (space(pointer) == kLds || space(pointer) == kPrivate)
    return true;
  const unsigned of = space(getUnderlyingObject(pointer));
  return of == kLds || of == kPrivate;
}

/// Hooks by which no workgroup learns of another.
bool isHookOfWorkgroup(const Function &f) {
  using enum abi::Hook;
  for (size_t i = 0; i < size_t(Count); ++i)
    if (f.getName() == abi::kHookSymbols[i])
      return abi::Hook(i) != GridArrive && abi::Hook(i) != GridLeave;
  return false;
}

class Search {
public:
  /// `twin`: hooks are no calls, and no update is allowed.
  explicit Search(bool twin) : Twin(twin) {}

  bool run(const Function &kernel) {
    SmallPtrSet<const Function *, 16> seen{&kernel};
    SmallVector<const Function *, 16> todo{&kernel};
    while (!todo.empty())
      for (const Instruction &i : instructions(*todo.pop_back_val())) {
        const Function *callee = nullptr;
        if (!allows(i, callee))
          return false;
        if (callee && seen.insert(callee).second)
          todo.push_back(callee);
      }
    return true;
  }

private:
  const bool Twin;
  /// The one kind of atomic updates that there is: updates of one kind and width commute, others may not.
  std::optional<std::pair<AtomicRMWInst::BinOp, Type *>> Updates;

  /// `callee`: a function whose body matters as well.
  bool allows(const Instruction &i, const Function *&callee) {
    if (const auto *load = dyn_cast<LoadInst>(&i))
      return isLocal(load->getPointerOperand()) || (load->isSimple() && !(Twin && isUnchecked(*load)));
    if (const auto *store = dyn_cast<StoreInst>(&i))
      return isLocal(store->getPointerOperand()) || store->isSimple();
    if (const auto *exchange = dyn_cast<AtomicCmpXchgInst>(&i))
      return isLocal(exchange->getPointerOperand());
    if (const auto *update = dyn_cast<AtomicRMWInst>(&i))
      return isLocal(update->getPointerOperand()) || allowsUpdate(*update);
    if (const auto *fence = dyn_cast<FenceInst>(&i))
      return staysInWorkgroup(*fence);
    if (const auto *call = dyn_cast<CallBase>(&i))
      return allowsCall(*call, callee);
    return true;
  }

  /// Loads of memory that nobody writes while the kernel runs have no hook; a constant's address says that it is so, a
  /// promise of the source may be broken.
  static bool isUnchecked(const LoadInst &load) {
    return load.hasMetadata(LLVMContext::MD_invariant_load) && load.getPointerAddressSpace() != kConstant;
  }

  bool allowsUpdate(const AtomicRMWInst &update) {
    if (Twin || !update.use_empty() || update.isVolatile())
      return false;
    AtomicRMWInst::BinOp kind = update.getOperation();
    switch (kind) {
    case AtomicRMWInst::Sub:
      kind = AtomicRMWInst::Add;
      break;
    case AtomicRMWInst::Add:
    case AtomicRMWInst::And:
    case AtomicRMWInst::Or:
    case AtomicRMWInst::Xor:
    case AtomicRMWInst::Max:
    case AtomicRMWInst::Min:
    case AtomicRMWInst::UMax:
    case AtomicRMWInst::UMin:
      break;
    default:
      return false; // rounds, or keeps one of the values
    }
    const std::pair<AtomicRMWInst::BinOp, Type *> what(kind, update.getType());
    if (!Updates)
      Updates = what;
    return *Updates == what;
  }

  bool allowsCall(const CallBase &call, const Function *&callee) {
    if (const auto *text = dyn_cast<InlineAsm>(call.getCalledOperand()))
      return text->getAsmString().empty() || !(text->hasSideEffects() || call.mayReadOrWriteMemory());
    const auto *target = dyn_cast<Function>(call.getCalledOperand()->stripPointerCastsAndAliases());
    if (!target)
      return false;
    if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&call))
      return allowsIntrinsic(*intrinsic);
    if (target->isDeclaration())
      return Twin && isHookOfWorkgroup(*target);
    callee = target;
    return true;
  }

  bool allowsIntrinsic(const IntrinsicInst &i) {
    if (i.getIntrinsicID() == Intrinsic::amdgcn_ds_gws_barrier || i.getIntrinsicID() == Intrinsic::amdgcn_ds_gws_init)
      return false; // a barrier of the grid
    if (const auto *transfer = dyn_cast<MemIntrinsic>(&i))
      return !transfer->isVolatile();
    if (i.doesNotAccessMemory() || i.isAssumeLikeIntrinsic())
      return true;
    switch (i.getIntrinsicID()) {
    case Intrinsic::trap:
    case Intrinsic::ubsantrap:
    case Intrinsic::readcyclecounter: // each workgroup has its own clock
    case Intrinsic::amdgcn_s_memtime:
    case Intrinsic::amdgcn_s_memrealtime:
    case Intrinsic::stacksave:
    case Intrinsic::stackrestore:
    case Intrinsic::read_register:
    case Intrinsic::amdgcn_endpgm:
    case Intrinsic::amdgcn_s_barrier:
    case Intrinsic::amdgcn_s_barrier_signal:
    case Intrinsic::amdgcn_s_barrier_wait:
    case Intrinsic::amdgcn_wave_barrier:
    case Intrinsic::amdgcn_sched_barrier:
    case Intrinsic::amdgcn_sched_group_barrier:
    case Intrinsic::amdgcn_iglp_opt:
    case Intrinsic::amdgcn_s_setprio:
    case Intrinsic::amdgcn_s_waitcnt:
    case Intrinsic::amdgcn_global_load_lds:
      return true;
    case Intrinsic::amdgcn_raw_buffer_load:
    case Intrinsic::amdgcn_raw_buffer_store:
    case Intrinsic::amdgcn_raw_ptr_buffer_load:
    case Intrinsic::amdgcn_raw_ptr_buffer_store:
    case Intrinsic::amdgcn_struct_buffer_load:
    case Intrinsic::amdgcn_struct_buffer_store:
    case Intrinsic::amdgcn_struct_ptr_buffer_load:
    case Intrinsic::amdgcn_struct_ptr_buffer_store:
      return !Twin; // hooks and executor would have to agree on each byte that is in range
    default:
      return false;
    }
  }
};

} // namespace

bool staysInWorkgroup(const FenceInst &fence) {
  const std::optional<StringRef> name = fence.getContext().getSyncScopeName(fence.getSyncScopeID());
  return name &&
         (name->starts_with("workgroup") || name->starts_with("wavefront") || name->starts_with("singlethread"));
}

bool hasIndependentWorkgroups(const Function &kernel) { return Search(false).run(kernel); }

bool canRunOnTrial(const Function &twin) {
  return twin.hasFnAttribute(abi::kChecksAllAttribute) && Search(true).run(twin);
}

} // namespace wavesan::cpu::engine
