// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lds_layout.h"

#include "named_barriers.h"

#include "wavesan/abi/hooks.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <algorithm>

namespace wavesan::cpu::engine {

using namespace llvm;

namespace {

constexpr unsigned kLdsAddressSpace = 3;

struct Reachable {
  SetVector<const llvm::Function *> functions;
  SetVector<const GlobalVariable *> lds;
  DenseSet<const Constant *> seen;
  bool indirectCalls = false;

  void visit(const Value *value) {
    SmallVector<const Constant *, 8> work;
    if (auto *c = dyn_cast<Constant>(value))
      work.push_back(c);
    while (!work.empty()) {
      const Constant *c = work.pop_back_val();
      if (!seen.insert(c).second)
        continue;
      if (auto *f = dyn_cast<llvm::Function>(c)) {
        functions.insert(f);
      } else if (auto *g = dyn_cast<GlobalVariable>(c)) {
        if (g->getAddressSpace() == kLdsAddressSpace)
          lds.insert(g);
        else if (g->hasInitializer()) // tables of function pointers
          work.push_back(g->getInitializer());
      } else {
        for (const Use &u : c->operands())
          if (auto *operand = dyn_cast<Constant>(u.get()))
            work.push_back(operand);
      }
    }
  }
};

/// Named barriers in a variable of this type.
uint64_t namedBarriersIn(const Type *type) {
  if (const auto *target = dyn_cast<TargetExtType>(type))
    return target->getName() == "amdgcn.named.barrier";
  if (const auto *array = dyn_cast<ArrayType>(type))
    return array->getNumElements() * namedBarriersIn(array->getElementType());
  uint64_t count = 0;
  if (const auto *record = dyn_cast<StructType>(type))
    for (const Type *element : record->elements())
      count += namedBarriersIn(element);
  return count;
}

/// Numbers by name, as the backend gives them.
void numberBarriers(std::vector<const GlobalVariable *> barriers, LdsLayout &result) {
  std::sort(barriers.begin(), barriers.end(), [](auto *a, auto *b) { return a->getName() < b->getName(); });
  for (const GlobalVariable *g : barriers) {
    StringRef name = g->getName();
    name.consume_back(abi::kTwinSuffix);
    const uint64_t count = namedBarriersIn(g->getValueType());
    result.offsets[g] = NamedBarriers::addressOf(uint32_t(result.namedBarriers.size()) + 1);
    // Those beyond the last one make the launch an error.
    for (uint64_t i = 0; i < count && result.namedBarriers.size() <= NamedBarriers::kCount; ++i)
      result.namedBarriers.push_back(count == 1 ? name.str() : (name + "[" + Twine(i) + "]").str());
  }
}

} // namespace

LdsLayout layOutLds(const llvm::Function &kernel, uint32_t fixedBytes) {
  Reachable reachable;
  reachable.functions.insert(&kernel);
  for (size_t i = 0; i < reachable.functions.size(); ++i) {
    for (const Instruction &inst : instructions(*reachable.functions[i])) {
      for (const Use &u : inst.operands())
        reachable.visit(u.get());
      if (auto *call = dyn_cast<CallBase>(&inst); call && call->isIndirectCall() && !reachable.indirectCalls) {
        reachable.indirectCalls = true;
        for (const llvm::Function &f : *kernel.getParent())
          if (!f.isDeclaration() && f.hasAddressTaken())
            reachable.functions.insert(&f);
      }
    }
  }

  const DataLayout &layout = kernel.getParent()->getDataLayout();
  struct Variable {
    const GlobalVariable *global;
    uint64_t size, align;
    size_t order;
  };
  std::vector<Variable> statics;
  std::vector<const GlobalVariable *> barriers;
  LdsLayout result;
  for (const GlobalVariable *g : reachable.lds) {
    if (namedBarriersIn(g->getValueType())) {
      barriers.push_back(g);
      continue;
    }
    const uint64_t size = layout.getTypeAllocSize(g->getValueType());
    if (g->isDeclaration() || size == 0)
      result.offsets[g] = fixedBytes;
    else
      statics.push_back({g, size, layout.getValueOrABITypeAlignment(g->getAlign(), g->getValueType()).value(),
                         statics.size()});
  }
  std::sort(statics.begin(), statics.end(), [](const Variable &a, const Variable &b) {
    return a.align != b.align ? a.align > b.align : a.size != b.size ? a.size > b.size : a.order < b.order;
  });
  uint64_t offset = 0;
  for (const Variable &v : statics) {
    offset = (offset + v.align - 1) / v.align * v.align;
    result.offsets[v.global] = uint32_t(offset);
    offset += v.size;
  }
  result.staticBytes = uint32_t(std::min<uint64_t>(offset, UINT32_MAX));
  numberBarriers(std::move(barriers), result);
  return result;
}

} // namespace wavesan::cpu::engine
