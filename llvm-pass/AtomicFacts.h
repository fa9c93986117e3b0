// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scopes and orderings of atomics and fences, in the words of abi/hooks.h.
#ifndef WAVESAN_PASS_ATOMICFACTS_H
#define WAVESAN_PASS_ATOMICFACTS_H

#include "wavesan/abi/hooks.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/AtomicOrdering.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace llvm {
class Instruction;
}

namespace wavesan {

struct ScopeFacts {
  abi::Scope Scope;
  bool OneAddressSpace; ///< a "one-as" scope: orders only the address space of the atomic itself
};

struct AtomicFacts {
  ScopeFacts Where;
  bool Acquire, Release, SeqCst; ///< Acquire: of reads; Release: of writes
  unsigned AddressSpace;
  bool MayFail;        ///< a compare-exchange
  bool FailureRelaxed; ///< one that acquires only when it succeeds
  /// The bits of atomicInfo() beyond those of accessInfo().
  uint32_t infoBits() const {
    return abi::atomicInfo(0, 0, Where.Scope, Acquire, Release) | (MayFail ? abi::kAtomicMayFail : 0u) |
           (Acquire && FailureRelaxed ? abi::kAtomicFailureRelaxed : 0u);
  }
};

class AtomicReader {
public:
  explicit AtomicReader(llvm::LLVMContext &Context) { Context.getSyncScopeNames(Names); }

  /// Fails with one line for a scope that the AMDGPU memory model does not have.
  llvm::Expected<ScopeFacts> scope(llvm::SyncScope::ID Id) const;

  /// Nothing if `I` is no atomic load, store, read-modify-write or compare-exchange.
  llvm::Expected<std::optional<AtomicFacts>> atomic(const llvm::Instruction &I) const;

private:
  llvm::SmallVector<llvm::StringRef, 16> Names;
};

} // namespace wavesan

#endif // WAVESAN_PASS_ATOMICFACTS_H
