// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline assembly: waits and barriers.
#include "decode_asm.h"

#include "named_barriers.h"

#include "llvm/ADT/StringSwitch.h"

namespace wavesan::cpu::engine {

using namespace llvm;

bool AsmDecoder::decodeSync() {
  const StringRef name = now->mnemonic;
  const auto count = [&](size_t k) {
    int64_t n = -1;
    if (operand(k).getAsInteger(0, n) || n < 0)
      fail("this count");
    return uint32_t(n);
  };
  if (name == "s_waitcnt") {
    uint32_t vmem = kNoWaitCount;
    std::vector<std::string> words = now->operands;
    words.insert(words.end(), now->modifiers.begin(), now->modifiers.end());
    for (StringRef word : words)
      if (word.consume_front("vmcnt(") && word.consume_back(")") && word.getAsInteger(0, vmem))
        fail("this count");
    d.emitWait(vmem, kNoWaitCount);
    return true;
  }
  if (name == "s_wait_idle")
    return d.emitWait(0, 0), true;
  if (name == "s_wait_loadcnt")
    return d.emitWait(count(0), kNoWaitCount), true;
  if (name == "s_wait_asynccnt")
    return d.emitWait(kNoWaitCount, count(0)), true;
  if (name == "s_wait_loadcnt_dscnt")
    return d.emitWait(count(0) >> 8 & 63, kNoWaitCount), true;
  if (name == "s_waitcnt_vmcnt")
    return operand(0) == "null" ? d.emitWait(count(1), kNoWaitCount) : fail("a count in a register"), true;
  if (name.starts_with("s_wait_") || name.starts_with("s_waitcnt_"))
    return d.emitWait(kNoWaitCount, kNoWaitCount), true;
  if (name.starts_with("s_barrier"))
    return decodeBarrier();
  if (name == "s_sleep" || name == "s_sleep_var")
    return d.emit(sleepOp()), true;
  if (name == "s_sethalt" && operand(0) != "0")
    return false;
  if (name == "s_nop" || name == "s_setprio" || name == "s_sethalt" || name == "s_delay_alu" || name == "s_clause" ||
      name == "s_inst_prefetch" || name == "s_icache_inv" || name == "s_dcache_inv" || name == "s_dcache_wb" ||
      name.starts_with("buffer_wbinvl1") || name == "buffer_wbl2" || name == "buffer_invl2" || name == "buffer_inv" ||
      name == "buffer_gl0_inv" || name == "buffer_gl1_inv" || name == "global_inv" || name == "global_wb" ||
      name == "global_wbinv" || name == "v_nop")
    return d.emit(fenceOp(true)), true;
  return false;
}

/// A named barrier is called by its number: an immediate, or the low half of M0, whose high half is a count of members.
bool AsmDecoder::decodeBarrier() {
  const StringRef name = now->mnemonic;
  using Operation = abi::NamedBarrierOperation;
  if (name == "s_barrier")
    return d.emit(barrier()), true;
  if (name == "s_barrier_leave")
    return d.emit(namedBarrier(Operation::Leave)), true;
  const auto operation = StringSwitch<std::optional<Operation>>(name)
                             .Case("s_barrier_init", Operation::Init)
                             .Case("s_barrier_join", Operation::Join)
                             .Case("s_barrier_signal", Operation::Signal)
                             .Case("s_barrier_wait", Operation::Wait)
                             .Default(std::nullopt);
  if (!operation)
    return false;
  const StringRef which = operand(0);
  int64_t number = 0;
  const bool inM0 = which == "m0";
  if (!inM0 && which.getAsInteger(0, number))
    return fail("this barrier"), true;
  number = int16_t(number); // the wait's operand has 16 bits
  if (number == -1 && (*operation == Operation::Signal || *operation == Operation::Wait))
    return d.emit(*operation == Operation::Signal ? barrierSignal() : barrierWait()), true;
  if (number < 0)
    return fail("another barrier than the workgroup's"), true;
  if (number == 0 && !inM0)
    return fail("the null barrier"), true;
  if (*operation == Operation::Wait) // for the barrier that the wave has joined, whatever the number
    return d.emit(namedBarrier(*operation)), true;
  const bool counts = *operation == Operation::Init || (*operation == Operation::Signal && inM0);
  const Register m0 = inM0 || counts ? read32("m0") : kNoRegister;
  Register address = constant32(NamedBarriers::addressOf(uint32_t(number))), members = kNoRegister;
  if (inM0) // of what is no number the operation says so
    address = binary(IntBinary::Add, shift(IntBinary::Shl, binary(IntBinary::And, m0, constant32(31)), constant32(4)),
                     constant32(NamedBarriers::addressOf(0)));
  if (counts)
    members = binary(IntBinary::And, shift(IntBinary::LShr, m0, constant32(16)), constant32(127));
  if (failed())
    return true;
  Op &op = d.emit(namedBarrier(*operation));
  op.a = address, op.b = members;
  return true;
}

} // namespace wavesan::cpu::engine
