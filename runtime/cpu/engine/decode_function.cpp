// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: arguments, blocks, control flow.
#include "decoder.h"

#include "block_order.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

namespace wavesan::cpu::engine {

using namespace llvm;

void layOutArguments(KernelContext &context, const DataLayout &layout) {
  const uint32_t lanes = context.waveSize;
  uint64_t offset = 0;
  uint32_t bank = kLaunchBankRegisters * lanes * 8;
  for (const Argument &arg : context.kernel->args()) {
    if (arg.hasAttribute("amdgpu-hidden-argument"))
      continue;
    const bool byRef = arg.hasByRefAttr();
    Type *type = byRef ? arg.getParamByRefType() : arg.getType();
    const Align align = byRef && arg.getParamAlign() ? *arg.getParamAlign() : layout.getABITypeAlign(type);
    offset = alignTo(offset, align);
    SmallVector<Leaf, 8> leaves;
    std::string error;
    if (flatten(arg.getType(), layout, leaves, error)) {
      std::vector<Register> &regs = context.argumentRegisters[&arg];
      for (const Leaf &leaf : leaves) {
        const Register reg = makeRegister(Bank::Launch, bank);
        bank += lanes * bytesOf(leaf.width);
        regs.push_back(reg);
        context.arguments.push_back(
            {byRef ? offset : offset + leaf.offset, byRef, reg, leaf.width, (leaf.bits + 7) / 8});
      }
    }
    offset += layout.getTypeAllocSize(type);
  }
  context.explicitBytes = offset;
  context.launchBankBytes = bank;
}

Decoder::Decoder(const ModuleState &module, const KernelContext &context, const llvm::Function &function)
    : module(module), context(context), source(function), handler(handlers()), layout(module.layout()) {}

std::unique_ptr<Function> Decoder::decode() {
  out = std::make_unique<Function>();
  out->name = source.getName().str();

  // Of other functions the frames of one wave would have to be compared.
  if (&source == context.kernel)
    contested = contestedBlocks(source);
  const BlockOrder blockOrder = orderBlocks(source);
  const std::vector<const BasicBlock *> &order = blockOrder.blocks;
  for (uint32_t i = 0; i < order.size(); ++i)
    if (order[i])
      blockIndex[order[i]] = i;
  joinIndex = blockOrder.joins;
  DenseMap<uint32_t, const BasicBlock *> headerOfJoin;
  for (const auto &[header, join] : joinIndex)
    headerOfJoin[join] = header;
  current = &order[0]->front();

  std::string signatureFailure;
  if (&source != context.kernel) {
    for (const Argument &arg : source.args()) {
      const ArrayRef<Leaf> leaves = leavesOf(arg.getType());
      const Registers regs = newRegisters(leaves);
      values[&arg] = regs;
      for (const Leaf &leaf : leaves)
        out->arguments.push_back(leaf.width);
      if (arg.hasByValAttr() && regs.size() == 1) {
        Type *type = arg.getParamByValType();
        const Align align = std::max(arg.getParamAlign().valueOrOne(), layout.getABITypeAlign(type));
        out->privateBytes = uint32_t(alignTo(out->privateBytes, align));
        const uint64_t bytes = layout.getTypeAllocSize(type);
        out->byVal.push_back({regs[0], out->privateBytes, uint32_t(bytes)});
        out->privateBytes += uint32_t(bytes);
      }
    }
    for (const Leaf &leaf : leavesOf(source.getReturnType()))
      out->results.push_back(leaf.width);
    signatureFailure.swap(failure);
  }

  for (const BasicBlock *block : order) {
    out->blockStart.push_back(uint32_t(out->ops.size()));
    if (!signatureFailure.empty() && block == order[0]) {
      emit(unsupported()).extra = text(signatureFailure + " is not supported by the CPU agent");
    }
    if (!block) {
      const BasicBlock *header = headerOfJoin.lookup(uint32_t(out->blockStart.size() - 1));
      current = &header->front();
      emit(branch()).extra = extra<Edge>(Edge{blockIndex.lookup(header), {}});
      continue;
    }
    for (const Instruction &i : *block)
      decodeInstruction(const_cast<Instruction &>(i));
  }
  out->blockStart.push_back(uint32_t(out->ops.size()));
  // Lane loops read whole vectors of the widest container.
  out->constants.resize(out->constants.size() + 64);
  out->registerBytes += 64;
  return std::move(out);
}

static bool mayReadOtherLanes(const Instruction &i) {
  const auto *call = dyn_cast<CallBase>(&i);
  if (!call)
    return false;
  const auto *intrinsic = dyn_cast<IntrinsicInst>(call);
  if (!intrinsic)
    return true;
  switch (intrinsic->getIntrinsicID()) {
  case Intrinsic::amdgcn_s_barrier: // convergent for another reason
  case Intrinsic::amdgcn_s_barrier_signal:
  case Intrinsic::amdgcn_s_barrier_wait:
    return false;
  default:
    return intrinsic->isConvergent() || joinsLanes(i);
  }
}

void Decoder::decodeInstruction(Instruction &i) {
  current = &i;
  const size_t ops = out->ops.size();
  failure.clear();
  if (context.copiesAsync)
    orderCopies(i);
  visit(i);
  // A function that is called has registers of its caller as arguments.
  out->readsOtherLanes |= &source != context.kernel || mayReadOtherLanes(i);
  if (!failed() && context.isTwin && joinsLanes(i))
    emit(lanesMeet());
  if (!failed())
    return;
  std::string what = failure;
  out->ops.resize(ops);
  out->origin.resize(ops);
  emit(unsupported()).extra = text(what + " is not supported by the CPU agent");
  if (!i.getType()->isVoidTy())
    (void)define(&i);
  failure.clear();
}

void Decoder::visitInstruction(Instruction &i) { fail(Twine("instruction ") + i.getOpcodeName()); }

void Decoder::visitPHINode(PHINode &i) { (void)define(&i); }

// Orders moves so that no source is overwritten before it is read; cycles go through a temporary.
std::vector<Move> Decoder::parallelCopy(std::vector<Move> moves) {
  std::vector<Move> ordered;
  std::erase_if(moves, [](const Move &m) { return m.to == m.from; });
  DenseMap<Register, uint32_t> readers;
  for (const Move &m : moves)
    ++readers[m.from];
  std::vector<bool> done(moves.size());
  size_t left = moves.size();
  while (left) {
    bool progress = false;
    for (size_t k = 0; k < moves.size(); ++k) {
      if (done[k] || readers.lookup(moves[k].to))
        continue;
      ordered.push_back(moves[k]);
      --readers[moves[k].from];
      done[k] = true;
      --left;
      progress = true;
    }
    if (progress)
      continue;
    // Every destination left is also a source: save one and let its readers read the copy.
    const size_t k = size_t(std::find(done.begin(), done.end(), false) - done.begin());
    const Register saved = moves[k].to;
    const Register copy = newRegister(moves[k].width);
    ordered.push_back({copy, saved, moves[k].width, 1});
    for (size_t j = 0; j < moves.size(); ++j)
      if (!done[j] && moves[j].from == saved)
        moves[j].from = copy;
    readers[copy] = readers[saved];
    readers[saved] = 0;
  }
  // Adjacent registers in one go. The order within a merged move does not matter: no destination in it is a source
  // of a later part, or it would not have come in this order.
  std::vector<Move> merged;
  for (const Move &m : ordered) {
    if (!merged.empty()) {
      Move &last = merged.back();
      if (last.width == m.width && m.to == last.to + last.n * stride(m.width) &&
          m.from == last.from + last.n * stride(m.width)) {
        ++last.n;
        continue;
      }
    }
    merged.push_back(m);
  }
  return merged;
}

Edge Decoder::makeEdge(const BasicBlock *from, const BasicBlock *to) {
  Edge edge;
  edge.block = blockIndex.lookup(to);
  if (const auto join = joinIndex.find(to); join != joinIndex.end() && blockIndex.lookup(from) >= edge.block)
    edge.block = join->second; // a back edge
  std::vector<Move> moves;
  for (const PHINode &phi : to->phis()) {
    const Value *incoming = phi.getIncomingValueForBlock(from);
    if (isa<UndefValue>(incoming))
      continue; // whatever is there
    const Registers source = use(incoming), target = use(&phi);
    const ArrayRef<Leaf> leaves = leavesOf(phi.getType());
    if (source.size() != leaves.size() || target.size() != leaves.size()) {
      fail("a phi of this type");
      return edge;
    }
    for (size_t k = 0; k < leaves.size(); ++k)
      moves.push_back({target[k], source[k], leaves[k].width, 1});
  }
  edge.moves = parallelCopy(std::move(moves));
  return edge;
}

uint32_t Decoder::turnOf(const Instruction &branch, unsigned successor) const {
  const bool inKernel = context.barriers && &source == context.kernel;
  return inKernel ? context.barriers->turnOf(branch, branch.getSuccessor(successor)) : kNoTurn;
}

void Decoder::visitBranchInst(BranchInst &i) {
  if (i.isUnconditional()) {
    Edge edge = makeEdge(i.getParent(), i.getSuccessor(0));
    emit(branch()).extra = extra<Edge>(std::move(edge));
    return;
  }
  const Register condition = use1(i.getCondition());
  auto *edges = extra<std::array<Edge, 2>>();
  (*edges)[0] = makeEdge(i.getParent(), i.getSuccessor(0));
  (*edges)[1] = makeEdge(i.getParent(), i.getSuccessor(1));
  const uint32_t turns[2] = {turnOf(i, 0), turnOf(i, 1)};
  const bool turning = turns[0] != turns[1];
  Op &op = emit(turning ? turningBranch() : conditionalBranch());
  op.a = condition;
  op.extra = edges->data();
  if (turning)
    op.imm = turns[0] | uint64_t(turns[1]) << 32;
}

void Decoder::visitSwitchInst(SwitchInst &i) {
  const Register condition = use1(i.getCondition());
  if (widthOf(i.getCondition()) == Width::B128)
    return fail("switch on a 128-bit value");
  auto *table = extra<SwitchTable>();
  table->width = widthOf(i.getCondition());
  table->edges.push_back(makeEdge(i.getParent(), i.getDefaultDest()));
  std::vector<std::pair<uint64_t, uint32_t>> cases;
  for (const auto &c : i.cases()) {
    cases.emplace_back(c.getCaseValue()->getZExtValue(), uint32_t(table->edges.size()));
    table->edges.push_back(makeEdge(i.getParent(), c.getCaseSuccessor()));
  }
  std::sort(cases.begin(), cases.end());
  for (const auto &[value, edge] : cases) {
    table->values.push_back(value);
    table->target.push_back(edge);
  }
  table->turns.push_back(turnOf(i, 0));
  for (const auto &c : i.cases())
    table->turns.push_back(turnOf(i, c.getSuccessorIndex()));
  if (std::all_of(table->turns.begin(), table->turns.end(), [](uint32_t t) { return t == kNoTurn; }))
    table->turns.clear();
  Op &op = emit(switchOp());
  op.a = condition;
  op.extra = table;
}

void Decoder::visitReturnInst(ReturnInst &i) {
  ReturnValues *returned = nullptr;
  if (const Value *v = i.getReturnValue()) {
    returned = extra<ReturnValues>();
    const Registers regs = use(v);
    returned->from.assign(regs.begin(), regs.end());
    for (const Leaf &leaf : leavesOf(v->getType()))
      returned->widths.push_back(leaf.width);
  }
  emit(returnOp()).extra = returned;
}

void Decoder::visitUnreachableInst(UnreachableInst &) { emit(unreachable()); }

} // namespace wavesan::cpu::engine
