// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "divergent_arms.h"

#include "wavesan/abi/hooks.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace wavesan::cpu::engine {

using namespace llvm;

namespace {

/// abi::AccessBits of an access hook; 0: none.
uint32_t accessOf(const Instruction &i) {
  const auto *call = dyn_cast<CallBase>(&i);
  const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
  if (!callee)
    return 0;
  for (abi::Hook hook : {abi::Hook::LdsAccess, abi::Hook::GenericAccess, abi::Hook::GlobalAccess, abi::Hook::LdsRange,
                         abi::Hook::GenericRange, abi::Hook::GlobalRange}) {
    if (callee->getName() != abi::kHookSymbols[uint32_t(hook)])
      continue;
    const bool range = hook == abi::Hook::LdsRange || hook == abi::Hook::GenericRange || hook == abi::Hook::GlobalRange;
    const unsigned info = range ? 3 : 2;
    const auto *constant = info < call->arg_size() ? dyn_cast<ConstantInt>(call->getArgOperand(info)) : nullptr;
    return constant ? abi::accessBits(uint32_t(constant->getZExtValue()))
                    : uint32_t(abi::kAccessRead | abi::kAccessWrite);
  }
  return 0;
}

} // namespace

BlockSet contestedBlocks(const llvm::Function &function) {
  BlockSet contested;
  DenseMap<const BasicBlock *, unsigned> number;
  SmallVector<const BasicBlock *, 32> blocks;
  for (const BasicBlock &b : function) {
    number[&b] = unsigned(blocks.size());
    blocks.push_back(&b);
  }
  BitVector touches(unsigned(blocks.size())), writes(unsigned(blocks.size()));
  for (const BasicBlock *b : blocks)
    for (const Instruction &i : *b)
      if (const uint32_t bits = accessOf(i)) {
        touches.set(number[b]);
        if (bits & abi::kAccessWrite)
          writes.set(number[b]);
      }
  if (writes.none() || blocks.size() < 3)
    return contested;

  PostDominatorTree joins(const_cast<llvm::Function &>(function));
  for (const BasicBlock *b : blocks) {
    SmallVector<const BasicBlock *, 4> arms;
    for (const BasicBlock *s : successors(b))
      if (!is_contained(arms, s))
        arms.push_back(s);
    if (arms.size() < 2)
      continue;
    const auto *node = joins.getNode(b);
    const BasicBlock *join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    SmallVector<BitVector, 4> reached;
    for (const BasicBlock *arm : arms) {
      BitVector &r = reached.emplace_back(unsigned(blocks.size()));
      SmallVector<const BasicBlock *, 16> work;
      if (arm != join)
        work.push_back(arm);
      while (!work.empty()) {
        const BasicBlock *at = work.pop_back_val();
        if (r.test(number[at]))
          continue;
        r.set(number[at]);
        for (const BasicBlock *s : successors(at))
          if (s != join)
            work.push_back(s);
      }
      r &= touches;
    }
    for (size_t x = 0; x < reached.size(); ++x)
      for (size_t y = 0; y < reached.size(); ++y)
        if (x != y && reached[x].anyCommon(writes) && reached[y].any()) {
          for (unsigned n : reached[x].set_bits())
            contested.insert(blocks[n]);
          for (unsigned n : reached[y].set_bits())
            contested.insert(blocks[n]);
        }
  }
  return contested;
}

} // namespace wavesan::cpu::engine
