// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an opcode does to counters and control flow, decided from its name alone (numbers and flag bits are private to LLVM's backend).
//
// Fail closed: classifyAll() looks at every real opcode. One that LLVM says may load or store, or whose name belongs to a memory family,
// but that no rule here knows, is returned by name; the checker then refuses to start instead of guessing.
#ifndef WAVESAN_WAITCHECK_OPCODERULES_H
#define WAVESAN_WAITCHECK_OPCODERULES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class MCInstrInfo;
}

namespace wavesan::waitcheck {

enum class Family : uint8_t {
  None,        ///< no counter
  Scalar,      ///< scalar memory, messages, clocks
  Ds,          ///< LDS and GDS
  Flat,        ///< FLAT: memory or LDS
  Vector,      ///< GLOBAL, SCRATCH, BUFFER, TBUFFER, CLUSTER
  Image,       ///< IMAGE without sampler
  Sample,      ///< IMAGE with sampler
  Bvh,         ///< ray intersection
  Export,
  LdsDirect,   ///< parameter and direct loads on the export counter
  AsyncArrive, ///< asynchronous LDS barrier arrival
  Tensor,
  BarrierScc,  ///< barrier instructions that write SCC late (gfx12)
};

enum class Control : uint8_t {
  None,
  Branch,
  CondBranch,
  Call,
  SetPc,
  End,
  Barrier,     ///< arrival at a workgroup barrier
  BarrierWait, ///< second half of a split barrier
  Wait,
  Unsupported, ///< control flow that the checker does not model: an error where it is reachable
};

enum class WaitForm : uint8_t {
  None,
  Combined, ///< s_waitcnt
  Idle,     ///< all counters
  Load,
  Ds,
  Exp,
  Store,
  Sample,
  Bvh,
  Km,
  Async,
  Tensor,
  X,
  LoadDs,
  StoreDs,
};

enum class ScalarForm : uint8_t { None, Move, Move64, Add, AddCarry, Add64, GetPc, Compare };

/// Which half of its 32-bit register an access touches.
enum class Half : uint8_t { Low = 1, High = 2, Whole = 3 };

struct OpcodeFacts {
  Family family = Family::None;
  Control control = Control::None;
  WaitForm wait = WaitForm::None;
  ScalarForm scalar = ScalarForm::None;
  Half resultHalf = Half::Whole; ///< 16-bit loads
  Half dataHalf = Half::Whole;   ///< 8- and 16-bit stores
  bool result : 1 = false;       ///< writes registers when it completes
  bool write : 1 = false;        ///< writes memory (LDS for DS)
  bool read : 1 = false;         ///< reads memory (LDS for DS)
  bool toLds : 1 = false;        ///< copies memory into LDS
  bool async : 1 = false;        ///< counted by asynccnt
  bool alwaysGds : 1 = false;
  bool mayBeGds : 1 = false;     ///< has a gds operand
  bool counted : 1 = true;       ///< certain to advance its counter (if not, it does not age others)
  bool translated : 1 = false;   ///< scalar memory whose address is translated (gfx1250: xcnt)
  bool valu : 1 = false;
  bool sdwa : 1 = false;
  bool wideStoreCandidate : 1 = false;
  bool nop : 1 = false;
  bool relativeUses : 1 = false; ///< reads any register from the named one on, chosen by M0 or an index
  bool relativeDefs : 1 = false; ///< writes any register from the named one on
  bool indexMode : 1 = false;    ///< changes what registers the vector instructions behind it mean
  bool vgprMsb : 1 = false;      ///< changes the meaning of VGPR numbers (gfx1250)
  bool wholeBarrier : 1 = false; ///< a barrier that needs no number
  bool padding : 1 = false;      ///< s_code_end, s_nop
  bool waitsExp : 1 = false;     ///< waits for expcnt before it reads (wait_exp of interpolation)
};

/// The name without the suffix for the generation: "DS_READ_B32_vi_gfx9" gives "DS_READ_B32".
llvm::StringRef stemOf(llvm::StringRef opcodeName);

/// Facts of one opcode. `known` is false if it looks like a memory operation that no rule covers.
OpcodeFacts classify(llvm::StringRef opcodeName, bool mayLoad, bool mayStore, unsigned numDefs, bool &known);

struct OpcodeTable {
  std::vector<OpcodeFacts> facts;        ///< by opcode number
  std::vector<std::string> unclassified; ///< names that must be empty for the checker to work
  unsigned memoryOpcodes = 0;            ///< real opcodes with a memory family
};

/// Classifies all opcodes. Pure: no state is kept.
OpcodeTable classifyAll(const llvm::MCInstrInfo &info);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_OPCODERULES_H
