// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: calls, hooks and inline assembly.
#include "decoder.h"

#include "wavesan/abi/hooks.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

#include <optional>
#include <tuple>

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

void Decoder::decodeCall(CallBase &i) {
  const auto *callee = dyn_cast<llvm::Function>(i.getCalledOperand()->stripPointerCastsAndAliases());
  if (callee && callee->isDeclaration())
    return fail(Twine("call of the undefined function ") + callee->getName());
  if (callee && callee->getFunctionType() != i.getFunctionType())
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
  switch (abi::Hook(index)) {
  case abi::Hook::KernelBegin: take(operands->address, Width::B64); break;
  case abi::Hook::KernelEnd: break;
  case abi::Hook::LdsAccess:
    take(operands->address, Width::B32);
    take(operands->info, Width::B32);
    take(operands->site, Width::B32);
    take(operands->variable, Width::B32);
    break;
  case abi::Hook::GlobalAccess:
  case abi::Hook::GenericAccess:
    take(operands->address, Width::B64);
    take(operands->info, Width::B32);
    take(operands->site, Width::B32);
    break;
  case abi::Hook::LdsRange:
    take(operands->address, Width::B32);
    take(operands->length, Width::B64);
    take(operands->info, Width::B32);
    take(operands->site, Width::B32);
    take(operands->variable, Width::B32);
    break;
  case abi::Hook::GlobalRange:
  case abi::Hook::GenericRange:
    take(operands->address, Width::B64);
    take(operands->length, Width::B64);
    take(operands->info, Width::B32);
    take(operands->site, Width::B32);
    break;
  case abi::Hook::AtomicDone:
    take(operands->address, Width::B64);
    take(operands->info, Width::B32);
    take(operands->site, Width::B32);
    take(operands->wrote, Width::B8);
    break;
  case abi::Hook::BarrierArrive:
  case abi::Hook::BarrierLeave: take(operands->site, Width::B32); break;
  case abi::Hook::Fence:
  case abi::Hook::Wait: take(operands->info, Width::B32); break;
  case abi::Hook::Count: break;
  }
  if (!failed() && next != i.arg_size())
    fail(Twine("hook ") + name + " with too many arguments");
  if (!failed())
    emit(hook(index)).extra = operands;
  return true;
}

// Assembly text without effect on data. `rest` is what follows the line that is taken; nullopt: something else.
enum class AsmLine { Nothing, Wait, Sleep, Barrier };
static std::optional<AsmLine> takeAsmLine(StringRef &rest) {
  StringRef line;
  std::tie(line, rest) = rest.split('\n'); // ';' begins a comment: it does not separate instructions
  line = line.substr(0, std::min(line.find(';'), line.find("//"))).trim();
  if (line.empty())
    return AsmLine::Nothing;
  if (line.contains("/*"))
    return std::nullopt;
  const StringRef mnemonic = line.take_until([](char c) { return llvm::isSpace(c); });
  const StringRef operands = line.substr(mnemonic.size()).trim();
  // The mnemonic must be the whole one: "$" may stand for more text.
  if (!llvm::all_of(mnemonic, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return std::nullopt;
  if (mnemonic == "s_barrier")
    return operands.empty() ? std::optional(AsmLine::Barrier) : std::nullopt;
  if (mnemonic == "s_sleep" || mnemonic == "s_sleep_var")
    return AsmLine::Sleep;
  if (mnemonic == "s_waitcnt" || mnemonic.starts_with("s_waitcnt_") || mnemonic.starts_with("s_wait_") ||
      mnemonic == "s_nop" || mnemonic == "s_setprio" || (mnemonic == "s_sethalt" && operands == "0"))
    return AsmLine::Wait;
  return std::nullopt;
}

// Empty assembly is how programs hide values from the optimiser: nothing, or a copy of the tied input. Waits order
// what the engine never reorders, and barriers are often written this way; nothing else is executed.
void Decoder::decodeInlineAsm(CallBase &i) {
  const auto *assembly = cast<InlineAsm>(i.getCalledOperand());
  const StringRef string = StringRef(assembly->getAsmString()).trim();
  SmallVector<AsmLine, 4> lines;
  for (StringRef rest = string; !rest.empty();) {
    const std::optional<AsmLine> line = takeAsmLine(rest);
    if (!line) {
      std::string shown;
      for (const char c : string.substr(0, 80))
        shown += c == '\n' || c == '\t' ? ' ' : c;
      return fail(Twine("inline assembly \"") + shown + "\"");
    }
    if (*line != AsmLine::Nothing)
      lines.push_back(*line);
  }
  if (lines.empty() && assembly->hasSideEffects())
    lines.push_back(AsmLine::Wait);
  for (const AsmLine line : lines)
    emit(line == AsmLine::Barrier ? barrier() : line == AsmLine::Sleep ? sleepOp() : fenceOp());
  if (i.getType()->isVoidTy())
    return;
  const InlineAsm::ConstraintInfoVector constraints = assembly->ParseConstraints();
  // Operands in order: outputs, then inputs; input k may be tied to output n ("0").
  SmallVector<const Value *, 4> tied;
  unsigned outputs = 0, input = 0;
  for (const auto &c : constraints)
    outputs += c.Type == InlineAsm::isOutput;
  tied.resize(outputs);
  for (const auto &c : constraints)
    if (c.Type == InlineAsm::isInput) {
      if (c.hasMatchingInput() || c.Codes.empty() || input >= i.arg_size())
        return fail("inline assembly with these constraints");
      const Value *value = i.getArgOperand(input++);
      unsigned match;
      if (!StringRef(c.Codes[0]).getAsInteger(10, match) && match < outputs)
        tied[match] = value;
    }
  SmallVector<Register, 4> regs;
  for (const Value *v : tied) {
    if (!v)
      return fail("inline assembly with an output that no input is tied to");
    llvm::append_range(regs, use(v));
  }
  if (regs.size() != leavesOf(i.getType()).size())
    return fail("inline assembly of this type");
  alias(&i, regs);
}

} // namespace wavesan::cpu::engine
