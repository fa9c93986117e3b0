// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "barrier_flow.h"

#include "wavesan/abi/hooks.h"
#include "wavesan/abi/system_files.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace wavesan::cpu::engine {

using namespace llvm;

namespace {

/// The call of the arrive hook, or null.
const CallBase *arrivalAt(const Instruction &i) {
  const auto *call = dyn_cast<CallBase>(&i);
  const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || callee->getName() != abi::kHookSymbols[uint32_t(abi::Hook::BarrierArrive)] || call->arg_size() != 2)
    return nullptr;
  return isa<ConstantInt>(call->getArgOperand(1)) ? call : nullptr;
}

uint32_t siteOf(const CallBase &arrival) {
  return uint32_t(cast<ConstantInt>(arrival.getArgOperand(1))->getZExtValue());
}

/// Every line of the chain is known.
bool isExact(const DILocation *location) {
  for (const DILocation *l = location; l; l = l->getInlinedAt())
    if (l->getLine() == 0)
      return false;
  return location != nullptr;
}

std::string keyOf(const DILocation *location) {
  std::string key;
  for (const DILocation *l = location; l; l = l->getInlinedAt())
    key += (l->getDirectory() + "/" + l->getFilename() + ":" + Twine(l->getLine()) + ":" + Twine(l->getColumn()) + "|")
               .str();
  return key;
}

/// A builtin or inline assembly in code of the user or of a library. HIP's headers wrap the instruction into barriers
/// of the language, and so does OpenCL's library, which has no positions of its own.
bool isBare(const DILocation *location) {
  if (!location)
    return false;
  const DISubprogram *function = location->getScope()->getSubprogram();
  const DICompileUnit *unit = function ? function->getUnit() : nullptr;
  if (unit && !unit->getSourceLanguage().hasVersionedName() &&
      unit->getSourceLanguage().getName() == dwarf::DW_LANG_OpenCL)
    return false;
  std::string file = location->getFilename().str();
  if (!file.empty() && file[0] != '/')
    file = (location->getDirectory() + "/" + file).str();
  return !abi::isLanguageFile(file);
}

/// The frames of a position, the kernel's first.
SmallVector<const DILocation *, 8> framesOf(const DILocation *location) {
  SmallVector<const DILocation *, 8> frames;
  for (const DILocation *l = location; l; l = l->getInlinedAt())
    frames.insert(frames.begin(), l);
  return frames;
}

/// Functions that may execute a barrier. Where it is an indirect call that may, nobody knows.
SmallPtrSet<const llvm::Function *, 8> functionsWithBarriers(const Module &module) {
  SmallPtrSet<const llvm::Function *, 8> found;
  SmallVector<const llvm::Function *, 8> work;
  if (const llvm::Function *hook = module.getFunction(abi::kHookSymbols[uint32_t(abi::Hook::BarrierArrive)]))
    work.push_back(hook);
  while (!work.empty())
    for (const User *user : work.pop_back_val()->users())
      if (const auto *call = dyn_cast<CallBase>(user))
        if (found.insert(call->getFunction()).second)
          work.push_back(call->getFunction());
  return found;
}

} // namespace

BarrierFlow::BarrierFlow(const llvm::Function &kernel) {
  collectBarriers(kernel);
  if (!empty())
    solve(kernel);
}

void BarrierFlow::collectBarriers(const llvm::Function &kernel) {
  const llvm::Function *hook = kernel.getParent()->getFunction(abi::kHookSymbols[uint32_t(abi::Hook::BarrierArrive)]);
  if (!hook)
    return;
  // Those of functions that the kernel calls, too; which these are does not matter.
  std::map<uint32_t, const CallBase *> arrivals;
  for (const User *user : hook->users())
    if (const auto *i = dyn_cast<Instruction>(user))
      if (const CallBase *arrival = arrivalAt(*i))
        if (arrival->getFunction() == &kernel || arrival->getFunction()->getCallingConv() != CallingConv::AMDGPU_KERNEL)
          arrivals[siteOf(*arrival)] = arrival;
  for (const auto &[site, arrival] : arrivals) {
    const DILocation *location = arrival->getDebugLoc().get();
    Site entry{{kAnySource, isBare(location)}, location};
    if (isExact(location))
      entry.barrier.source = sources.try_emplace(keyOf(location), uint32_t(sources.size())).first->second;
    barriers[site] = entry;
  }
}

// Bits: the sources, then unknown barriers, then the end.
uint32_t BarrierFlow::bitOf(uint32_t source) const {
  const auto known = uint32_t(sources.size());
  return source == kEnd ? known + 1 : source < known ? source : known;
}

void BarrierFlow::solve(const llvm::Function &kernel) {
  const uint32_t bits = uint32_t(sources.size()) + 2;
  const auto withBarriers = functionsWithBarriers(*kernel.getParent());
  /// What stops the way through a block first and last; kAnySource for calls.
  struct Block {
    BitVector next, out;
    bool stops = false;
  };
  DenseMap<const BasicBlock *, Block> blocks;
  for (const BasicBlock &b : kernel) {
    Block &block = blocks[&b];
    block.next.resize(bits);
    block.out.resize(bits);
    for (const Instruction &i : b) {
      const auto *call = dyn_cast<CallBase>(&i);
      const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
      uint32_t source;
      if (const CallBase *arrival = arrivalAt(i))
        source = barriers.lookup(siteOf(*arrival)).barrier.source;
      else if (callee && withBarriers.contains(callee))
        source = kAnySource;
      else
        continue;
      block.next.set(bitOf(source));
      block.stops = true;
      break;
    }
    if (succ_empty(&b)) {
      if (isa<ReturnInst>(b.getTerminator()))
        block.out.set(bitOf(kEnd));
      if (!block.stops)
        block.next = block.out;
    }
  }
  const SmallVector<const BasicBlock *, 32> order(post_order(&kernel));
  for (bool changed = true; changed;) {
    changed = false;
    for (const BasicBlock *b : order) {
      Block &block = blocks[b];
      BitVector out = block.out;
      for (const BasicBlock *s : successors(b))
        out |= blocks[s].next;
      if (out == block.out)
        continue;
      changed = true;
      block.out = out;
      if (!block.stops)
        block.next = out;
    }
  }
  for (const BasicBlock *b : reverse(order)) {
    const Instruction &branch = *b->getTerminator();
    for (const BasicBlock *s : successors(b)) {
      BitVector left = blocks[b].out;
      left.reset(blocks[s].next);
      if (left.any() && turnOfEdge.try_emplace({&branch, s}, uint32_t(turns.size())).second)
        turns.push_back({branch.getDebugLoc().get(), std::move(left)});
    }
  }
}

uint32_t BarrierFlow::turnOf(const Instruction &branch, const BasicBlock *to) const {
  const auto found = turnOfEdge.find({&branch, to});
  return found == turnOfEdge.end() ? kNoTurn : found->second;
}

BarrierMap::Barrier BarrierFlow::barrier(uint32_t site) const { return barriers.lookup(site).barrier; }

bool BarrierFlow::leaves(uint32_t turn, uint32_t source) const {
  return turn < turns.size() && turns[turn].left.test(bitOf(source));
}

BarrierMap::Position BarrierFlow::position(uint32_t turn, uint32_t barrierSite) const {
  Position result;
  const auto site = barriers.find(barrierSite);
  if (turn >= turns.size() || site == barriers.end())
    return result;
  const auto branch = framesOf(turns[turn].location), barrier = framesOf(site->second.location);
  for (size_t i = 0; i < std::min(branch.size(), barrier.size()); ++i) {
    if (branch[i]->getScope()->getSubprogram() != barrier[i]->getScope()->getSubprogram())
      break;
    result = {branch[i]->getLine(), branch[i]->getColumn(), uint32_t(i)};
    if (branch[i]->getLine() != barrier[i]->getLine() || branch[i]->getColumn() != barrier[i]->getColumn())
      break;
  }
  return result;
}

} // namespace wavesan::cpu::engine
