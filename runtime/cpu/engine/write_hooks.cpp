// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "write_hooks.h"

#include "wavesan/abi/hooks.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>

namespace wavesan::cpu::engine {

using namespace llvm;

static bool computesAddress(const Instruction &i) {
  return isa<CastInst>(i) || isa<GetElementPtrInst>(i) || isa<BinaryOperator>(i);
}

static const llvm::Function *calleeOf(const Instruction &i) {
  const auto *call = dyn_cast<CallBase>(&i);
  return call ? call->getCalledFunction() : nullptr;
}

/// Nothing if it is no access hook, or one whose operands are not known.
static std::optional<WriteHook> accessHook(const Instruction &i) {
  const llvm::Function *callee = calleeOf(i);
  if (!callee)
    return std::nullopt;
  bool isHook = false;
  for (const abi::Hook hook : {abi::Hook::LdsAccess, abi::Hook::LdsRange, abi::Hook::GenericAccess,
                               abi::Hook::GenericRange, abi::Hook::GlobalAccess, abi::Hook::GlobalRange})
    isHook |= callee->getName() == abi::kHookSymbols[uint32_t(hook)];
  // Operands: state, address, [length], info, site, [variable of LDS hooks].
  const auto &call = cast<CallBase>(i);
  const unsigned infoAt = callee->getName().contains("range") ? 3 : 2;
  if (!isHook || call.arg_size() < infoAt + 2)
    return std::nullopt;
  const auto *info = dyn_cast<ConstantInt>(call.getArgOperand(infoAt));
  const auto *site = dyn_cast<ConstantInt>(call.getArgOperand(infoAt + 1));
  if (!info || !site)
    return std::nullopt;
  return WriteHook{uint32_t(info->getZExtValue()), uint32_t(site->getZExtValue()),
                   call.arg_size() == infoAt + 3 ? call.getArgOperand(infoAt + 2) : nullptr};
}

static bool isAnyHook(const Instruction &i) {
  const llvm::Function *callee = calleeOf(i);
  return callee && is_contained(abi::kHookSymbols, callee->getName());
}

std::optional<WriteHook> writeHookOf(const Instruction &access) {
  for (const Instruction *i = access.getPrevNode(); i; i = i->getPrevNode()) {
    if (computesAddress(*i))
      continue;
    const auto hook = accessHook(*i);
    if (!hook || abi::accessBits(hook->info) & abi::kAccessWrite)
      return hook;
  }
  return std::nullopt;
}

std::optional<WriteHook> bufferWriteHookOf(const Instruction &store) {
  if (&store.getParent()->front() != &store)
    return std::nullopt;
  for (const BasicBlock *block : predecessors(store.getParent()))
    if (block->getSingleSuccessor())
      if (const auto hook = writeHookOf(*block->getTerminator()))
        return hook;
  return std::nullopt;
}

std::vector<WriteHook> asmWriteHooksOf(const CallBase &call, size_t before, size_t behind) {
  std::vector<WriteHook> hooks;
  // The second half of a paired instruction has a hook and is no instruction of its own.
  const auto collect = [&](const Instruction *i, bool backward, size_t wanted) {
    for (size_t end = hooks.size() + wanted; i && hooks.size() < end;
         i = backward ? i->getPrevNode() : i->getNextNode()) {
      if (computesAddress(*i))
        continue;
      if (!isAnyHook(*i) || i->getDebugLoc() != call.getDebugLoc())
        return false;
      const auto hook = accessHook(*i);
      const uint32_t bits = hook ? abi::accessBits(hook->info) : 0;
      if ((bits & abi::kAccessWrite) && !(bits & abi::kAccessAtomic) && !(hook->info & abi::kAccessOfCopy))
        hooks.push_back(*hook);
    }
    return true;
  };
  const bool first = collect(call.getPrevNode(), true, before);
  std::reverse(hooks.begin(), hooks.end());
  if (!first || !collect(call.getNextNode(), false, behind) || hooks.size() != before + behind)
    return {};
  // Computed behind the assembly: not known where it stores.
  for (WriteHook &hook : hooks)
    if (const auto *i = dyn_cast_or_null<Instruction>(hook.variable);
        i && i->getParent() == call.getParent() && call.comesBefore(i))
      hook.variable = nullptr;
  return hooks;
}

} // namespace wavesan::cpu::engine
