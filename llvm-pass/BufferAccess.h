// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses through a buffer resource: the 128-bit descriptor that llvm.amdgcn.{raw,struct}[.ptr].buffer.* takes.
#ifndef WAVESAN_PASS_BUFFERACCESS_H
#define WAVESAN_PASS_BUFFERACCESS_H

#include "llvm/IR/IRBuilder.h"

#include <optional>

namespace llvm {
class IntrinsicInst;
} // namespace llvm

namespace wavesan {

struct GpuTarget;

struct BufferAccess {
  llvm::Value *Resource = nullptr; ///< ptr addrspace(8) or <4 x i32>
  llvm::Value *Index = nullptr;    ///< null: a raw buffer
  llvm::Value *Offset = nullptr;   ///< of each lane
  llvm::Value *ScalarOffset = nullptr;
  uint64_t Immediate = 0;         ///< added to Offset
  uint32_t Bits = 0;              ///< abi::AccessBits
  llvm::Value *Compare = nullptr; ///< of a compare-exchange
  llvm::Type *Data = nullptr;     ///< what is loaded, stored or replaced; null of a copy to LDS

  bool allOrNothing() const; ///< the range check takes the access as a whole, not dword by dword
};

/// Nothing for other intrinsics, and for those whose data has a format (tbuffer, buffer.*.format) or that read through
/// the scalar unit.
std::optional<BufferAccess> bufferAccess(const llvm::IntrinsicInst &I);

/// Which bytes a lane's access of `Bytes` bytes touches: those from Address on.
struct BufferRange {
  llvm::Value *Address; ///< i64
  llvm::Value *InRange; ///< i64: bytes within the buffer, 0 to Bytes
};
/// Emits the address calculation and range check of the target (ISA documents, "Range checking"), without swizzling.
BufferRange emitBufferRange(llvm::IRBuilder<> &B, const BufferAccess &Access, uint64_t Bytes, const GpuTarget &Target);

} // namespace wavesan

#endif // WAVESAN_PASS_BUFFERACCESS_H
