// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline assembly: loads, stores and atomics of LDS, global and flat memory, and copies from global memory to LDS.
#include "decode_asm.h"

#include "copies.h"

#include "llvm/ADT/StringSwitch.h"

namespace wavesan::cpu::engine {

using namespace llvm;

namespace {

/// Of one lane at one address.
struct Extent {
  uint32_t bytes;
  bool isSigned;
};

std::optional<Extent> loadExtent(StringRef type) {
  return StringSwitch<std::optional<Extent>>(type)
      .Cases({"u8", "ubyte"}, Extent{1, false})
      .Cases({"i8", "sbyte"}, Extent{1, true})
      .Cases({"u16", "ushort"}, Extent{2, false})
      .Cases({"i16", "sshort"}, Extent{2, true})
      .Cases({"b32", "dword"}, Extent{4, false})
      .Cases({"b64", "dwordx2"}, Extent{8, false})
      .Cases({"b96", "dwordx3"}, Extent{12, false})
      .Cases({"b128", "dwordx4"}, Extent{16, false})
      .Default(std::nullopt);
}
std::optional<Extent> storeExtent(StringRef type) {
  return StringSwitch<std::optional<Extent>>(type)
      .Cases({"b8", "byte"}, Extent{1, false})
      .Cases({"b16", "short"}, Extent{2, false})
      .Default(loadExtent(type));
}

struct Atomic {
  RmwOp op;
  Width width;
  bool isFloat, compares;
};

/// `name`: "add_u32", "smin_x2", "swap", "cmpswap_b64", ...; a type that is not named is a dword.
std::optional<Atomic> atomicOf(StringRef name) {
  Width width = Width::B32;
  if (name.consume_back("_x2"))
    width = Width::B64;
  bool isSigned = false, isFloat = false;
  const auto [operation, type] = name.rsplit('_');
  StringRef op = name;
  if (type == "u32" || type == "i32" || type == "b32" || type == "f32" || type == "u64" || type == "i64" ||
      type == "b64" || type == "f64") {
    op = operation;
    width = type.ends_with("64") ? Width::B64 : Width::B32;
    isSigned = type[0] == 'i';
    isFloat = type[0] == 'f';
  }
  if (op == "cmpswap" || op == "cmpst" || op == "cmpstore")
    return isFloat ? std::nullopt : std::optional(Atomic{RmwOp::Xchg, width, false, true});
  using R = std::optional<RmwOp>;
  const R rmw = isFloat ? StringSwitch<R>(op)
                              .Case("add", RmwOp::FAdd)
                              .Cases({"min", "min_num", "fmin"}, RmwOp::FMin)
                              .Cases({"max", "max_num", "fmax"}, RmwOp::FMax)
                              .Default(std::nullopt)
                        : StringSwitch<R>(op)
                              .Case("add", RmwOp::Add)
                              .Case("sub", RmwOp::Sub)
                              .Case("and", RmwOp::And)
                              .Case("or", RmwOp::Or)
                              .Case("xor", RmwOp::Xor)
                              .Case("inc", RmwOp::UIncWrap)
                              .Case("dec", RmwOp::UDecWrap)
                              .Case("smin", RmwOp::Min)
                              .Case("smax", RmwOp::Max)
                              .Case("umin", RmwOp::UMin)
                              .Case("umax", RmwOp::UMax)
                              .Case("min", isSigned ? RmwOp::Min : RmwOp::UMin)
                              .Case("max", isSigned ? RmwOp::Max : RmwOp::UMax)
                              .Cases({"swap", "wrxchg", "storexchg"}, RmwOp::Xchg)
                              .Default(std::nullopt);
  if (!rmw)
    return std::nullopt;
  return Atomic{*rmw, width, isFloat, false};
}

bool changesNothing(StringRef modifier) {
  return modifier == "glc" || modifier == "slc" || modifier == "dlc" || modifier == "scc" || modifier == "sc0" ||
         modifier == "sc1" || modifier == "nt" || modifier.starts_with("th:") || modifier.starts_with("scope:");
}

uint32_t dwordsOf(uint32_t bytes) { return (bytes + 3) / 4; }

} // namespace

/// Loads into `operand`; addresses in register `address` plus `offset`.
void AsmDecoder::load(Space space, StringRef to, Register address, uint64_t offset, uint32_t bytes, bool isSigned) {
  const Register run = d.newRegister(Width::B32, dwordsOf(bytes));
  if (failed())
    return;
  const Width narrow = bytes == 1 ? Width::B8 : bytes == 2 ? Width::B16 : Width::B32;
  Op &op = d.emit(d.handler.load(space, narrow));
  op.a = address, op.imm = offset, op.n = bytes < 4 ? 1 : dwordsOf(bytes);
  op.d = bytes < 4 ? d.newRegister(narrow) : run;
  if (bytes < 4) {
    const Register loaded = op.d;
    Op &extend = d.emit(isSigned ? d.handler.signExtend(narrow, Width::B32)
                                 : d.handler.zeroExtendOrTruncate(narrow, Width::B32));
    extend.d = run, extend.a = loaded;
  }
  writeRun(to, run, dwordsOf(bytes));
}

/// One instruction: `bytes` of each operand at its offset.
void AsmDecoder::store(Space space, Register address, uint32_t bytes, ArrayRef<std::pair<StringRef, uint64_t>> parts) {
  const Width narrow = bytes == 1 ? Width::B8 : bytes == 2 ? Width::B16 : Width::B32;
  const uint32_t pieces = bytes < 4 ? 1 : dwordsOf(bytes);
  uint64_t first = parts[0].second;
  for (const auto &[from, offset] : parts)
    first = std::min(first, offset, [](uint64_t a, uint64_t b) { return int64_t(a) < int64_t(b); });
  std::vector<Register> runs;
  std::vector<StoredLeaf> leaves;
  for (const auto &[from, offset] : parts) {
    Register run = readRun(from, dwordsOf(bytes));
    if (failed())
      return;
    if (bytes < 4)
      run = lanes(d.handler.zeroExtendOrTruncate(Width::B32, narrow), narrow, run, Width::B32);
    runs.push_back(run);
    for (uint32_t k = 0; k < pieces; ++k)
      leaves.push_back({run + k * d.stride(narrow), narrow, uint32_t(offset - first) + 4 * k, std::min(bytes, 4u)});
  }
  if (const size_t which = stored++; which < writeHooks.size()) {
    const Width w = space == Space::Lds ? Width::B32 : Width::B64;
    const Register begin = first ? binary(IntBinary::Add, address, d.constant(w, first), w) : address;
    if (!failed())
      d.checkStore(writeHooks[which], space, begin, std::move(leaves));
  }
  for (size_t k = 0; k < parts.size(); ++k) {
    d.noteWrite(space, address, parts[k].second, uint64_t(pieces) * bytesOf(narrow));
    Op &op = d.emit(d.handler.store(space, narrow));
    op.a = address, op.b = runs[k], op.imm = parts[k].second, op.n = pieces;
  }
}

static bool isPlainStore(StringRef name) {
  return name.starts_with("ds_write") || (name.starts_with("ds_store") && !name.starts_with("ds_storexchg")) ||
         name.starts_with("global_store_") || name.starts_with("flat_store_");
}

/// Hooks stand before the assembly, and behind it if they are behind its barriers.
void AsmDecoder::findWriteHooks(ArrayRef<AsmInstruction> instructions) {
  const auto isBarrier = [](const AsmInstruction &i) { return StringRef(i.mnemonic).starts_with("s_barrier"); };
  const auto *first = find_if(instructions, isBarrier);
  const auto *last = instructions.end();
  for (const AsmInstruction &i : instructions)
    if (isBarrier(i))
      last = &i;
  size_t before = 0, behind = 0;
  for (const AsmInstruction &i : instructions)
    if (isPlainStore(i.mnemonic)) {
      if (&i > first && &i < last)
        return;
      ++(&i < first ? before : behind);
    }
  writeHooks = asmWriteHooksOf(call, before, behind);
}

/// `data`: operand with the second source; of a compare-exchange the value to store and the one to compare with.
void AsmDecoder::readModifyWrite(Space space, StringRef name, StringRef to, Register address, uint64_t offset,
                                 StringRef data, StringRef compare) {
  const auto atomic = atomicOf(name);
  if (!atomic)
    return fail("an instruction that is not on the list");
  const bool wide = atomic->width == Width::B64;
  const auto read = [&](StringRef text) { return wide ? read64(text) : read32(text); };
  Register source = kNoRegister, expected = kNoRegister;
  if (atomic->compares && compare.empty()) {
    // One operand with both: the value to store first.
    const uint32_t half = wide ? 2 : 1;
    const Register run = readRun(data, 2 * half);
    const auto part = [&](uint32_t k) {
      const Register r = run + k * half * d.stride(Width::B32);
      return wide ? join(r, r + d.stride(Width::B32)) : r;
    };
    source = part(0), expected = part(1);
  } else {
    source = read(data);
    if (atomic->compares)
      expected = read(compare);
  }
  if (failed())
    return;
  const FloatKind kind = wide ? FloatKind::Double : FloatKind::Single;
  const Register old = to.empty() && !atomic->compares ? kNoRegister : d.newRegister(atomic->width);
  Register *success = atomic->compares ? d.extra<Register>(d.newRegister(Width::B8)) : nullptr;
  d.noteWrite(space, address, offset, bytesOf(atomic->width));
  Op &op = d.emit(atomic->compares  ? atomicCompareExchange(space, atomic->width)
                  : atomic->isFloat ? atomicRmwFloat(space, atomic->op, kind, 1)
                                    : atomicRmw(space, atomic->op, atomic->width));
  op.a = address, op.imm = offset, op.d = old;
  op.b = atomic->compares ? expected : source;
  op.c = atomic->compares ? source : kNoRegister;
  op.extra = success;
  if (!to.empty())
    wide ? write64(to, old) : write32(to, old);
}

bool AsmDecoder::decodeLds() {
  StringRef name = now->mnemonic;
  if (!name.consume_front("ds_"))
    return false;
  const bool reads = name.consume_front("read") || name.consume_front("load");
  const bool writes = !reads && (name.consume_front("write") || name.consume_front("store"));
  if ((reads || writes) && !name.starts_with("xchg")) {
    uint32_t stride = 0; // of two addresses: units of the offsets, in elements
    if (name.consume_front("2st64_") || name.consume_front("_2addr_stride64_"))
      stride = 64;
    else if (name.consume_front("2_") || name.consume_front("_2addr_"))
      stride = 1;
    else if (!name.consume_front("_"))
      return false;
    const auto extent = reads ? loadExtent(name) : storeExtent(name);
    if (!extent)
      return false;
    for (const StringRef m : now->modifiers)
      if (!m.starts_with("offset"))
        return fail(Twine("the modifier ") + m), true;
    const size_t expectedOperands = reads ? 2 : stride ? 3 : 2;
    const auto offset = modifier("offset", 0), first = modifier("offset0", 0), second = modifier("offset1", 0);
    if (now->operands.size() != expectedOperands || !offset || !first || !second)
      return fail("this form of the instruction"), true;
    const Register address = read32(operand(reads ? 1 : 0));
    if (!stride) {
      reads ? load(Space::Lds, operand(0), address, uint64_t(*offset), extent->bytes, extent->isSigned)
            : store(Space::Lds, address, extent->bytes, {{operand(1), uint64_t(*offset)}});
      return true;
    }
    const uint64_t at[2] = {uint64_t(*first) * stride * extent->bytes, uint64_t(*second) * stride * extent->bytes};
    if (!reads)
      return store(Space::Lds, address, extent->bytes, {{operand(1), at[0]}, {operand(2), at[1]}}), true;
    // The halves of one result.
    const uint32_t dwords = dwordsOf(extent->bytes);
    const Register run = d.newRegister(Width::B32, 2 * dwords);
    for (uint32_t k = 0; k < 2 && !failed(); ++k) {
      Op &op = d.emit(d.handler.load(Space::Lds, Width::B32));
      op.a = address, op.imm = at[k], op.n = dwords, op.d = run + k * dwords * d.stride(Width::B32);
    }
    writeRun(operand(0), run, 2 * dwords);
    return true;
  }
  name = now->mnemonic;
  name.consume_front("ds_");
  std::string plainName = name.str();
  const size_t rtn = plainName.find("_rtn");
  const bool returns = rtn != std::string::npos;
  if (returns)
    plainName.erase(rtn, 4);
  const auto atomic = atomicOf(plainName);
  if (!atomic)
    return false;
  for (const StringRef m : now->modifiers)
    if (!m.starts_with("offset:"))
      return fail(Twine("the modifier ") + m), true;
  const auto offset = modifier("offset", 0);
  const size_t at = returns ? 1 : 0;
  if (!offset || now->operands.size() != at + 2 + atomic->compares)
    return fail("this form of the instruction"), true;
  // ds_cmpst has the value to compare with first, ds_cmpstore the value to store.
  const bool compareFirst = StringRef(plainName).starts_with("cmpst_");
  const StringRef data = operand(at + 1 + (atomic->compares && compareFirst)),
                  compare = atomic->compares ? operand(at + 1 + !compareFirst) : StringRef();
  readModifyWrite(Space::Lds, plainName, returns ? operand(0) : StringRef(), read32(operand(at)), uint64_t(*offset),
                  data, compare);
  return true;
}

bool AsmDecoder::decodeGlobal() {
  StringRef name = now->mnemonic;
  const bool flat = name.consume_front("flat_");
  if (!flat && !name.consume_front("global_"))
    return false;
  bool toLds = name.consume_front("load_lds_");
  const bool reads = toLds || name.consume_front("load_");
  const bool writes = !reads && name.consume_front("store_");
  const bool atomic = !reads && !writes && name.consume_front("atomic_");
  if (!reads && !writes && !atomic)
    return false;
  bool returns = reads;
  for (const StringRef m : now->modifiers) {
    toLds |= m == "lds";
    returns |= atomic && (m == "glc" || m == "sc0" || m.contains("TH_ATOMIC_RETURN"));
    if (m != "lds" && !m.starts_with("offset:") && !changesNothing(m))
      return fail(Twine("the modifier ") + m), true;
  }
  returns &= !toLds;
  // [result,] address, [data,] base: a scalar one, or "off" where the address is the whole.
  std::vector<std::string> list = now->operands;
  StringRef base = "off";
  if (!flat) {
    if (list.empty())
      return fail("this form of the instruction"), true;
    base = now->operands.back();
    list.pop_back();
  }
  // sc0 returns on targets that have no other sign of it; elsewhere the number of operands tells.
  if (atomic)
    returns = list.size() == 3;
  const size_t expectedOperands = size_t(returns) + 1 + (writes || atomic);
  const auto offset = modifier("offset", 0);
  if (!offset || list.size() != expectedOperands)
    return fail("this form of the instruction"), true;
  const StringRef where = list[returns];
  Register address;
  if (base == "off") {
    address = read64(where);
  } else {
    const Register low = read32(where), scalar = read64(base);
    if (failed())
      return true;
    address =
        binary(IntBinary::Add, scalar,
               lanes(d.handler.zeroExtendOrTruncate(Width::B32, Width::B64), Width::B64, low, Width::B32), Width::B64);
  }
  if (failed())
    return true;
  const auto extent = reads ? loadExtent(name) : writes ? storeExtent(name) : std::nullopt;
  if (!atomic && !extent)
    return false;
  if (!toLds)
    d.emit(countVmem()).imm = 1;
  if (toLds)
    return decodeCopy(extent->bytes, address, uint64_t(*offset));
  if (reads)
    load(Space::Flat, list[0], address, uint64_t(*offset), extent->bytes, extent->isSigned);
  else if (writes)
    store(Space::Flat, address, extent->bytes, {{StringRef(list[1]), uint64_t(*offset)}});
  else
    readModifyWrite(Space::Flat, name, returns ? StringRef(list[0]) : StringRef(), address, uint64_t(*offset),
                    list[returns + 1], {});
  return true;
}

/// To LDS at m0, for which the source must wait by itself.
bool AsmDecoder::decodeCopy(uint32_t bytes, Register address, uint64_t offset) {
  const Register lds = d.newRegister(Width::B32);
  d.emit(getM0()).d = lds;
  Op &op = d.emit(issueCopy());
  op.a = address, op.b = lds, op.imm = offset;
  op.extra = d.extra<CopyShape>(CopyShape{bytes, std::max(bytes, 4u), true, true, false, false});
  return true;
}

} // namespace wavesan::cpu::engine
