// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoder of one inline assembly. docs/inline-asm.md lists what it knows; everything else is refused by name.
//
// The operands get registers of the target by their constraints, the text is assembled with them, and each instruction
// becomes operations. The text is straight code under one exec mask, so every write of a register of the target gives
// it a fresh register of the engine: reads see the newest, and no operation overwrites what another one still reads. A
// scalar register holds its value in every active lane.
#ifndef WAVESAN_CPU_ENGINE_DECODE_ASM_H
#define WAVESAN_CPU_ENGINE_DECODE_ASM_H

#include "asm_text.h"
#include "decoder.h"
#include "write_hooks.h"

#include "llvm/IR/InlineAsm.h"

#include <map>
#include <set>

namespace wavesan::cpu::engine {

class AsmDecoder {
public:
  AsmDecoder(Decoder &decoder, llvm::CallBase &call);
  void run();

private:
  using Registers = llvm::ArrayRef<Register>;
  /// A register of the target: bank and number. Banks besides 'v', 's' and 'a': 'c' vcc (0: low, 1: high).
  using Key = std::pair<char, uint32_t>;
  /// An operand of the assembly as the text names it.
  struct Operand {
    std::string text;
    std::vector<Key> keys; ///< of registers, the first dword first
  };

  // Operands of the assembly (decode_asm.cpp).
  bool bindOperands();
  bool bindRegisters(Operand &operand, llvm::StringRef code, llvm::Type *type);
  void setInput(const Operand &operand, const llvm::Value *value, bool scalar);
  bool expand(std::string &text);
  void defineResults();
  void noteMentioned(llvm::StringRef text);
  void decode();

  // Instructions; false: not of this kind.
  bool decodeSync(); // decode_asm_sync.cpp
  bool decodeBarrier();
  bool decodeVector(); // decode_asm_alu.cpp
  bool decodeScalar();
  bool decodeCompare();
  bool decodeCrossLane();
  bool decodeLds(); // decode_asm_memory.cpp
  bool decodeGlobal();
  bool decodeCopy(uint32_t bytes, Register address, uint64_t offset);
  void load(Space space, llvm::StringRef to, Register address, uint64_t offset, uint32_t bytes, bool isSigned);
  void store(Space space, Register address, uint32_t bytes, llvm::ArrayRef<std::pair<llvm::StringRef, uint64_t>> parts);
  void findWriteHooks(llvm::ArrayRef<AsmInstruction> instructions);
  void readModifyWrite(Space space, llvm::StringRef name, llvm::StringRef to, Register address, uint64_t offset,
                       llvm::StringRef data, llvm::StringRef compare);

  // Registers of the target.
  std::vector<Key> keysOf(llvm::StringRef operand);
  Register read32(llvm::StringRef operand);
  Register read64(llvm::StringRef operand);
  Register readFlag(llvm::StringRef operand); ///< a lane mask, as a flag of each lane
  /// The dwords of a run of registers, contiguous.
  Register readRun(llvm::StringRef operand, uint32_t dwords);
  void write32(llvm::StringRef operand, Register value);
  void write64(llvm::StringRef operand, Register value);
  void writeFlag(llvm::StringRef operand, Register flag);
  void writeRun(llvm::StringRef operand, Register first, uint32_t dwords);
  Register number(llvm::StringRef operand, Width w);

  // Emission.
  Register lanes(Handler h, Width result, Register a, Width aw, Register b = kNoRegister, Width bw = Width::B32,
                 Register c = kNoRegister, Width cw = Width::B32, uint32_t sub = 0, uint64_t imm = 0);
  Register binary(IntBinary op, Register a, Register b, Width w = Width::B32);
  Register shift(IntBinary op, Register value, Register amount, Width w = Width::B32);
  Register constant32(uint32_t v);
  Register join(Register low, Register high);

  void fail(const llvm::Twine &what);
  bool failed() const;
  std::string textShown() const;
  llvm::StringRef operand(size_t k);
  bool plain(size_t operands); ///< so many operands and no modifiers; else fails
  std::optional<int64_t> modifier(llvm::StringRef name, int64_t otherwise);

  Decoder &d;
  llvm::CallBase &call;
  const llvm::InlineAsm &assembly;
  std::string processor;
  std::vector<Operand> operands;
  std::vector<size_t> outputs; ///< indices into operands
  std::map<Key, Register> file;
  Register scc = kNoRegister;
  std::set<Key> taken; ///< named by the text or given away
  const AsmInstruction *now = nullptr;
  std::vector<WriteHook> writeHooks; ///< of its plain stores, in their order; empty: their lanes are not compared
  size_t stored = 0;                 ///< plain stores so far
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_DECODE_ASM_H
