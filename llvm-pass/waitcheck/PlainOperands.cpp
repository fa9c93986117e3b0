// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IsaContext.h"

#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"

namespace wavesan::waitcheck {

bool IsaContext::plain(llvm::ArrayRef<uint8_t> bytes, PlainInstruction &out) const {
  llvm::MCInst inst;
  if (!disassemble(bytes, inst))
    return false;
  out.stem = opcodeStem(inst.getOpcode());
  out.numDefs = instrInfo->get(inst.getOpcode()).getNumDefs();
  out.operands.clear();
  for (const llvm::MCOperand &op : inst) {
    PlainOperand &p = out.operands.emplace_back();
    if (op.isReg() && op.getReg()) {
      const std::vector<RegRef> &refs = registersOf[op.getReg()];
      if (refs.empty() || refs.front().mask != 3)
        continue;
      p.kind = PlainOperand::Kind::Register;
      p.slot = refs.front().slot;
      p.registers = static_cast<uint8_t>(refs.size());
    } else if (op.isImm()) {
      p.kind = PlainOperand::Kind::Immediate;
      p.imm = out.stem == "S_MOVK_I32" ? int64_t(static_cast<int16_t>(op.getImm())) : op.getImm();
    } else if (op.isExpr() && op.getExpr()->evaluateAsAbsolute(p.imm)) {
      p.kind = PlainOperand::Kind::Immediate; // a literal that would also fit in the instruction
    }
  }
  return true;
}

} // namespace wavesan::waitcheck
