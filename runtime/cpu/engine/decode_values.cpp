// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: registers, constants and the emission of lane loops.
#include "decoder.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"

#include <cstring>

namespace wavesan::cpu::engine {

using namespace llvm;

void Decoder::fail(const Twine &what) {
  if (failure.empty())
    failure = what.str();
}

ArrayRef<Leaf> Decoder::leavesOf(Type *type) {
  auto [it, inserted] = leafCache.try_emplace(type);
  if (inserted) {
    SmallVector<Leaf, 8> leaves;
    std::string error;
    if (!flatten(type, layout, leaves, error))
      fail(error);
    Leaf *copy = allocator.Allocate<Leaf>(leaves.size());
    std::uninitialized_copy(leaves.begin(), leaves.end(), copy);
    it = leafCache.find(type);
    it->second = ArrayRef<Leaf>(copy, leaves.size());
  } else if (it->second.empty() && !type->isVoidTy() && !failed()) {
    SmallVector<Leaf, 8> leaves;
    std::string error;
    if (!flatten(type, layout, leaves, error))
      fail(error);
  }
  return it->second;
}

bool Decoder::isOdd(Type *type) {
  const ArrayRef<Leaf> leaves = leavesOf(type);
  return !leaves.empty() && leaves[0].bits != bytesOf(leaves[0].width) * 8;
}

Register Decoder::newRegister(Width w, uint32_t n) {
  const uint32_t first = out->registerBytes;
  const uint64_t bytes = uint64_t(stride(w)) * n;
  if (first + bytes > (uint64_t(1) << 29)) {
    fail("a function with more than 512 MiB of registers");
    return 0;
  }
  out->registerBytes += uint32_t(bytes);
  return makeRegister(Bank::Frame, first);
}

Decoder::Registers Decoder::copyOf(ArrayRef<Register> regs) {
  Register *copy = allocator.Allocate<Register>(regs.size());
  std::uninitialized_copy(regs.begin(), regs.end(), copy);
  return {copy, regs.size()};
}

Decoder::Registers Decoder::newRegisters(ArrayRef<Leaf> leaves) {
  SmallVector<Register, 8> regs;
  for (const Leaf &leaf : leaves)
    regs.push_back(newRegister(leaf.width));
  return copyOf(regs);
}

Decoder::Registers Decoder::temporary(Width w, uint32_t n) {
  SmallVector<Register, 8> regs;
  for (uint32_t i = 0; i < n; ++i)
    regs.push_back(newRegister(w));
  return copyOf(regs);
}

Decoder::Registers Decoder::use(const Value *v) {
  if (auto *c = dyn_cast<Constant>(v))
    return useConstant(*c);
  if (auto *a = dyn_cast<Argument>(v); a && &source == context.kernel) {
    const auto it = context.argumentRegisters.find(a);
    if (it == context.argumentRegisters.end()) {
      (void)leavesOf(a->getType());
      fail("a kernel argument of this type");
      return {};
    }
    return it->second;
  }
  const auto it = values.find(v);
  if (it != values.end())
    return it->second;
  const ArrayRef<Leaf> leaves = leavesOf(v->getType());
  const Registers regs = newRegisters(leaves);
  values[v] = regs;
  return regs;
}

Register Decoder::use1(const Value *v) {
  const Registers regs = use(v);
  if (regs.size() == 1)
    return regs[0];
  fail("this operand");
  return kNoRegister;
}

Register Decoder::constant(Width w, u128 value) {
  // Broadcast; one copy for each value that fits into 59 bits, which is nearly all.
  const uint64_t key = (uint64_t(value) << 3) | uint64_t(w);
  const bool cacheable = value >> 58 == 0;
  if (cacheable) {
    if (const auto it = maskConstants.find(key); it != maskConstants.end())
      return it->second;
  }
  const uint32_t bytes = bytesOf(w);
  const size_t offset = out->constants.size();
  out->constants.resize(offset + stride(w));
  for (uint32_t i = 0; i < context.waveSize; ++i)
    std::memcpy(out->constants.data() + offset + size_t(i) * bytes, &value, bytes);
  const Register r = makeRegister(Bank::Constant, uint32_t(offset));
  if (cacheable)
    maskConstants[key] = r;
  return r;
}

Decoder::Registers Decoder::useConstant(const Constant &c) {
  const auto known = values.find(&c);
  if (known != values.end())
    return known->second;
  const ArrayRef<Leaf> leaves = leavesOf(c.getType());
  SmallVector<Register, 8> regs;
  // Computed before each use.
  if (needsCode(c)) {
    if (auto *e = dyn_cast<ConstantExpr>(&c)) {
      Instruction *asInstruction = e->getAsInstruction();
      const Instruction *outer = current;
      visit(*asInstruction);
      current = outer;
      const auto it = values.find(asInstruction);
      if (it != values.end()) {
        regs.assign(it->second.begin(), it->second.end());
        values.erase(asInstruction);
      }
      asInstruction->deleteValue();
    } else {
      for (unsigned i = 0; const Constant *element = c.getAggregateElement(i); ++i)
        llvm::append_range(regs, useConstant(*element));
    }
    if (regs.size() != leaves.size())
      fail("constant");
    return copyOf(regs);
  }
  // Elements in leaf order.
  SmallVector<const Constant *, 8> scalars;
  const auto collect = [&](auto &&self, const Constant &value) -> void {
    Type *type = value.getType();
    if (!type->isAggregateType() && !type->isVectorTy()) {
      scalars.push_back(&value);
      return;
    }
    const uint64_t n = type->isStructTy()  ? type->getStructNumElements()
                       : type->isArrayTy() ? type->getArrayNumElements()
                                           : cast<FixedVectorType>(type)->getNumElements();
    for (unsigned i = 0; i < n; ++i) {
      const Constant *element = value.getAggregateElement(i);
      if (!element)
        return fail("a vector constant expression");
      self(self, *element);
    }
  };
  if (!leaves.empty())
    collect(collect, c);
  if (failed() || scalars.size() != leaves.size())
    return newRegisters(leaves);
  SmallVector<u128, 8> evaluated;
  for (size_t i = 0; i < scalars.size(); ++i) {
    std::string error;
    const auto value = module.evaluate(*scalars[i], &context.lds, error);
    if (!value) {
      fail(error);
      return newRegisters(leaves);
    }
    evaluated.push_back(*value);
  }
  if (leaves.size() == 1) {
    regs.push_back(constant(leaves[0].width, evaluated[0]));
  } else {
    // Fresh and contiguous, so that lane loops take all elements at once.
    for (size_t i = 0; i < leaves.size(); ++i) {
      const size_t offset = out->constants.size();
      out->constants.resize(offset + stride(leaves[i].width));
      for (uint32_t lane = 0; lane < context.waveSize; ++lane)
        std::memcpy(out->constants.data() + offset + size_t(lane) * bytesOf(leaves[i].width), &evaluated[i],
                    bytesOf(leaves[i].width));
      regs.push_back(makeRegister(Bank::Constant, uint32_t(offset)));
    }
  }
  return values[&c] = copyOf(regs);
}

Decoder::Registers Decoder::define(const Value *v) {
  const auto it = values.find(v);
  if (it != values.end())
    return it->second;
  return values[v] = newRegisters(leavesOf(v->getType()));
}

void Decoder::alias(const Value *v, ArrayRef<Register> regs) {
  const auto it = values.find(v);
  if (it == values.end()) {
    values[v] = copyOf(regs);
    return;
  }
  // A use was decoded first (irreducible control flow): its registers are settled.
  const Registers to = it->second;
  emitMoves(leavesOf(v->getType()), to, copyOf(regs));
}

Op &Decoder::emit(Handler h) {
  if (!h)
    fail("this combination of types");
  out->ops.push_back(Op{.run = h});
  out->origin.push_back(current);
  return out->ops.back();
}

void Decoder::noteWrite(Space space, Register address, uint64_t offset, uint64_t bytes) {
  if (!context.notesWrites || space != Space::Flat || failed())
    return;
  Op &op = emit(noteStore());
  op.a = address, op.imm = offset, op.sub = uint32_t(bytes);
}

void Decoder::noteRangeWrite(Space space, Register address, Register length, Width lengthWidth) {
  if (!context.notesWrites || space != Space::Flat || failed())
    return;
  Op &op = emit(noteRange(lengthWidth));
  op.a = address, op.c = length;
}

void Decoder::emitLanes(Handler h, Operand d, Operand a, Operand b, Operand c, uint32_t sub, uint64_t imm) {
  if (!h)
    return fail("this combination of types");
  if (failed())
    return;
  const size_t n = d.regs.size();
  const auto fits = [&](const Operand &x) { return !x.present() || x.regs.size() == n || x.regs.size() == 1; };
  if (!fits(a) || !fits(b) || !fits(c))
    return fail("operands of different shapes");
  const auto at = [&](const Operand &x, size_t k) {
    return !x.present() ? kNoRegister : x.regs[x.regs.size() == 1 ? 0 : k];
  };
  const auto continues = [&](const Operand &x, size_t k) {
    return !x.present() || (x.regs.size() == n && x.regs[k] == x.regs[k - 1] + stride(x.width));
  };
  for (size_t k = 0; k < n;) {
    size_t end = k + 1;
    while (end < n && continues(d, end) && continues(a, end) && continues(b, end) && continues(c, end))
      ++end;
    Op &op = emit(h);
    op.d = at(d, k);
    op.a = at(a, k);
    op.b = at(b, k);
    op.c = at(c, k);
    op.n = uint32_t(end - k);
    op.sub = sub;
    op.imm = imm;
    k = end;
  }
}

void Decoder::maskOdd(const Operand &d, Type *type) {
  const ArrayRef<Leaf> leaves = leavesOf(type);
  if (leaves.empty() || !isOdd(type))
    return;
  const uint32_t bits = leaves[0].bits, container = bytesOf(leaves[0].width) * 8;
  const uint64_t mask = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  emitLanes(handler.intUnary(IntUnary::Mask, d.width), d, d, {}, {}, container - bits, mask);
}

void Decoder::emitMoves(ArrayRef<Leaf> leaves, Registers to, Registers from) {
  for (size_t i = 0; i < leaves.size() && i < from.size() && i < to.size(); ++i)
    emitLanes(handler.move(leaves[i].width), {to.slice(i, 1), leaves[i].width}, {from.slice(i, 1), leaves[i].width});
}

Decoder::Operand Decoder::signedOperand(const Value *v) {
  Operand o = operand(v);
  if (!isOdd(v->getType()) || !o.present())
    return o;
  Operand t{temporary(o.width, uint32_t(o.regs.size())), o.width};
  emitLanes(handler.intUnary(IntUnary::SignExtend, o.width), t, o, {}, {},
            bytesOf(o.width) * 8 - bitsOf(v->getType()));
  return t;
}

Register Decoder::asI32(const Value *v, bool isSigned) {
  const Operand o = isSigned ? signedOperand(v) : operand(v);
  if (o.regs.size() != 1) {
    fail("this operand");
    return kNoRegister;
  }
  if (o.width == Width::B32)
    return o.regs[0];
  const Operand t{temporary(Width::B32, 1), Width::B32};
  emitLanes(isSigned ? handler.signExtend(o.width, Width::B32) : handler.zeroExtendOrTruncate(o.width, Width::B32), t, o);
  return t.regs[0];
}

} // namespace wavesan::cpu::engine
