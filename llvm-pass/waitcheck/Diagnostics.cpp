// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Diagnostics.h"

namespace wavesan::waitcheck {

std::string codeName(HazardCode code) {
  std::string n = std::to_string(static_cast<unsigned>(code));
  return "W" + std::string(n.size() < 2 ? 1 : 0, '0') + n;
}

const char *codeTitle(HazardCode code) {
  switch (code) {
  case HazardCode::ReadPending:
    return "register read before the operation that produces it is complete";
  case HazardCode::WritePending:
    return "register overwritten while an operation that writes it is incomplete";
  case HazardCode::WriteLockedSource:
    return "register overwritten while an operation may still read it";
  case HazardCode::LdsWriteAtBarrier:
    return "LDS write may be incomplete at the barrier";
  case HazardCode::LdsCopyAtBarrier:
    return "copy into LDS may be incomplete at the barrier";
  case HazardCode::LdsReadDuringCopy:
    return "LDS read while a copy into LDS may be incomplete";
  case HazardCode::PendingAtReturn:
    return "function returns while an operation on a register or on LDS is incomplete";
  case HazardCode::EntryNotWaited:
    return "function uses registers or reaches a barrier before it has waited for its caller's operations";
  case HazardCode::WideStoreDataWrite:
    return "data of a wide store overwritten too few instructions later (wait states, not a counter)";
  }
  return "";
}

const char *codeHelp(HazardCode code) {
  switch (code) {
  case HazardCode::ReadPending:
    return "An instruction reads a register that a memory operation or message has not written yet on some path. The value read is stale.";
  case HazardCode::WritePending:
    return "An instruction writes a register that an earlier operation has not written yet on some path. The older value may land last.";
  case HazardCode::WriteLockedSource:
    return "An export, global data share or (gfx1250) memory operation may still read the register that this instruction overwrites.";
  case HazardCode::LdsWriteAtBarrier:
    return "A barrier does not wait for LDS writes in flight. Other waves may read the old contents behind it.";
  case HazardCode::LdsCopyAtBarrier:
    return "A barrier does not wait for copies into LDS in flight. Other waves may read the old contents behind it.";
  case HazardCode::LdsReadDuringCopy:
    return "A copy into LDS is ordered with LDS reads only by its counter. If the addresses overlap, the read may see old contents.";
  case HazardCode::PendingAtReturn:
    return "The calling convention lets a caller use every register, and reach a barrier, at once after the return.";
  case HazardCode::EntryNotWaited:
    return "By the calling convention the callee waits for whatever its caller left in flight, before it touches a register or reaches a barrier.";
  case HazardCode::WideStoreDataWrite:
    return "A store wider than 64 bits reads its data late; a vector instruction that overwrites it must keep a distance of wait states.";
  }
  return "";
}

const char *confidenceName(Confidence c) { return c == Confidence::Proven ? "proven" : "possible"; }

} // namespace wavesan::waitcheck
