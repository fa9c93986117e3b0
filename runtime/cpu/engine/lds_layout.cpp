// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lds_layout.h"

#include "named_barriers.h"

#include "wavesan/abi/hooks.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/OptimizedStructLayout.h"

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

void sortByName(std::vector<const GlobalVariable *> &variables) {
  std::sort(variables.begin(), variables.end(), [](auto *a, auto *b) { return a->getName() < b->getName(); });
}

/// The alignment that the backend gives a variable: that which is stated, and for small ones what the widest access to
/// them can use.
Align raisedAlignment(Align stated, uint64_t size) {
  const Align wanted(size > 8 ? 16 : size > 4 ? 8 : size > 2 ? 4 : size > 1 ? 2 : 1);
  return std::max(stated, wanted);
}

/// Places the variables (sorted by name) as the backend does: by LLVM's own layout of structures, in which small
/// variables fill the gaps between large ones. `raised`: with the alignments that the backend raises.
void placeStatics(ArrayRef<const GlobalVariable *> variables, const DataLayout &layout, bool raised,
                  LdsLayout &result) {
  SmallVector<OptimizedStructLayoutField, 16> fields;
  uint64_t sum = 0;
  for (const GlobalVariable *g : variables) {
    const uint64_t size = layout.getTypeAllocSize(g->getValueType());
    const Align stated = layout.getValueOrABITypeAlignment(g->getPointerAlignment(layout), g->getValueType());
    const Align align = raised ? raisedAlignment(stated, size) : stated;
    // No more than an address in LDS can have; LLVM's layout does not look for overflows.
    if (size > UINT32_MAX || align.value() > UINT32_MAX || (sum += size + align.value()) > UINT32_MAX) {
      result.staticBytes = UINT32_MAX;
      return;
    }
    fields.emplace_back(g, size, align);
  }
  result.staticBytes = uint32_t(performOptimizedStructLayout(fields).first);
  for (const OptimizedStructLayoutField &f : fields)
    result.offsets[static_cast<const GlobalVariable *>(f.Id)] = uint32_t(f.Offset);
}

/// Numbers by name, as the backend gives them.
void numberBarriers(std::vector<const GlobalVariable *> barriers, LdsLayout &result) {
  sortByName(barriers);
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
  std::vector<const GlobalVariable *> statics, barriers;
  LdsLayout result;
  for (const GlobalVariable *g : reachable.lds) {
    if (namedBarriersIn(g->getValueType()))
      barriers.push_back(g);
    else if (g->isDeclaration() || layout.getTypeAllocSize(g->getValueType()) == 0)
      result.offsets[g] = fixedBytes;
    else
      statics.push_back(g);
  }
  sortByName(statics);
  placeStatics(statics, layout, true, result);
  if (result.staticBytes > fixedBytes)
    placeStatics(statics, layout, false, result);
  numberBarriers(std::move(barriers), result);
  return result;
}

} // namespace wavesan::cpu::engine
