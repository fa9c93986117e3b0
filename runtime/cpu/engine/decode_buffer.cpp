// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder: buffer resources and accesses through them.
#include "buffer_resource.h"
#include "copies.h"
#include "decoder.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace wavesan::cpu::engine {

using namespace llvm;

/// The operation of raw.buffer.atomic.NAME.TYPE; integers unless it says otherwise. Names of several words begin like
/// others.
static std::optional<RmwOp> rmwOf(StringRef name) {
  for (const StringRef words : {"cond.sub.u32", "sub.clamp.u32"})
    if (name.starts_with(words))
      return words == "cond.sub.u32" ? RmwOp::USubCond : RmwOp::USubSat;
  return StringSwitch<std::optional<RmwOp>>(name.split('.').first)
      .Case("swap", RmwOp::Xchg)
      .Case("add", RmwOp::Add)
      .Case("sub", RmwOp::Sub)
      .Case("smin", RmwOp::Min)
      .Case("umin", RmwOp::UMin)
      .Case("fmin", RmwOp::FMin)
      .Case("smax", RmwOp::Max)
      .Case("umax", RmwOp::UMax)
      .Case("fmax", RmwOp::FMax)
      .Case("fadd", RmwOp::FAdd)
      .Case("and", RmwOp::And)
      .Case("or", RmwOp::Or)
      .Case("xor", RmwOp::Xor)
      .Case("inc", RmwOp::UIncWrap)
      .Case("dec", RmwOp::UDecWrap)
      .Default(std::nullopt);
}

void Decoder::makeBufferResource(CallBase &i) {
  if (i.getType()->getPointerAddressSpace() != 8)
    return fail("a fat pointer");
  const Register base = use1(i.getArgOperand(0)), stride = use1(i.getArgOperand(1));
  const Operand records = operand(i.getArgOperand(2));
  const Register flags = use1(i.getArgOperand(3));
  if (failed() || widthOf(i.getArgOperand(0)) != Width::B64)
    return fail("this base address");
  const Operand count{temporary(Width::B32, 1), Width::B32};
  emitLanes(handler.zeroExtendOrTruncate(records.width, Width::B32), count, records);
  const Registers d = define(&i);
  if (failed())
    return;
  Op &op = emit(makeResource());
  op.a = base, op.b = stride, op.c = count.regs[0], op.sub = flags, op.d = d[0];
}

/// The resource as one register of 128 bits.
Register Decoder::resourceOf(const Value *resource) {
  const Registers regs = use(resource);
  if (regs.size() == 1 && widthOf(resource) == Width::B128)
    return regs[0];
  if (failed() || regs.size() != 4 || widthOf(resource) != Width::B32)
    return fail("this resource"), kNoRegister;
  const Register words = newRegister(Width::B32, 4), whole = newRegister(Width::B128);
  for (uint32_t k = 0; k < 4; ++k) {
    Op &move = emit(handler.move(Width::B32));
    move.d = words + k * stride(Width::B32), move.a = regs[k];
  }
  Op &join = emit(handler.join(Width::B32, Width::B128));
  join.d = whole, join.a = words;
  return whole;
}

Decoder::BufferTarget Decoder::findBuffer(CallBase &i, unsigned at, bool indexed, unsigned offsetAt,
                                          const BufferShape &shape) {
  const Register resource = resourceOf(i.getArgOperand(at));
  const Register index = indexed ? use1(i.getArgOperand(offsetAt++)) : kNoRegister;
  const Register offset = use1(i.getArgOperand(offsetAt)), scalar = use1(i.getArgOperand(offsetAt + 1));
  const BufferTarget target{newRegister(Width::B64), newRegister(Width::B32)};
  if (failed())
    return target;
  Op &op = emit(findInBuffer());
  op.a = resource, op.b = offset, op.c = scalar, op.sub = index;
  op.d = target.address, op.n = target.inRange;
  op.extra = extra<BufferShape>(shape);
  return target;
}

Op &Decoder::emitInBuffer(const BufferTarget &target, uint64_t needed, Handler run,
                          std::vector<std::pair<Register, Width>> results, uint32_t written) {
  auto *access = extra<InBuffer>();
  access->noted = context.notesWrites ? written : 0;
  access->op.run = run;
  access->op.a = target.address;
  access->results = std::move(results);
  if (!run)
    fail("this type");
  Op &op = emit(inBuffer());
  op.a = target.inRange, op.imm = needed, op.extra = access;
  return access->op;
}

void Decoder::repack(ArrayRef<RepackLeaf> from, ArrayRef<RepackLeaf> to) {
  auto *leaves = extra<std::pair<std::vector<RepackLeaf>, std::vector<RepackLeaf>>>();
  leaves->first.assign(from.begin(), from.end());
  leaves->second.assign(to.begin(), to.end());
  emit(bitRepack()).extra =
      extra<Repack>(Repack{leaves->first.data(), leaves->second.data(), uint32_t(from.size()), uint32_t(to.size())});
}

bool Decoder::decodeBuffer(CallBase &i) {
  const auto *callee = dyn_cast<llvm::Function>(i.getCalledOperand());
  StringRef name = callee ? callee->getName() : StringRef();
  if (!name.consume_front("llvm.amdgcn."))
    return false;
  if (name.starts_with("make.buffer.rsrc"))
    return makeBufferResource(i), true;
  const bool indexed = name.consume_front("struct.");
  if (!indexed && !name.consume_front("raw."))
    return false;
  name.consume_front("ptr.");
  if (name.contains("format") || name.contains("tbuffer") || name.contains("load.async"))
    return false;
  if (context.gfxMajor >= 12 && !StringRef(context.processor).starts_with("gfx120"))
    return fail("this target's buffer resources"), true;

  const auto constantAt = [&](unsigned k) { return cast<ConstantInt>(i.getArgOperand(k))->getZExtValue(); };
  BufferShape shape{0, 0, context.gfxMajor, indexed, 0};
  if (name.starts_with("buffer.load.lds")) {
    const uint32_t bytes = uint32_t(constantAt(2));
    if (bytes != 1 && bytes != 2 && bytes != 4)
      return fail("this size"), true;
    shape.bytes = shape.component = bytes;
    shape.immediate = constantAt(indexed ? 6 : 5);
    const Register lds = use1(i.getArgOperand(1));
    const BufferTarget target = findBuffer(i, 0, indexed, 3, shape);
    Op &op = emit(issueCopy());
    op.a = target.address, op.b = lds, op.c = target.inRange, op.imm = shape.immediate;
    op.extra = extra<CopyShape>(CopyShape{bytes, std::max(bytes, 4u), true, true, true, false});
    return true;
  }

  const bool atomic = name.consume_front("buffer.atomic."),
             loads = name.starts_with("buffer.load") || name.starts_with("atomic.buffer.load");
  if (!atomic && !loads && !name.starts_with("buffer.store"))
    return false;
  const bool compares = atomic && name.starts_with("cmpswap");
  const unsigned at = loads ? 0 : compares ? 2 : 1;
  Type *type = loads ? i.getType() : i.getArgOperand(0)->getType();
  const ArrayRef<Leaf> leaves = leavesOf(type);
  const uint32_t bytes = uint32_t(layout.getTypeStoreSize(type));
  for (const Leaf &leaf : leaves)
    if (leaf.packed || leaf.bits != bytesOf(leaf.width) * 8)
      return fail("this type"), true;
  if (failed() || leaves.empty() || bytes > 16 || (bytes > 4 && bytes % 4))
    return fail("this type"), true;
  shape.bytes = bytes;
  shape.component = atomic ? bytes : std::min(bytes, 4u);

  if (atomic) {
    if (leaves.size() > 2 || (leaves.size() == 2 && bytes != 4) || bytes < 4 || bytes > 8)
      return fail("this type"), true;
    const Operand value = operand(i.getArgOperand(0));
    const Operand expected = compares ? operand(i.getArgOperand(1)) : Operand{};
    const BufferTarget target = findBuffer(i, at, indexed, at + 1, shape);
    const Operand d = result(&i);
    if (failed())
      return true;
    const auto kind = floatKindOf(type);
    const auto rmw = rmwOf(name);
    if (compares) {
      const Register success = newRegister(Width::B8);
      Op &op = emitInBuffer(target, bytes, atomicCompareExchange(Space::Flat, d.width), {{d.regs[0], d.width}}, bytes);
      op.b = expected.regs[0], op.c = value.regs[0], op.d = d.regs[0];
      op.extra = extra<Register>(success);
      return true;
    }
    if (!rmw)
      return fail("this operation"), true;
    const bool isFloat = *rmw == RmwOp::FAdd || *rmw == RmwOp::FMin || *rmw == RmwOp::FMax;
    if (isFloat ? !kind : leaves.size() != 1)
      return fail("this type"), true;
    // The handler takes both halves of a pair from consecutive registers.
    const uint32_t n = uint32_t(leaves.size());
    const Registers source = temporary(d.width, n), old = temporary(d.width, n);
    emitLanes(handler.move(d.width), {source, d.width}, value);
    std::vector<std::pair<Register, Width>> results;
    for (const Register r : old)
      results.push_back({r, d.width});
    Op &op = emitInBuffer(target, bytes,
                          isFloat ? atomicRmwFloat(Space::Flat, *rmw, *kind, n) : atomicRmw(Space::Flat, *rmw, d.width),
                          results, bytes);
    op.b = source[0], op.d = old[0];
    emitLanes(handler.move(d.width), d, {old, d.width});
    return true;
  }

  // Dword by dword, as the range check goes; what is smaller than a dword is one scalar or a pair of bytes.
  const uint32_t n = bytes / shape.component;
  const Width w = shape.component == 1 ? Width::B8 : shape.component == 2 ? Width::B16 : Width::B32;
  const Register parts = newRegister(w, n);
  SmallVector<RepackLeaf, 4> pieces;
  for (uint32_t k = 0; k < n; ++k)
    pieces.push_back({parts + k * stride(w), w, shape.component * 8});
  const auto ends = [&](Registers regs) {
    SmallVector<RepackLeaf, 8> list;
    for (size_t k = 0; k < leaves.size(); ++k)
      list.push_back({regs[k], leaves[k].width, leaves[k].bits});
    return list;
  };
  const Registers value = loads ? Registers() : use(i.getArgOperand(0));
  if (failed())
    return true;
  if (!loads)
    repack(ends(value), pieces);
  const BufferTarget target = findBuffer(i, at, indexed, at + 1, shape);
  if (!loads)
    checkBufferStore(i, target, pieces);
  for (uint32_t k = 0; k < n && !failed(); ++k) {
    const Register part = pieces[k].reg;
    if (loads) {
      Op &op = emitInBuffer(target, (k + 1) * shape.component, handler.load(Space::Flat, w), {{part, w}});
      op.d = part, op.imm = k * shape.component;
    } else {
      Op &op = emitInBuffer(target, (k + 1) * shape.component, handler.store(Space::Flat, w), {}, shape.component);
      op.b = part, op.imm = k * shape.component;
    }
  }
  if (loads) {
    const Registers d = define(&i);
    if (!failed())
      repack(pieces, ends(d));
  }
  return true;
}

} // namespace wavesan::cpu::engine
