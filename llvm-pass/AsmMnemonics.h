// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory instructions of the AMDGPU assembler that inline asm may use and the pass understands.
#ifndef WAVESAN_PASS_ASMMNEMONICS_H
#define WAVESAN_PASS_ASMMNEMONICS_H

#include "MemoryPlaces.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace wavesan {

struct MemoryMnemonic {
  Region Where;  ///< Lds, Global or Generic
  uint32_t Bits; ///< abi::AccessBits
  unsigned Size; ///< bytes of one lane at one address
  /// Two addresses: bytes by which one unit of offset0 and offset1 moves; 0 for instructions with one `offset`.
  unsigned PairStride = 0;
};

/// Nothing for instructions that are unknown or whose effect needs more than their operands say (compare-exchange,
/// whose success is not visible; copies to LDS).
std::optional<MemoryMnemonic> memoryMnemonic(llvm::StringRef Mnemonic);

} // namespace wavesan

#endif // WAVESAN_PASS_ASMMNEMONICS_H
