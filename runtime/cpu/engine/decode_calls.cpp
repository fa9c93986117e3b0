// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: calls and hooks.
#include "decoder.h"

#include "wavesan/abi/hooks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <cstring>

namespace wavesan::cpu::engine {

using namespace llvm;

void Decoder::visitCallBase(CallBase &i) {
  if (!isa<CallInst>(i))
    return visitInstruction(i);
  if (i.isInlineAsm())
    return decodeInlineAsm(i);
  const auto *callee = dyn_cast<llvm::Function>(i.getCalledOperand()->stripPointerCastsAndAliases());
  if (callee && callee->isIntrinsic())
    return decodeIntrinsic(i, callee->getIntrinsicID());
  if (callee && callee->isDeclaration() && decodeHook(i, callee->getName()))
    return;
  decodeCall(i);
}

/// Whether a call by one type reaches a function of the other as it does on a GPU: everything is passed in registers of
/// the same widths. Declarations in headers differ from libraries in pointers that are integers.
bool Decoder::passesLike(FunctionType &a, FunctionType &b) {
  const auto same = [&](Type *x, Type *y) {
    const ArrayRef<Leaf> l = leavesOf(x), r = leavesOf(y);
    return llvm::equal(l, r, [](const Leaf &p, const Leaf &q) { return p.width == q.width; });
  };
  return &a == &b || (a.isVarArg() == b.isVarArg() && same(a.getReturnType(), b.getReturnType()) &&
                      llvm::equal(a.params(), b.params(), same));
}

void Decoder::decodeCall(CallBase &i) {
  const auto *callee = dyn_cast<llvm::Function>(i.getCalledOperand()->stripPointerCastsAndAliases());
  if (callee && callee->isDeclaration())
    return fail(Twine("call of the undefined function ") + callee->getName());
  if (callee && !passesLike(*callee->getFunctionType(), *i.getFunctionType()))
    return fail(Twine("call of ") + callee->getName() + " with another signature");

  auto *site = extra<CallSite>();
  site->llvmFunction = callee;
  // The callee's arguments are the first registers of its frame, in order.
  uint32_t to = 0;
  for (const Use &argument : i.args()) {
    const Registers regs = use(argument.get());
    const ArrayRef<Leaf> leaves = leavesOf(argument->getType());
    if (failed() || regs.size() != leaves.size())
      return fail("a call argument of this type");
    for (size_t k = 0; k < leaves.size(); ++k) {
      const Width w = leaves[k].width;
      site->arguments.push_back({to, regs[k], w, 1});
      site->argumentWidths.push_back(w);
      to += stride(w);
    }
  }
  for (const Leaf &leaf : leavesOf(i.getType()))
    site->resultWidths.push_back(leaf.width);
  Register target = kNoRegister;
  if (!callee)
    target = use1(i.getCalledOperand());

  const ArrayRef<Leaf> leaves = leavesOf(i.getType());
  if (failed())
    return;
  // Results arrive in consecutive registers. They are the call's own: a recursive or divergent call must not write
  // into registers that other lanes still read.
  Registers d;
  bool consecutive = true;
  if (!leaves.empty()) {
    d = define(&i);
    for (size_t k = 1; k < d.size(); ++k)
      consecutive &= d[k] == d[k - 1] + stride(leaves[k - 1].width);
  }
  if (!consecutive)
    return fail("a call in irreducible control flow");
  Op &op = emit(call());
  op.a = target;
  op.d = d.empty() ? kNoRegister : d[0];
  op.extra = site;
  out->hasCalls = true;
}

bool Decoder::decodeHook(CallBase &i, StringRef name) {
  uint32_t index = 0;
  while (index < uint32_t(abi::Hook::Count) && name != abi::kHookSymbols[index])
    ++index;
  if (index == uint32_t(abi::Hook::Count))
    return false;

  auto *operands = extra<HookOperands>();
  // Argument 0 is the wave's private state: the engine keeps its own.
  unsigned next = 1;
  const auto take = [&](Register &r, Width w) {
    if (next >= i.arg_size())
      return fail(Twine("hook ") + name + " with too few arguments");
    const Value *argument = i.getArgOperand(next++);
    r = use1(argument);
    if (!failed() && widthOf(argument) != w)
      fail(Twine("hook ") + name + " with an argument of another type");
  };
  const auto takeUniform = [&](UniformOperand &o) {
    const bool present = next < i.arg_size();
    if (auto *known = present ? dyn_cast<ConstantInt>(i.getArgOperand(next)) : nullptr;
        known && known->getBitWidth() == 32) {
      o.value = uint32_t(known->getZExtValue());
      ++next;
      return;
    }
    take(o.reg, Width::B32);
    if (failed() || o.reg >> 30 != uint32_t(Bank::Constant))
      return;
    std::memcpy(&o.value, out->constants.data() + (o.reg & 0x3fffffffu), sizeof(o.value));
    o.reg = kNoRegister;
  };
  switch (abi::Hook(index)) {
  case abi::Hook::KernelBegin: take(operands->address, Width::B64); break;
  case abi::Hook::KernelEnd: break;
  case abi::Hook::LdsAccess:
  case abi::Hook::LdsCopy:
    take(operands->address, Width::B32);
    takeUniform(operands->info);
    takeUniform(operands->site);
    takeUniform(operands->variable);
    break;
  case abi::Hook::GlobalAccess:
  case abi::Hook::GenericAccess:
    take(operands->address, Width::B64);
    takeUniform(operands->info);
    takeUniform(operands->site);
    break;
  case abi::Hook::LdsRange:
    take(operands->address, Width::B32);
    take(operands->length, Width::B64);
    takeUniform(operands->info);
    takeUniform(operands->site);
    takeUniform(operands->variable);
    break;
  case abi::Hook::GlobalRange:
  case abi::Hook::GenericRange:
    take(operands->address, Width::B64);
    take(operands->length, Width::B64);
    takeUniform(operands->info);
    takeUniform(operands->site);
    break;
  case abi::Hook::AtomicDone:
    take(operands->address, Width::B64);
    takeUniform(operands->info);
    takeUniform(operands->site);
    take(operands->wrote, Width::B8);
    break;
  case abi::Hook::NamedBarrier:
    takeUniform(operands->variable);
    takeUniform(operands->info);
    takeUniform(operands->site);
    break;
  case abi::Hook::BarrierArrive:
  case abi::Hook::BarrierLeave:
  case abi::Hook::GridArrive:
  case abi::Hook::GridLeave: takeUniform(operands->site); break;
  case abi::Hook::Fence:
  case abi::Hook::VmemIssued:
  case abi::Hook::Wait: takeUniform(operands->info); break;
  case abi::Hook::Count: break;
  }
  if (!failed() && next != i.arg_size())
    fail(Twine("hook ") + name + " with too many arguments");
  if (!failed()) {
    Op &op = emit(hook(index));
    op.extra = operands;
    op.sub = contested.contains(i.getParent());
    out->hasContested |= op.sub != 0;
    out->hasHooks = true;
  }
  return true;
}

} // namespace wavesan::cpu::engine
