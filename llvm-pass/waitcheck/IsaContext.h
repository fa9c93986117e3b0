// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One target's decoder: machine code in, facts out.
//
// Decoding through LLVM's disassembler is the slow part of a check, so its result is kept: per encoding (bytes), and, where many encodings
// differ in register numbers and offsets only, per form (EncodingForms.h). Everything that the analysis needs is extracted once: registers
// as slots, effects on counters, the numbers of a wait.
#ifndef WAVESAN_WAITCHECK_ISACONTEXT_H
#define WAVESAN_WAITCHECK_ISACONTEXT_H

#include "EncodingForms.h"
#include "Generations.h"
#include "OpcodeRules.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace llvm {
class MCAsmInfo;
class MCContext;
class MCDisassembler;
class MCInst;
class MCInstPrinter;
class MCInstrAnalysis;
class MCInstrInfo;
class MCRegisterInfo;
class MCSubtargetInfo;
} // namespace llvm

namespace wavesan::waitcheck {

/// A 32-bit register, or part of one: bit 0 of the mask is its low half, bit 1 its high half.
struct RegRef {
  uint16_t slot;
  uint8_t mask;
  uint8_t field = 0; ///< in a form: the number of the open field, from 1, that adds to the slot
  bool operator==(const RegRef &) const = default;
};

/// A field of an encoding that says which registers a form means.
struct OpenField {
  uint8_t shift, width;
  uint8_t scale;  ///< slots per step of the field
  bool evenOnly;  ///< odd values are not of this form
  uint16_t limit; ///< nor are larger ones
};

/// One counter event of an instruction.
struct Effect {
  OrderClass cls;
  bool ages;              ///< certain to advance its counter, so older items may rest on it
  bool registers;         ///< the instruction's results stay pending on it
  bool locksSources;      ///< the instruction's sources stay locked on it
  bool hasItem;           ///< leaves an item of this kind, with no register
  ItemKind item;
};

inline constexpr uint16_t noSlot = 0xffff;

/// Operands of the few scalar instructions whose values are followed.
struct ScalarOperands {
  uint16_t dest = noSlot;
  uint16_t a = noSlot, b = noSlot; ///< noSlot: the immediate
  int64_t immA = 0, immB = 0;
  bool valid = false;
  bool operator==(const ScalarOperands &) const = default;
};

/// One operand as it stands in the instruction.
struct PlainOperand {
  enum class Kind : uint8_t { Other, Register, Immediate } kind = Kind::Other;
  uint16_t slot = noSlot;  ///< of its first 32-bit register
  uint8_t registers = 0;   ///< how many
  int64_t imm = 0;
};

/// For the few places that need operands one by one.
struct PlainInstruction {
  llvm::StringRef stem;
  unsigned numDefs = 0; ///< the first so many operands are results
  llvm::SmallVector<PlainOperand, 8> operands;
};

struct Decoded {
  unsigned opcode = 0;
  OpcodeFacts facts;
  uint8_t size = 0;
  uint8_t numEffects = 0;
  std::array<Effect, 4> effects;
  std::array<int8_t, numCounters> wait; ///< -1: not waited for
  bool wide = false;                    ///< registers are not those of the bytes alone (s_set_vgpr_msb)
  bool unsupported = false;             ///< counts on a counter that the generation's table does not have
  bool waitUnknown = false;             ///< a wait whose number is in a register: proves nothing
  bool hasTarget = false;
  int64_t relativeTarget = 0;           ///< branch target relative to the start of the instruction
  int64_t immediate = 0;                ///< s_nop count, barrier number, s_set_vgpr_msb mode, export target; else 0
  uint32_t firstReg = 0;                ///< into the context's registers: uses, defs, data registers of a wide store
  uint16_t numUses = 0, numDefs = 0, numData = 0;
  uint8_t numFields = 0; ///< not 0: a form, whose registers depend on the bytes
  std::array<OpenField, 6> fields;
  ScalarOperands scalar;
};

/// The registers of one instruction; a register may appear more than once. Valid as long as the context gets no new encodings.
class Operands {
public:
  llvm::ArrayRef<RegRef> uses() const { return {first, numUses}; }
  llvm::ArrayRef<RegRef> defs() const { return {first + numUses, numDefs}; }
  llvm::ArrayRef<RegRef> storeData() const { return {first + numUses + numDefs, numData}; }
  llvm::ArrayRef<RegRef> all() const { return {first, size_t(numUses) + numDefs + numData}; }

private:
  friend class IsaContext;
  const RegRef *first = nullptr;
  uint16_t numUses = 0, numDefs = 0, numData = 0;
  llvm::SmallVector<RegRef, 96> own;
};

class IsaContext {
public:
  /// Creates the decoder for one target. Errors: LLVM was built without the target, the target is unknown to the checker, the tables and
  /// LLVM disagree, or LLVM knows a memory opcode that the rules do not (named in the error).
  static llvm::Expected<std::unique_ptr<IsaContext>> create(const TargetEntry &target, bool wave64);
  ~IsaContext();

  /// Decodes the instruction at the start of `bytes`. Returns an index for decoded(), or -1 if it is none.
  int decode(llvm::ArrayRef<uint8_t> bytes);
  /// The same without looking at caches and forms (for tests of them). `registers`: uses, defs, store data.
  bool decodeRaw(llvm::ArrayRef<uint8_t> bytes, Decoded &out, std::vector<RegRef> &registers) const;

  /// The instruction at the start of `bytes`, decoded to `plain`, behind s_set_vgpr_msb `mode` (gfx1250): an index for decoded(), `plain`
  /// itself if it has no vector registers, -1 if it is not known which of its registers the mode changes.
  int decodeWide(llvm::ArrayRef<uint8_t> bytes, uint8_t mode, int plain);
  bool hasVectorRegisters(const Decoded &d, const uint8_t *bytes) const;
  /// Its operands, one by one. False if there is no instruction.
  bool plain(llvm::ArrayRef<uint8_t> bytes, PlainInstruction &out) const;

  const Decoded &decoded(unsigned index) const { return instructions[index]; }
  /// The registers of the instruction at `bytes`, which decoded to d.
  void operands(const Decoded &d, const uint8_t *bytes, Operands &to) const {
    to.first = pool.data() + d.firstReg;
    to.numUses = d.numUses;
    to.numDefs = d.numDefs;
    to.numData = d.numData;
    if (d.numFields != 0)
      fillForm(d, bytes, to);
  }

  /// Assembler text of the instruction at the start of `bytes`, which lies at `address`.
  std::string disassemble(llvm::ArrayRef<uint8_t> bytes, uint64_t address) const;

  const Generation &generation() const { return *target.generation; }
  const TargetEntry &entry() const { return target; }
  bool isWave64() const { return wave64; }
  /// "v5", "a3", "s[4]"-style single names: "s4", "vcc_lo", "m0", "ttmp3".
  const std::string &slotName(unsigned slot) const { return slotNames[slot]; }
  bool isVector(unsigned slot) const { return slotIsVector[slot]; }
  /// s0 to the last of the general scalar registers.
  bool isPlainScalar(unsigned slot) const { return slot >= firstScalar && slot <= lastScalar; }
  bool isExec(unsigned slot) const { return slot == execLow || slot == execHigh; }
  uint16_t slotOf(llvm::StringRef name) const; ///< noSlot if there is none
  /// Adds an instruction that no bytes stand for (tests: weakened waits). Returns its index.
  unsigned addVariant(const Decoded &d) {
    instructions.push_back(d);
    return static_cast<unsigned>(instructions.size() - 1);
  }
  size_t numEncodings() const { return instructions.size(); }
  llvm::StringRef opcodeStem(unsigned opcode) const;
  uint16_t sccSlot() const { return scc; }
  size_t memoryBytes() const;

private:
  IsaContext(const TargetEntry &target, bool wave64);
  llvm::Error initialize();
  void nameRegisters();
  int cached(llvm::ArrayRef<uint8_t> bytes);
  int decodeNew(llvm::ArrayRef<uint8_t> bytes);
  int commit(const Decoded &d, llvm::ArrayRef<RegRef> registers);
  struct Window;
  bool disassemble(llvm::ArrayRef<uint8_t> bytes, llvm::MCInst &inst) const;
  bool literalWithoutRoom(llvm::ArrayRef<uint8_t> bytes) const;
  bool selectsNothing(llvm::ArrayRef<uint8_t> bytes) const;
  /// `bytes`: a whole Window.
  bool crashesDisassembler(llvm::ArrayRef<uint8_t> bytes) const;
  bool constantReplaced(Window &window) const;
  void extract(const llvm::MCInst &inst, llvm::ArrayRef<uint8_t> bytes, Decoded &d, std::vector<RegRef> &registers) const;
  void extractRegisters(const llvm::MCInst &inst, llvm::ArrayRef<uint8_t> bytes, Decoded &d, std::vector<RegRef> &registers) const;
  void extractWait(const llvm::MCInst &inst, Decoded &d) const;
  void extractScalar(const llvm::MCInst &inst, Decoded &d) const;
  void planEffects(const llvm::MCInst &inst, Decoded &d) const;

  // FormLearning.cpp
  struct Probe {
    Decoded d;
    std::vector<RegRef> registers;
  };
  struct Movement;
  bool probe(const EncodingWord &word, Probe &p) const;
  bool tryIgnored(const EncodingWord &word, const EncodingField &field, const Probe &base) const;
  bool tryRegister(const EncodingWord &word, const EncodingField &field, const Probe &base, Movement &m) const;
  int makeForm(const EncodingWord &word, const EncodingLayout &layout, unsigned &chosen);
  void learn(FormTable::Entry &entry, const EncodingLayout &layout, const EncodingWord &word, unsigned chosen);
  void fillForm(const Decoded &d, const uint8_t *bytes, Operands &to) const;
  static bool fits(const Decoded &form, const EncodingWord &word) {
    bool ok = true;
    for (unsigned i = 0; i < form.numFields; ++i) {
      const OpenField &f = form.fields[i];
      const uint32_t value = word.field(f.shift, f.width);
      ok &= value <= f.limit && !(f.evenOnly && (value & 1));
    }
    return ok;
  }

  const TargetEntry &target;
  const bool wave64;
  std::unique_ptr<llvm::MCRegisterInfo> registerInfo;
  std::unique_ptr<llvm::MCAsmInfo> asmInfo;
  std::unique_ptr<llvm::MCInstrInfo> instrInfo;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  std::shared_ptr<const OpcodeTable> opcodes;

  std::vector<std::vector<RegRef>> registersOf; ///< by LLVM register number
  std::vector<std::string> slotNames;
  std::vector<bool> slotIsVector;
  uint16_t scc = noSlot, vccHigh = noSlot, execLow = noSlot, execHigh = noSlot, firstScalar = noSlot, lastScalar = 0;
  std::vector<Decoded> instructions;
  std::vector<RegRef> pool;
  llvm::DenseMap<uint64_t, int> byDword, byQword; ///< -2: longer
  llvm::StringMap<int> byBytes;
  llvm::StringMap<int> byMode; ///< bytes and the mode of s_set_vgpr_msb
  FormTable forms, partialForms;
};

/// Registers LLVM's AMDGPU target once; thread-safe.
void initializeLlvm();

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_ISACONTEXT_H
