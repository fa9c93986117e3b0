// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "block_order.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"

#include <algorithm>

namespace wavesan::cpu::engine {

using namespace llvm;

namespace {

// Orders one region (a loop, or the whole function when loop is null), each inner loop standing for one node, and
// then expands the inner loops in place.
class RegionOrder {
public:
  RegionOrder(const LoopInfo &loops, BlockOrder &out) : loops(loops), out(out) {}

  void run(const Loop *loop, const BasicBlock *entry) {
    std::vector<const BasicBlock *> postOrder; // nodes: blocks, or headers of inner loops
    DenseSet<const BasicBlock *> seen;
    struct Visit {
      const BasicBlock *node;
      SmallVector<const BasicBlock *, 4> successors;
    };
    std::vector<Visit> stack;
    const auto open = [&](const BasicBlock *node) {
      seen.insert(node);
      Visit v{node, {}};
      collectSuccessors(loop, entry, node, v.successors);
      stack.push_back(std::move(v));
    };
    open(entry);
    while (!stack.empty()) {
      Visit &top = stack.back();
      if (top.successors.empty()) {
        postOrder.push_back(top.node);
        stack.pop_back();
        continue;
      }
      const BasicBlock *next = top.successors.pop_back_val();
      if (!seen.contains(next))
        open(next);
    }
    for (const BasicBlock *node : llvm::reverse(postOrder)) {
      const Loop *inner = innerLoop(loop, node);
      if (inner && node != (loop ? loop->getHeader() : nullptr))
        run(inner, node);
      else
        out.blocks.push_back(node);
    }
    if (loop && loop->getNumBackEdges() > 1) {
      out.joins[entry] = uint32_t(out.blocks.size());
      out.blocks.push_back(nullptr);
    }
  }

private:
  const LoopInfo &loops;
  BlockOrder &out;

  /// The loop directly inside `region` that contains the block, or null.
  const Loop *innerLoop(const Loop *region, const BasicBlock *block) const {
    const Loop *l = loops.getLoopFor(block);
    if (l == region)
      return nullptr;
    while (l && l->getParentLoop() != region)
      l = l->getParentLoop();
    return l;
  }

  void collectSuccessors(const Loop *region, const BasicBlock *entry, const BasicBlock *node,
                         SmallVectorImpl<const BasicBlock *> &result) const {
    const Loop *inner = innerLoop(region, node);
    const auto add = [&](const BasicBlock *s) {
      if (s == entry || (region && !region->contains(s)))
        return;
      const Loop *l = innerLoop(region, s);
      const BasicBlock *target = l ? l->getHeader() : s;
      if (target != node)
        result.push_back(target);
    };
    if (!inner) {
      for (const BasicBlock *s : successors(node))
        add(s);
      return;
    }
    for (const BasicBlock *block : inner->blocks())
      for (const BasicBlock *s : successors(block))
        if (!inner->contains(s))
          add(s);
  }
};

} // namespace

BlockOrder orderBlocks(const llvm::Function &function) {
  DominatorTree dominators(const_cast<llvm::Function &>(function));
  LoopInfo loops(dominators);
  BlockOrder order;
  RegionOrder(loops, order).run(nullptr, &function.getEntryBlock());
  return order;
}

} // namespace wavesan::cpu::engine
