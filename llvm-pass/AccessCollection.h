// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choose: which memory accesses of a twin are checked, and why the others are not.
//
// Nothing is skipped silently: every access that may touch memory that lanes share is either an Access or counted under
// a reason. What cannot race is neither: private memory (address space 5), and what nothing writes while a kernel runs
// (constant address spaces, which hold kernel arguments too, and loads marked !invariant.load).
#ifndef WAVESAN_PASS_ACCESSCOLLECTION_H
#define WAVESAN_PASS_ACCESSCOLLECTION_H

#include "BufferAccess.h"
#include "MemoryPlaces.h"
#include "SiteRecorder.h"
#include "Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Alignment.h"

#include <string>
#include <vector>

namespace llvm {
class Function;
class Instruction;
class Value;
} // namespace llvm

namespace wavesan {

struct Access {
  llvm::Instruction *I = nullptr;
  llvm::Value *Pointer = nullptr; ///< of any address space, or an integer: an LDS offset or a 64-bit address
  Region Where = Region::Generic; ///< Lds, Global or Generic
  uint32_t Bits = 0;              ///< abi::AccessBits
  uint32_t Ordering = 0;          ///< of atomics: scope and order, the bits of abi::atomicInfo() beyond accessInfo()
  llvm::SmallVector<ByteRun, 1> Runs; ///< constant extent; empty when Length is used. Padding is not accessed.
  llvm::Value *Length = nullptr;      ///< extent in bytes known at run time only
  llvm::Align Alignment;
  std::string Variable; ///< source name of the variable or kernel argument, where it is the only one possible
  llvm::Value *VariableAddress = nullptr; ///< of LDS variables: the variable, or an argument that holds it
  std::string Opcode;
  bool IsCopy = false;       ///< the LDS side of an asynchronous copy; Ordering: abi::CopyBits
  llvm::Value *Offset = nullptr; ///< of 32 bits, unsigned, added to Pointer; null: none
  unsigned Sequence = 0;         ///< of inline asm: its place among the hooks of the same call
  bool After = false;            ///< its hook goes behind the instruction
  std::string Stored; ///< SiteEntry::stored (StoredConstants.h)
  std::optional<BufferAccess> Buffer; ///< through a buffer resource: Where is Global and Pointer null

  bool isAtomic() const { return (Bits & abi::kAccessAtomic) != 0; }
  uint32_t info(uint64_t Size) const { return abi::accessInfo(Bits, uint32_t(Size)) | Ordering; }
  /// log2 of the largest cell (at most 4 bytes) that never holds bytes of this access and other bytes.
  /// Global memory does not count: its cells are not the kernel's.
  unsigned granuleLog2() const;
};

struct AccessChoice {
  std::vector<Access> Accesses; ///< in program order; a memcpy yields two with the same instruction
  SkipCounts Skips;
  std::vector<const llvm::Instruction *> KnownAsm; ///< inline asm of which every instruction is known
  bool hasCopies() const {
    return llvm::any_of(Accesses, [](const Access &A) { return A.IsCopy; });
  }
};

/// Vector memory instructions that no hook stands for, in front of an instruction: what VmemIssued hooks say.
struct Issued {
  llvm::Instruction *I;
  uint32_t Info; ///< abi::issuedInfo()
};
/// `Choice`: the accesses of `F` that get hooks.
std::vector<Issued> chooseIssued(llvm::Function &F, const AccessChoice &Choice);

/// Fails with one line for atomics with an unknown synchronisation scope.
llvm::Expected<AccessChoice> chooseAccesses(llvm::Function &F, LdsArgumentList LdsArguments, const GpuTarget &Target);

} // namespace wavesan

#endif // WAVESAN_PASS_ACCESSCOLLECTION_H
