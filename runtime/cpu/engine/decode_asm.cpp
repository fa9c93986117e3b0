// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline assembly: its operands and its registers.
#include "decode_asm.h"

#include "copies.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <cstring>

namespace wavesan::cpu::engine {

using namespace llvm;

void Decoder::decodeInlineAsm(CallBase &i) { AsmDecoder(*this, i).run(); }

AsmDecoder::AsmDecoder(Decoder &decoder, CallBase &call)
    : d(decoder), call(call), assembly(*cast<InlineAsm>(call.getCalledOperand())) {
  // Of the kernel: a function that several kernels call is executed for each.
  processor = d.context.kernel->getFnAttribute("target-cpu").getValueAsString().str();
  if (processor.empty())
    processor = d.context.processor;
}

std::string AsmDecoder::textShown() const {
  std::string shown;
  for (const char c : StringRef(assembly.getAsmString()).trim().substr(0, 80))
    shown += c == '\n' || c == '\t' ? ' ' : c;
  return "inline assembly \"" + shown + "\"";
}

void AsmDecoder::fail(const Twine &what) {
  d.fail(Twine(textShown()) + " (" + (now ? now->text + ": " : std::string()) + what + ")");
}
bool AsmDecoder::failed() const { return d.failed(); }

// Operands of the assembly.

void AsmDecoder::noteMentioned(StringRef text) {
  for (size_t at = 0; at < text.size(); ++at) {
    const bool begins =
        StringRef("vsa").contains(text[at]) && (at == 0 || !(isAlnum(text[at - 1]) || text[at - 1] == '_'));
    if (!begins)
      continue;
    const StringRef rest = text.substr(at);
    const size_t end =
        rest.size() > 1 && rest[1] == '[' ? rest.find(']') + 1 : 1 + rest.drop_front().find_if_not(isDigit);
    if (const auto r = asmRegister(rest.substr(0, end ? end : StringRef::npos)); r && r->first < 1024)
      for (uint32_t k = 0; k < std::min(r->count, 64u); ++k)
        taken.insert({r->bank, r->first + k});
  }
}

bool AsmDecoder::bindRegisters(Operand &operand, StringRef code, Type *type) {
  const ArrayRef<Leaf> leaves = d.leavesOf(type);
  uint32_t bits = 0;
  for (const Leaf &leaf : leaves)
    bits += leaf.bits;
  if (failed() || !bits || bits > 32 * 32)
    return fail("an operand of this type"), false;
  const uint32_t dwords = (bits + 31) / 32;
  if (code.consume_front("{") && code.consume_back("}")) {
    operand.text = code.str();
    operand.keys = keysOf(code);
    if (operand.keys.size() != dwords)
      return fail(Twine("the constraint {") + code + "}"), false;
    return true;
  }
  if (code != "v" && code != "s" && code != "a" && code != "VA" && code != "r")
    return fail(Twine("the constraint ") + code), false;
  const char bank = code == "s" ? 's' : code == "a" ? 'a' : 'v';
  // Tuples of scalar registers and, on some targets, of vector registers are aligned.
  const uint32_t step = bank == 's' ? (dwords > 2 ? 4 : dwords) : dwords > 1 ? 2 : 1;
  for (uint32_t first = bank == 's' ? 16 : 32; first + dwords <= (bank == 's' ? 100u : 256u); first += step) {
    bool free = true;
    for (uint32_t k = 0; k < dwords; ++k)
      free &= !taken.count({bank, first + k});
    if (!free)
      continue;
    for (uint32_t k = 0; k < dwords; ++k) {
      taken.insert({bank, first + k});
      operand.keys.push_back({bank, first + k});
    }
    operand.text = std::string(1, bank) +
                   (dwords == 1 ? std::to_string(first)
                                : "[" + std::to_string(first) + ":" + std::to_string(first + dwords - 1) + "]");
    return true;
  }
  return fail("too many operands"), false;
}

void AsmDecoder::setInput(const Operand &operand, const Value *value, bool scalar) {
  const Registers regs = d.use(value);
  const ArrayRef<Leaf> leaves = d.leavesOf(value->getType());
  if (failed() || regs.size() != leaves.size())
    return fail("an operand of this type");
  SmallVector<Register, 8> dwords(regs.begin(), regs.end());
  const bool words = all_of(leaves, [](const Leaf &leaf) { return leaf.bits == 32; });
  if (!words) {
    auto *repack = d.extra<std::pair<std::vector<RepackLeaf>, std::vector<RepackLeaf>>>();
    for (size_t k = 0; k < leaves.size(); ++k)
      repack->first.push_back({regs[k], leaves[k].width, leaves[k].bits});
    dwords.clear();
    for (size_t k = 0; k < operand.keys.size(); ++k) {
      dwords.push_back(d.newRegister(Width::B32));
      repack->second.push_back({dwords.back(), Width::B32, 32});
    }
    d.emit(bitRepack()).extra = d.extra<Repack>(
        Repack{repack->first.data(), repack->second.data(), uint32_t(leaves.size()), uint32_t(dwords.size())});
  }
  for (size_t k = 0; k < operand.keys.size() && k < dwords.size(); ++k) {
    Register r = dwords[k];
    if (scalar && !isa<Constant>(value))
      r = lanes(readFirstLane(Width::B32), Width::B32, r, Width::B32);
    file[operand.keys[k]] = r;
  }
}

bool AsmDecoder::bindOperands() {
  const InlineAsm::ConstraintInfoVector constraints = assembly.ParseConstraints();
  for (const auto &c : constraints)
    for (const std::string &code : c.Codes)
      if (code.size() > 2 && code[0] == '{')
        noteMentioned(StringRef(code).drop_front().drop_back());
  unsigned input = 0, output = 0;
  auto *results = dyn_cast<StructType>(call.getType());
  for (const auto &c : constraints) {
    if (c.Type == InlineAsm::isClobber)
      continue;
    if (c.isIndirect || c.isMultipleAlternative || c.Codes.size() != 1)
      return fail("these constraints"), false;
    const StringRef code = c.Codes[0];
    Operand operand;
    if (c.Type == InlineAsm::isOutput) {
      Type *type = results ? results->getElementType(output) : call.getType();
      ++output;
      if (!bindRegisters(operand, code, type))
        return false;
      outputs.push_back(operands.size());
    } else {
      if (c.Type != InlineAsm::isInput || input >= call.arg_size())
        return fail("these constraints"), false;
      const Value *value = call.getArgOperand(input++);
      unsigned tied;
      if (!code.getAsInteger(10, tied)) {
        if (tied >= operands.size())
          return fail("these constraints"), false;
        operand = operands[tied];
        setInput(operand, value, operand.text[0] == 's');
      } else if (code == "i" || code == "n" || code == "I" || code == "J" || code == "A" || code == "B" ||
                 code == "C") {
        const auto *constant = dyn_cast<ConstantInt>(value);
        if (!constant || constant->getBitWidth() > 64)
          return fail("an immediate that is no integer"), false;
        operand.text = std::to_string(constant->getSExtValue());
      } else {
        if (!bindRegisters(operand, code, value->getType()))
          return false;
        setInput(operand, value, operand.text[0] == 's' || operand.text == "m0");
      }
    }
    if (failed())
      return false;
    operands.push_back(std::move(operand));
  }
  return true;
}

// "$0", "${0}", "$$".
bool AsmDecoder::expand(std::string &text) {
  const StringRef source = assembly.getAsmString();
  for (size_t at = 0; at < source.size(); ++at) {
    if (source[at] != '$') {
      text += source[at];
      continue;
    }
    StringRef rest = source.substr(at + 1);
    if (rest.starts_with("$")) {
      text += '$';
      ++at;
      continue;
    }
    const bool braces = rest.consume_front("{");
    const StringRef digits = rest.take_while(isDigit);
    unsigned n;
    if (digits.getAsInteger(10, n) || n >= operands.size() || (braces && !rest.substr(digits.size()).starts_with("}")))
      return fail("this reference to an operand"), false;
    text += operands[n].text;
    at += digits.size() + (braces ? 2 : 0);
  }
  return true;
}

void AsmDecoder::defineResults() {
  if (call.getType()->isVoidTy())
    return;
  SmallVector<Register, 8> dwords;
  for (const size_t k : outputs)
    for (const Key &key : operands[k].keys) {
      const auto it = file.find(key);
      if (it == file.end())
        return fail("an output that nothing sets");
      dwords.push_back(it->second);
    }
  const ArrayRef<Leaf> leaves = d.leavesOf(call.getType());
  const bool words = all_of(leaves, [](const Leaf &leaf) { return leaf.bits == 32; });
  if (words && leaves.size() == dwords.size())
    return d.alias(&call, dwords);
  const Registers regs = d.define(&call);
  if (failed() || regs.size() != leaves.size())
    return fail("a result of this type");
  // One output after the other: each has registers of its own, the last of which may be used in part.
  size_t leaf = 0, dword = 0;
  auto *results = dyn_cast<StructType>(call.getType());
  for (size_t k = 0; k < outputs.size(); ++k) {
    auto *repack = d.extra<std::pair<std::vector<RepackLeaf>, std::vector<RepackLeaf>>>();
    for (size_t j = 0; j < operands[outputs[k]].keys.size(); ++j)
      repack->first.push_back({dwords[dword++], Width::B32, 32});
    const size_t parts = d.leavesOf(results ? results->getElementType(unsigned(k)) : call.getType()).size();
    for (const size_t end = leaf + parts; leaf < end && leaf < leaves.size(); ++leaf)
      repack->second.push_back({regs[leaf], leaves[leaf].width, leaves[leaf].bits});
    d.emit(bitRepack()).extra = d.extra<Repack>(Repack{
        repack->first.data(), repack->second.data(), uint32_t(repack->first.size()), uint32_t(repack->second.size())});
  }
}

void AsmDecoder::run() {
  noteMentioned(assembly.getAsmString());
  std::string text, error;
  if (!bindOperands() || !expand(text))
    return;
  const auto instructions = parseAsm(text, processor, d.context.waveSize, error);
  if (!instructions)
    return fail(error);
  findWriteHooks(*instructions);
  for (const AsmInstruction &instruction : *instructions) {
    now = &instruction;
    decode();
    if (failed())
      return;
  }
  now = nullptr;
  // Empty assembly is how programs hide values from the optimiser, and how they keep memory accesses in order.
  if (instructions->empty() && assembly.hasSideEffects())
    d.emit(fenceOp(true));
  defineResults();
}

void AsmDecoder::decode() {
  if (decodeSync() || decodeLds() || decodeGlobal() || decodeCrossLane() || decodeCompare() || decodeVector() ||
      decodeScalar())
    return;
  if (!failed())
    fail("an instruction that is not on the list");
}

// Registers of the target.

StringRef AsmDecoder::operand(size_t k) {
  if (k < now->operands.size())
    return now->operands[k];
  fail("too few operands");
  return "0";
}

bool AsmDecoder::plain(size_t count) {
  if (now->operands.size() == count && now->modifiers.empty())
    return true;
  fail("this form of the instruction");
  return false;
}

std::optional<int64_t> AsmDecoder::modifier(StringRef name, int64_t otherwise) {
  for (StringRef word : now->modifiers)
    if (word.consume_front(name) && word.consume_front(":")) {
      int64_t n;
      return word.getAsInteger(0, n) ? std::nullopt : std::optional(n);
    }
  return otherwise;
}

std::vector<AsmDecoder::Key> AsmDecoder::keysOf(StringRef text) {
  if (text == "vcc")
    return {{'c', 0}, {'c', 1}};
  if (text == "vcc_lo")
    return {{'c', 0}};
  if (text == "vcc_hi")
    return {{'c', 1}};
  if (text == "m0")
    return {{'m', 0}};
  std::vector<Key> keys;
  if (const auto r = asmRegister(text))
    for (uint32_t k = 0; k < r->count; ++k)
      keys.push_back({r->bank, r->first + k});
  return keys;
}

Register AsmDecoder::number(StringRef text, Width w) {
  int64_t n;
  if (!text.getAsInteger(0, n))
    return d.constant(w, w == Width::B64 ? uint64_t(n) : uint32_t(n));
  double f;
  if (text.contains('.') && !text.getAsDouble(f)) {
    const float narrow = float(f);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    if (w == Width::B32)
      return constant32(bits);
  }
  fail(Twine("the operand ") + text);
  return kNoRegister;
}

Register AsmDecoder::read32(StringRef text) {
  const std::vector<Key> keys = keysOf(text);
  if (keys.empty()) {
    if (text == "exec_lo" || text == "exec_hi" || (text == "exec" && d.context.waveSize == 32)) {
      const Register r = d.newRegister(Width::B32);
      Op &op = d.emit(execMask(Width::B32));
      op.d = r, op.sub = text == "exec_hi" ? 32 : 0;
      return r;
    }
    return number(text, Width::B32);
  }
  if (keys.size() != 1)
    return fail(Twine("the operand ") + text), kNoRegister;
  if (const auto it = file.find(keys[0]); it != file.end())
    return it->second;
  if (keys[0].first == 'm') {
    const Register r = d.newRegister(Width::B32);
    d.emit(getM0()).d = r;
    return r;
  }
  return fail(Twine(text) + ", which nothing in the assembly sets"), kNoRegister;
}

Register AsmDecoder::join(Register low, Register high) {
  const Register pair = d.newRegister(Width::B32, 2), wide = d.newRegister(Width::B64);
  for (const auto &[k, r] : {std::pair(0u, low), std::pair(1u, high)}) {
    Op &op = d.emit(d.handler.move(Width::B32));
    op.d = pair + k * d.stride(Width::B32), op.a = r;
  }
  Op &op = d.emit(d.handler.join(Width::B32, Width::B64));
  op.d = wide, op.a = pair;
  return wide;
}

Register AsmDecoder::read64(StringRef text) {
  const std::vector<Key> keys = keysOf(text);
  if (keys.empty()) {
    if (text != "exec")
      return number(text, Width::B64);
    const Register r = d.newRegister(Width::B64);
    d.emit(execMask(Width::B64)).d = r;
    return r;
  }
  if (keys.size() != 2)
    return fail(Twine("the operand ") + text), kNoRegister;
  Register parts[2];
  for (int k = 0; k < 2; ++k) {
    const auto it = file.find(keys[size_t(k)]);
    if (it == file.end())
      return fail(Twine(text) + ", which nothing in the assembly sets"), kNoRegister;
    parts[k] = it->second;
  }
  return join(parts[0], parts[1]);
}

Register AsmDecoder::readRun(StringRef text, uint32_t dwords) {
  if (dwords == 1)
    return read32(text);
  const std::vector<Key> keys = keysOf(text);
  if (keys.size() != dwords)
    return fail(Twine("the operand ") + text), kNoRegister;
  const Register run = d.newRegister(Width::B32, dwords);
  for (uint32_t k = 0; k < dwords; ++k) {
    const auto it = file.find(keys[k]);
    if (it == file.end())
      return fail(Twine(text) + ", which nothing in the assembly sets"), kNoRegister;
    Op &op = d.emit(d.handler.move(Width::B32));
    op.d = run + k * d.stride(Width::B32), op.a = it->second;
  }
  return run;
}

void AsmDecoder::write32(StringRef text, Register value) {
  const std::vector<Key> keys = keysOf(text);
  if (text == "null")
    return;
  if (keys.size() != 1)
    return fail(Twine("the destination ") + text);
  if (keys[0].first == 'm') {
    d.emit(setM0()).a = value;
    return;
  }
  file[keys[0]] = value;
}

void AsmDecoder::writeRun(StringRef text, Register first, uint32_t dwords) {
  const std::vector<Key> keys = keysOf(text);
  if (keys.size() != dwords || keys[0].first == 'm')
    return fail(Twine("the destination ") + text);
  for (uint32_t k = 0; k < dwords; ++k)
    file[keys[k]] = first + k * d.stride(Width::B32);
}

void AsmDecoder::write64(StringRef text, Register value) {
  const Register pair = d.newRegister(Width::B32, 2);
  Op &op = d.emit(d.handler.split(Width::B64, Width::B32));
  op.d = pair, op.a = value;
  writeRun(text, pair, 2);
}

Register AsmDecoder::readFlag(StringRef text) {
  const bool wide = d.context.waveSize == 64;
  const Register mask = wide ? read64(text) : read32(text);
  return lanes(inverseBallot(wide ? Width::B64 : Width::B32), Width::B8, mask, wide ? Width::B64 : Width::B32);
}

void AsmDecoder::writeFlag(StringRef text, Register flag) {
  const Width w = d.context.waveSize == 64 ? Width::B64 : Width::B32;
  const Register mask = lanes(ballot(w), w, flag, Width::B8);
  w == Width::B64 ? write64(text, mask) : write32(text, mask);
}

// Emission.

Register AsmDecoder::lanes(Handler h, Width result, Register a, Width, Register b, Width, Register c, Width,
                           uint32_t sub, uint64_t imm) {
  const Register r = d.newRegister(result);
  if (failed())
    return r;
  Op &op = d.emit(h);
  op.d = r, op.a = a, op.b = b, op.c = c, op.sub = sub, op.imm = imm;
  return r;
}

Register AsmDecoder::binary(IntBinary op, Register a, Register b, Width w) {
  return lanes(d.handler.intBinary(op, w), w, a, w, b, w);
}

// The hardware takes the low bits of the amount.
Register AsmDecoder::shift(IntBinary op, Register value, Register amount, Width w) {
  const Register low = binary(IntBinary::And, amount, constant32(w == Width::B64 ? 63 : 31));
  if (w == Width::B32)
    return binary(op, value, low);
  return binary(op, value, lanes(d.handler.zeroExtendOrTruncate(Width::B32, w), w, low, Width::B32), w);
}

Register AsmDecoder::constant32(uint32_t v) { return d.constant(Width::B32, v); }

} // namespace wavesan::cpu::engine
