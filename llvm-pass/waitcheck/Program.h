// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function of a code object as the analysis sees it: decoded instructions and a control-flow graph.
#ifndef WAVESAN_WAITCHECK_PROGRAM_H
#define WAVESAN_WAITCHECK_PROGRAM_H

#include "CallFacts.h"
#include "IsaContext.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

namespace wavesan::waitcheck {

/// Code bytes of one section. Address plus index identify an instruction.
struct CodeSection {
  llvm::ArrayRef<uint8_t> bytes;
  uint64_t address = 0;
  uint64_t index = 0;                ///< ELF section index, for line tables
  std::vector<uint64_t> relocations; ///< sorted offsets of what the linker will still change
};

/// Eight bytes per instruction: large objects have tens of millions.
struct Instruction {
  uint32_t offset; ///< from the start of the section
  int32_t decoded; ///< into IsaContext; -1: no instruction of this target
};

enum class CallKind : uint8_t { None, Known, Unknown };

struct Block {
  uint32_t first, last; ///< instructions [first, last)
  llvm::SmallVector<uint32_t, 2> successors;
  CallKind call = CallKind::None; ///< of its last instruction
  bool returns = false;           ///< its last instruction returns to the caller
  bool tailCall = false;          ///< leaves for another function
  uint64_t callee = 0;            ///< address, where known
};

/// What a function leaves open. Counted and reported: never silently clean.
struct Gaps {
  unsigned undecodable = 0;      ///< reachable bytes that are no instruction
  unsigned unsupported = 0;      ///< reachable instructions with control flow or counters that are not modelled
  unsigned indirectBranches = 0; ///< assumed to go to every block of the function
  unsigned unknownWaits = 0;     ///< waits whose number is in a register: assumed to wait for nothing
  unsigned externalCalls = 0;    ///< callee outside the object: assumed to keep to the calling convention
  unsigned indices = 0; ///< registers chosen by an index without known bounds while operations are pending on some, and
                        ///< index modes that are not followed
  unsigned wideRegisters = 0; ///< vector instructions whose registers s_set_vgpr_msb changes in a way that is not known
  std::string firstName;      ///< disassembly of the first of them
  bool any() const {
    return undecodable || unsupported || indirectBranches || unknownWaits || externalCalls || wideRegisters ||
           indices;
  }
};

struct FunctionEntry {
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0; ///< 0: unknown
  bool isKernel = false;
  bool wave64 = true;
  unsigned section = 0; ///< into the object's code sections
};

class LdsFacts;

struct Function {
  FunctionEntry entry;
  const CodeSection *section = nullptr;
  std::vector<Instruction> code;
  std::vector<Block>
      blocks; ///< by instruction; block 0 is the entry. The last may be an empty one, which unresolved jumps go to
  std::vector<uint32_t> order; ///< reachable blocks in reverse post order
  Gaps gaps;
  std::shared_ptr<const LdsFacts> lds;         ///< null: no copies into LDS
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> indices; ///< least and greatest, where an instruction's index has them
  EntryFacts callers = EntryFacts::anything(); ///< of a function that is no kernel
  bool callersSeeReturn = false; ///< its callers are checked with the LDS operations that it leaves pending

  /// The block of an instruction; null if there is none.
  const Block *blockOf(uint32_t instruction) const {
    auto at = std::upper_bound(blocks.begin(), blocks.end(), instruction,
                               [](uint32_t i, const Block &b) { return i < b.last; });
    return at == blocks.end() || at->first > instruction ? nullptr : &*at;
  }
  uint64_t addressOf(uint32_t instruction) const { return section->address + code[instruction].offset; }
  llvm::ArrayRef<uint8_t> bytesAt(uint32_t instruction) const {
    return section->bytes.drop_front(code[instruction].offset);
  }
  /// The linker will still change some of its bytes.
  bool isRelocated(uint32_t instruction, unsigned size) const {
    const std::vector<uint64_t> &changed = section->relocations;
    if (changed.empty())
      return false;
    auto next = std::lower_bound(changed.begin(), changed.end(), code[instruction].offset);
    return next != changed.end() && *next < code[instruction].offset + size;
  }
};

/// Decodes a function and builds its graph. Never fails: what cannot be understood is in gaps.
Function buildFunction(IsaContext &isa, const FunctionEntry &entry, const CodeSection &section);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_PROGRAM_H
