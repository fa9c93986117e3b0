// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IsaContext.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

namespace wavesan::waitcheck {

using llvm::ArrayRef;
using llvm::StringRef;

void initializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeAMDGPUDisassembler();
  });
}

namespace {

const llvm::Triple triple("amdgcn-amd-amdhsa");

/// The opcode table depends on LLVM alone, so all contexts of the process share one immutable copy.
std::shared_ptr<const OpcodeTable> sharedOpcodes(const llvm::MCInstrInfo &info) {
  static std::once_flag once;
  static std::shared_ptr<const OpcodeTable> table;
  std::call_once(once, [&] { table = std::make_shared<const OpcodeTable>(classifyAll(info)); });
  return table;
}

/// "VGPR12_LO16" -> ("VGPR12", 1). Different generations name the same register differently ("TTMP3_vi", "M0_gfx11plus").
/// Empty name: not a register that anything can be pending on.
std::pair<std::string, uint8_t> normalize(StringRef name) {
  uint8_t mask = 3;
  if (name.consume_back("_LO16"))
    mask = 1;
  else if (name.consume_back("_HI16"))
    mask = 2;
  for (const char *suffix : {"_gfx11plus", "_gfxpre11", "_gfx9plus", "_vi", "_ci"})
    name.consume_back(suffix);
  if (name.starts_with("SGPR_NULL") || name.ends_with("cnt"))
    return {"", 0};
  if (name == "SRC_SCC")
    return {"SCC", 3};
  if (name == "SRC_VCCZ")
    return {"VCC_LO", 3};
  if (name == "SRC_EXECZ")
    return {"EXEC_LO", 3};
  for (const char *other : {"SRC_", "MODE", "PC_REG", "FP_REG", "SP_REG", "PRIVATE_RSRC_REG", "LDS_DIRECT", "TBA_", "TMA_"})
    if (name.starts_with(other))
      return {"", 0};
  return {name.str(), mask};
}

/// As the assembler writes it.
std::string assemblerName(StringRef slot) {
  if (slot.consume_front("VGPR"))
    return "v" + slot.str();
  if (slot.consume_front("AGPR"))
    return "a" + slot.str();
  if (slot.consume_front("SGPR"))
    return "s" + slot.str();
  return slot.lower();
}

} // namespace

/// The bytes that the disassembler may look at: the longest encoding has five dwords. Always of full length, zeros behind the end of the
/// section: LLVM's disassembler crashes while it words its complaint about a literal that is missing there.
struct IsaContext::Window {
  uint8_t padded[24] = {};
  ArrayRef<uint8_t> bytes;
  explicit Window(ArrayRef<uint8_t> from) : bytes(from.take_front(sizeof padded)) {
    if (bytes.size() == sizeof padded)
      return;
    std::copy(bytes.begin(), bytes.end(), padded);
    bytes = padded;
  }
};

IsaContext::IsaContext(const TargetEntry &t, bool w) : target(t), wave64(w) {}
IsaContext::~IsaContext() = default;

llvm::Expected<std::unique_ptr<IsaContext>> IsaContext::create(const TargetEntry &target, bool wave64) {
  initializeLlvm();
  std::unique_ptr<IsaContext> c(new IsaContext(target, wave64));
  if (llvm::Error e = c->initialize())
    return std::move(e);
  return std::move(c);
}

llvm::Error IsaContext::initialize() {
  std::string message;
  const llvm::Target *t = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!t)
    return llvm::createStringError("LLVM has no AMDGPU target: " + message);
  const llvm::MCTargetOptions options;
  registerInfo.reset(t->createMCRegInfo(triple));
  asmInfo.reset(t->createMCAsmInfo(*registerInfo, triple, options));
  instrInfo.reset(t->createMCInstrInfo());
  std::string features;
  if (!target.generation->wavesOf64Only)
    features = wave64 ? "+wavefrontsize64,-wavefrontsize32" : "+wavefrontsize32,-wavefrontsize64";
  subtarget.reset(t->createMCSubtargetInfo(triple, target.name, features));
  if (!subtarget || !subtarget->isCPUStringValid(target.name))
    return llvm::createStringError("this LLVM does not know the target %s", target.name);
  // Where LLVM has an opinion on what the table says, the two must agree.
  if (subtarget->checkFeatures("+vmem-write-vgpr-in-order") != target.generation->vmemWritesInOrder ||
      subtarget->checkFeatures("+wait-xcnt") != target.generation->sourceTranslation ||
      subtarget->checkFeatures("+auto-waitcnt-before-barrier"))
    return llvm::createStringError("the wait checker's table for %s and LLVM's description of it disagree", target.name);
  context = std::make_unique<llvm::MCContext>(triple, asmInfo.get(), registerInfo.get(), subtarget.get());
  disassembler.reset(t->createMCDisassembler(*subtarget, *context));
  analysis.reset(t->createMCInstrAnalysis(instrInfo.get()));
  printer.reset(t->createMCInstPrinter(triple, 0, *asmInfo, *instrInfo, *registerInfo));
  if (!disassembler || !analysis || !printer)
    return llvm::createStringError("LLVM has no disassembler for %s", target.name);
  opcodes = sharedOpcodes(*instrInfo);
  if (!opcodes->unclassified.empty()) {
    std::string names;
    for (const std::string &n : opcodes->unclassified)
      names += " " + n;
    return llvm::createStringError("LLVM knows memory opcodes that the wait checker does not:" + names);
  }
  nameRegisters();
  scc = slotOf("scc");
  vccHigh = slotOf("vcc_hi");
  execLow = slotOf("exec_lo");
  execHigh = slotOf("exec_hi");
  if (slotNames.size() >= 0xff00)
    return llvm::createStringError("LLVM knows more registers than the wait checker has numbers for");
  const uint16_t v0 = slotOf("v0");
  for (unsigned i = 0; i < (target.generation->wideRegisters ? 1024u : 256u); i += 255) // s_set_vgpr_msb adds to their numbers
    if (slotOf("v" + std::to_string(i)) != v0 + i)
      return llvm::createStringError("LLVM numbers vector registers in an unexpected order");
  const uint16_t s0 = slotOf("s0");
  for (unsigned i = 0; i < 102; ++i) // pairs are found as neighbours
    if (slotOf("s" + std::to_string(i)) != s0 + i)
      return llvm::createStringError("LLVM numbers scalar registers in an unexpected order");
  firstScalar = s0;
  for (lastScalar = s0 + 101; slotOf("s" + std::to_string(lastScalar + 1 - s0)) == lastScalar + 1;)
    ++lastScalar;
  return llvm::Error::success();
}

void IsaContext::nameRegisters() {
  llvm::StringMap<uint16_t> slots;
  registersOf.resize(registerInfo->getNumRegs());
  for (unsigned r = 1; r < registerInfo->getNumRegs(); ++r)
    for (llvm::MCRegUnit unit : registerInfo->regunits(r))
      for (llvm::MCRegUnitRootIterator root(unit, registerInfo.get()); root.isValid(); ++root) {
        auto [name, mask] = normalize(registerInfo->getName(*root));
        if (name.empty())
          continue;
        auto [it, isNew] = slots.try_emplace(name, static_cast<uint16_t>(slotNames.size()));
        if (isNew) {
          slotNames.push_back(assemblerName(name));
          slotIsVector.push_back(StringRef(name).starts_with("VGPR") || StringRef(name).starts_with("AGPR"));
        }
        std::vector<RegRef> &refs = registersOf[r];
        auto same = std::find_if(refs.begin(), refs.end(), [&](const RegRef &x) { return x.slot == it->second; });
        if (same != refs.end())
          same->mask |= mask;
        else
          refs.push_back({it->second, mask});
      }
}

uint16_t IsaContext::slotOf(StringRef name) const {
  for (size_t i = 0; i < slotNames.size(); ++i)
    if (slotNames[i] == name)
      return static_cast<uint16_t>(i);
  return noSlot;
}

StringRef IsaContext::opcodeStem(unsigned opcode) const { return stemOf(instrInfo->getName(opcode)); }

size_t IsaContext::memoryBytes() const {
  return instructions.capacity() * sizeof(Decoded) + pool.capacity() * sizeof(RegRef) + byDword.getMemorySize() + byQword.getMemorySize() +
         byBytes.size() * 48 + forms.memoryBytes() + partialForms.memoryBytes();
}

// ---- cache ----------------------------------------------------------------------------------------------------------------------------

int IsaContext::cached(ArrayRef<uint8_t> bytes) {
  constexpr int longer = -2;
  if (bytes.size() < 4)
    return -1;
  uint32_t dword;
  memcpy(&dword, bytes.data(), 4);
  auto [first, isNew] = byDword.try_emplace(dword, -1);
  if (!isNew && first->second >= 0)
    return first->second;
  if (!isNew && first->second == longer && bytes.size() >= 8) {
    uint64_t qword;
    memcpy(&qword, bytes.data(), 8);
    if (qword < ~uint64_t(1)) { // the two largest keys are the map's own
      if (auto it = byQword.find(qword); it != byQword.end()) {
        if (it->second >= 0)
          return it->second;
        for (size_t length = 12; length <= bytes.size() && length <= 24; length += 4)
          if (auto b = byBytes.find(StringRef(reinterpret_cast<const char *>(bytes.data()), length)); b != byBytes.end())
            return b->second;
      }
    }
  }
  const int index = decodeNew(bytes);
  if (index < 0) {
    if (isNew)
      byDword.erase(dword);
    return -1;
  }
  const unsigned size = instructions[index].size;
  byDword[dword] = size == 4 ? index : longer;
  if (size > 4 && bytes.size() >= 8) {
    uint64_t qword;
    memcpy(&qword, bytes.data(), 8);
    if (qword < ~uint64_t(1))
      byQword[qword] = size == 8 ? index : longer;
    if (size > 8)
      byBytes[StringRef(reinterpret_cast<const char *>(bytes.data()), size)] = index;
  }
  return index;
}

int IsaContext::decodeNew(ArrayRef<uint8_t> bytes) {
  Decoded d;
  std::vector<RegRef> registers;
  return decodeRaw(bytes, d, registers) ? commit(d, registers) : -1;
}

int IsaContext::commit(const Decoded &d, ArrayRef<RegRef> registers) {
  instructions.push_back(d);
  instructions.back().firstReg = static_cast<uint32_t>(pool.size());
  pool.insert(pool.end(), registers.begin(), registers.end());
  return static_cast<int>(instructions.size() - 1);
}

/// v_madmk_f16 and v_madak_f16 (gfx9), v_fmamk_f16 and v_fmaak_f16 (later) with the constant 0xff: LLVM's disassembler takes the constant for the mark of a literal, and crashes.
/// Nothing but the text depends on the constant, so it looks at another one.
bool IsaContext::constantReplaced(Window &window) const {
  const uint32_t opcode = target.generation->encoding == WaitEncoding::Gfx9 ? 0x24 : 0x37; // and the one behind it
  const uint32_t first = llvm::support::endian::read32le(window.bytes.data()), second = llvm::support::endian::read32le(window.bytes.data() + 4);
  if ((first >> 25 != opcode && first >> 25 != opcode + 1) || second != 0xff)
    return false;
  std::copy(window.bytes.begin(), window.bytes.end(), window.padded);
  window.padded[4] = 0xfe;
  window.bytes = window.padded;
  return true;
}

/// gfx9 has no literals in 64-bit encodings. LLVM's disassembler crashes on such bytes, so they are turned away before.
bool IsaContext::literalWithoutRoom(ArrayRef<uint8_t> bytes) const {
  if (target.generation->encoding != WaitEncoding::Gfx9)
    return false;
  uint32_t first, second;
  memcpy(&first, bytes.data(), 4);
  memcpy(&second, bytes.data() + 4, 4);
  if (first >> 26 == 0x38 || first >> 26 == 0x3a) // MUBUF, MTBUF: scalar offset
    return second >> 24 == 255;
  if (first >> 26 != 0x34) // VOP3, VOP3P
    return false;
  // Comparisons and v_readlane have a scalar result, whose number 255 LLVM takes for a literal too.
  const uint32_t op = first >> 16 & 1023;
  if ((first & 255) == 255 && (op < 0x100 || op == 0x289))
    return true;
  return (second & 511) == 255 || (second >> 9 & 511) == 255 || (second >> 18 & 511) == 255;
}

/// SDWA (gfx9, gfx10) with a selection or a filling that does not exist: LLVM decodes it, and crashes when it words it.
bool IsaContext::selectsNothing(ArrayRef<uint8_t> bytes) const {
  const uint32_t first = llvm::support::endian::read32le(bytes.data()), second = llvm::support::endian::read32le(bytes.data() + 4);
  if (target.generation->encoding > WaitEncoding::Gfx10 || first >> 31 != 0 || (first & 511) != 0xf9) // VOP1, VOP2, VOPC
    return false;
  const auto selection = [&](unsigned at) { return second >> at & 7; };
  const bool compares = first >> 25 == 0x3e;
  return selection(16) == 7 || selection(24) == 7 || (!compares && (selection(8) == 7 || (second >> 11 & 3) == 3));
}

bool IsaContext::crashesDisassembler(ArrayRef<uint8_t> bytes) const {
  return literalWithoutRoom(bytes) || selectsNothing(bytes);
}

bool IsaContext::decodeRaw(ArrayRef<uint8_t> bytes, Decoded &d, std::vector<RegRef> &registers) const {
  llvm::MCInst inst;
  uint64_t size = 0;
  Window window(bytes);
  constantReplaced(window);
  if (crashesDisassembler(window.bytes))
    return false;
  if (disassembler->getInstruction(inst, size, window.bytes, 0, llvm::nulls()) != llvm::MCDisassembler::Success || size == 0 ||
      size > bytes.size())
    return false;
  d.size = static_cast<uint8_t>(size);
  extract(inst, window.bytes, d, registers);
  return true;
}

bool IsaContext::disassemble(ArrayRef<uint8_t> bytes, llvm::MCInst &inst) const {
  uint64_t size = 0;
  Window window(bytes);
  constantReplaced(window);
  return !crashesDisassembler(window.bytes) &&
         disassembler->getInstruction(inst, size, window.bytes, 0, llvm::nulls()) == llvm::MCDisassembler::Success && size != 0 &&
         size <= bytes.size();
}

std::string IsaContext::disassemble(ArrayRef<uint8_t> bytes, uint64_t address) const {
  llvm::MCInst inst;
  uint64_t size = 0;
  Window window(bytes);
  const bool replaced = constantReplaced(window);
  if (crashesDisassembler(window.bytes))
    return "<not an instruction>";
  if (disassembler->getInstruction(inst, size, window.bytes, address, llvm::nulls()) != llvm::MCDisassembler::Success ||
      size > bytes.size())
    return "<not an instruction>";
  std::string text;
  llvm::raw_string_ostream os(text);
  printer->printInst(&inst, address, "", *subtarget, os);
  std::string clean;
  for (char c : StringRef(text).trim())
    clean += c == '\t' ? ' ' : c;
  if (const size_t at = replaced ? clean.rfind("0xfe") : std::string::npos; at != std::string::npos)
    clean[at + 3] = 'f';
  return clean;
}

// ---- facts ----------------------------------------------------------------------------------------------------------------------------

void IsaContext::extract(const llvm::MCInst &inst, ArrayRef<uint8_t> bytes, Decoded &d, std::vector<RegRef> &registers) const {
  d.opcode = inst.getOpcode();
  d.facts = opcodes->facts[d.opcode];
  d.wait.fill(-1);
  for (unsigned i = 0; i < inst.getNumOperands(); ++i)
    if (inst.getOperand(i).isImm()) {
      d.immediate = inst.getOperand(i).getImm();
      break;
    }
  if (d.facts.control == Control::Branch || d.facts.control == Control::CondBranch || d.facts.control == Control::Call) {
    uint64_t t = 0;
    if (analysis->evaluateBranch(inst, uint64_t(1) << 40, d.size, t)) {
      d.hasTarget = true;
      d.relativeTarget = static_cast<int64_t>(t - (uint64_t(1) << 40));
    }
  }
  planEffects(inst, d);
  // Elsewhere it is an offset or a modifier, of which nothing depends.
  const bool meant = d.facts.nop || d.facts.vgprMsb || d.facts.family == Family::BarrierScc || d.facts.family == Family::Export ||
                     d.facts.control == Control::Barrier || d.facts.control == Control::BarrierWait;
  if (!meant)
    d.immediate = 0;
  extractRegisters(inst, bytes, d, registers);
  if (d.facts.control == Control::Wait)
    extractWait(inst, d);
  if (d.facts.waitsExp) // the last operand
    if (const llvm::MCOperand &last = inst.getOperand(inst.getNumOperands() - 1); last.isImm() && last.getImm() < 7)
      d.wait[static_cast<unsigned>(Counter::Exp)] = static_cast<int8_t>(last.getImm());
  if (d.facts.scalar != ScalarForm::None)
    extractScalar(inst, d);
}

namespace {

/// Sub-dword operands of SDWA encodings: which halves of their registers they touch. From the second dword.
struct SdwaHalves {
  uint8_t result = 3;
  bool keepsRest = false; ///< the result leaves the other bytes as they are
  uint8_t nextSource() { return next < 2 ? sources[next++] : uint8_t(3); }

  /// `hasResult`: a vector register (comparisons have other fields there). `halves`: halves are written on their own.
  static SdwaHalves of(ArrayRef<uint8_t> bytes, bool hasResult, bool halves) {
    const uint32_t word = llvm::support::endian::read32le(bytes.data() + 4);
    // Bytes 0 to 3, words 0 and 1, the whole.
    auto touched = [](uint32_t select) -> uint8_t { return select < 4 ? (select < 2 ? 1 : 2) : select == 4 ? 1 : select == 5 ? 2 : 3; };
    SdwaHalves s;
    constexpr uint32_t preserve = 2;
    if (hasResult && halves && (word >> 11 & 3) == preserve) {
      s.keepsRest = true;
      s.result = touched(word >> 8 & 7);
    }
    s.sources[0] = touched(word >> 16 & 7);
    s.sources[1] = touched(word >> 24 & 7);
    // A constant as first source is no register operand.
    if ((word >> 23 & 1) && (word & 255) >= 128)
      s.next = 1;
    return s;
  }

private:
  uint8_t sources[2] = {3, 3};
  unsigned next = 0;
};

} // namespace

void IsaContext::extractRegisters(const llvm::MCInst &inst, ArrayRef<uint8_t> bytes, Decoded &d, std::vector<RegRef> &registers) const {
  const llvm::MCInstrDesc &desc = instrInfo->get(inst.getOpcode());
  std::vector<RegRef> uses, defs, data;
  // Two operands may name one register. They stay two: in another encoding of the form they differ.
  auto add = [](std::vector<RegRef> &to, RegRef r) { to.push_back(r); };
  const bool half = d.facts.resultHalf != Half::Whole && d.facts.result && !target.generation->d16WritesWhole;
  unsigned vectorUses = 0;
  SdwaHalves sdwa;
  if (d.facts.sdwa)
    sdwa = SdwaHalves::of(bytes, desc.getNumDefs() != 0 && !desc.isCompare(), !target.generation->d16WritesWhole);
  for (unsigned i = 0; i < inst.getNumOperands(); ++i) {
    const llvm::MCOperand &op = inst.getOperand(i);
    if (!op.isReg() || !op.getReg())
      continue;
    if (i < desc.getNumDefs()) {
      for (RegRef r : registersOf[op.getReg()]) {
        if (half && r.mask == 3)
          r.mask = static_cast<uint8_t>(d.facts.resultHalf);
        if (d.facts.sdwa && slotIsVector[r.slot])
          r.mask &= sdwa.result;
        add(defs, r);
      }
      continue;
    }
    llvm::MCRegister reg = op.getReg();
    // The disassembler may leave another register in an operand that must equal a result; the encoding knows only the result.
    const int tied = desc.getOperandConstraint(i, llvm::MCOI::TIED_TO);
    if (tied >= 0) {
      if (inst.getOperand(tied).isReg() && inst.getOperand(tied).getReg())
        reg = inst.getOperand(tied).getReg();
      // A 16-bit load keeps the other half of its register: that is a masked write at completion, not a read.
      if (half)
        continue;
      // Likewise a result that keeps what it does not write. (The sum of a multiply-add is read.)
      if (sdwa.keepsRest && !opcodeStem(inst.getOpcode()).contains("MAC_"))
        continue;
    }
    ArrayRef<RegRef> refs = registersOf[reg];
    const bool vector = !refs.empty() && slotIsVector[refs.front().slot];
    if (vector)
      ++vectorUses;
    if (d.facts.wideStoreCandidate && vector && refs.size() > 2)
      for (RegRef r : refs)
        add(data, r);
    // Data of a one-register 8/16-bit store: operand 0 of BUFFER, the second vector operand of DS and GLOBAL/FLAT.
    uint8_t keep = 3;
    if (d.facts.dataHalf != Half::Whole && vector && refs.size() == 1) {
      const StringRef name = instrInfo->getName(inst.getOpcode());
      const bool buffer = name.starts_with("BUFFER_");
      if ((buffer && i == 0) || (!buffer && !name.starts_with("SCRATCH_") && vectorUses == 2))
        keep = static_cast<uint8_t>(d.facts.dataHalf);
    }
    if (d.facts.sdwa && tied < 0)
      keep = sdwa.nextSource();
    for (RegRef r : refs)
      add(uses, {r.slot, static_cast<uint8_t>(r.mask & keep)});
  }
  // Implicit lane masks are listed in full; waves of 32 lanes use their low half only (and the compiler uses vcc_hi for other things).
  auto implicit = [&](std::vector<RegRef> &to, llvm::MCPhysReg r) {
    for (RegRef x : registersOf[r])
      if (wave64 || (x.slot != vccHigh && x.slot != execHigh))
        add(to, x);
  };
  for (llvm::MCPhysReg r : desc.implicit_uses())
    implicit(uses, r);
  for (llvm::MCPhysReg r : desc.implicit_defs())
    implicit(defs, r);
  // A wide store through a buffer whose offset is in a register reads its data a cycle earlier: no wait states needed.
  if (!data.empty() && instrInfo->getName(inst.getOpcode()).starts_with("BUFFER_"))
    for (unsigned i = 2; i < inst.getNumOperands(); ++i) {
      const llvm::MCOperand &op = inst.getOperand(i);
      if (op.isReg() && op.getReg() && registersOf[op.getReg()].size() == 1 && !slotIsVector[registersOf[op.getReg()][0].slot])
        data.clear();
    }
  d.numUses = static_cast<uint16_t>(uses.size());
  d.numDefs = static_cast<uint16_t>(defs.size());
  d.numData = static_cast<uint16_t>(data.size());
  registers = std::move(uses);
  registers.insert(registers.end(), defs.begin(), defs.end());
  registers.insert(registers.end(), data.begin(), data.end());
}

void IsaContext::extractWait(const llvm::MCInst &inst, Decoded &d) const {
  const Generation &g = *target.generation;
  auto set = [&](Counter c, unsigned n) {
    const unsigned limit = g.limit(c);
    if (limit == 0)
      return;
    // At or above the counter's largest value a wait waits for nothing. (Bits beyond the field: nothing is assumed.)
    if (limit == unboundedCounter ? n < 63 : n < limit)
      d.wait[static_cast<unsigned>(c)] = static_cast<int8_t>(n);
  };
  if (d.facts.wait == WaitForm::Idle) {
    for (unsigned c = 0; c < numCounters; ++c)
      set(static_cast<Counter>(c), 0);
    return;
  }
  int64_t raw = -1;
  for (unsigned i = 0; i < inst.getNumOperands(); ++i) {
    const llvm::MCOperand &op = inst.getOperand(i);
    // gfx10/gfx11 s_waitcnt_vscnt and friends add a scalar register; only the null register adds nothing.
    if (op.isReg() && op.getReg() && !StringRef(registerInfo->getName(op.getReg())).starts_with("SGPR_NULL"))
      d.waitUnknown = true;
    if (op.isImm())
      raw = op.getImm();
  }
  if (raw < 0 || d.waitUnknown) {
    d.waitUnknown = true;
    return;
  }
  const unsigned imm = static_cast<unsigned>(raw) & 0xffff;
  switch (d.facts.wait) {
  case WaitForm::Combined:
    switch (g.encoding) {
    case WaitEncoding::Gfx9:
      set(Counter::Load, (imm & 15) | (imm >> 14 & 3) << 4);
      set(Counter::Exp, imm >> 4 & 7);
      set(Counter::Ds, imm >> 8 & 15);
      return;
    case WaitEncoding::Gfx10:
      set(Counter::Load, (imm & 15) | (imm >> 14 & 3) << 4);
      set(Counter::Exp, imm >> 4 & 7);
      set(Counter::Ds, imm >> 8 & 63);
      return;
    case WaitEncoding::Gfx11:
      set(Counter::Exp, imm & 7);
      set(Counter::Ds, imm >> 4 & 63);
      set(Counter::Load, imm >> 10 & 63);
      return;
    case WaitEncoding::Gfx12:
      d.waitUnknown = true; // kept by the assembler only; its meaning there is not documented
      return;
    }
    return;
  case WaitForm::Load:
    return set(Counter::Load, imm);
  case WaitForm::Ds:
    return set(Counter::Ds, imm);
  case WaitForm::Exp:
    return set(Counter::Exp, imm);
  case WaitForm::Store:
    return set(Counter::Store, imm);
  case WaitForm::Sample:
    return set(Counter::Sample, imm);
  case WaitForm::Bvh:
    return set(Counter::Bvh, imm);
  case WaitForm::Km:
    return set(Counter::Km, imm);
  case WaitForm::Async:
    return set(Counter::Async, imm);
  case WaitForm::Tensor:
    return set(Counter::Tensor, imm);
  case WaitForm::X:
    return set(Counter::X, imm);
  case WaitForm::LoadDs:
    set(Counter::Load, imm >> 8 & 63);
    return set(Counter::Ds, imm & 63);
  case WaitForm::StoreDs:
    set(Counter::Store, imm >> 8 & 63);
    return set(Counter::Ds, imm & 63);
  case WaitForm::None:
  case WaitForm::Idle:
    return;
  }
}

void IsaContext::extractScalar(const llvm::MCInst &inst, Decoded &d) const {
  ScalarOperands &s = d.scalar;
  const llvm::MCInstrDesc &desc = instrInfo->get(inst.getOpcode());
  auto firstSlot = [&](const llvm::MCOperand &op) {
    ArrayRef<RegRef> refs = op.getReg() ? ArrayRef<RegRef>(registersOf[op.getReg()]) : ArrayRef<RegRef>();
    return refs.empty() ? noSlot : refs.front().slot;
  };
  unsigned next = 0;
  if (desc.getNumDefs() == 1) {
    if (!inst.getOperand(0).isReg())
      return;
    s.dest = firstSlot(inst.getOperand(0));
    next = 1;
  }
  unsigned count = 0;
  for (unsigned i = next; i < inst.getNumOperands() && count < 2; ++i, ++count) {
    const llvm::MCOperand &op = inst.getOperand(i);
    uint16_t slot = noSlot;
    int64_t imm = 0;
    if (op.isReg()) {
      slot = firstSlot(op);
      if (slot == noSlot)
        return;
    } else if (op.isImm())
      imm = opcodeStem(inst.getOpcode()) == "S_MOVK_I32" ? int64_t(static_cast<int16_t>(op.getImm())) : op.getImm();
    // A literal whose value would also fit in the instruction comes as an expression, to keep the encoding.
    else if (!op.isExpr() || !op.getExpr()->evaluateAsAbsolute(imm))
      return;
    (count == 0 ? s.a : s.b) = slot;
    (count == 0 ? s.immA : s.immB) = imm;
  }
  s.valid = true;
}

} // namespace wavesan::waitcheck
