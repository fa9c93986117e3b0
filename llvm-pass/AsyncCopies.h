// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intrinsics that copy between global memory and LDS behind the wave's back.
#ifndef WAVESAN_PASS_ASYNCCOPIES_H
#define WAVESAN_PASS_ASYNCCOPIES_H

#include <cstdint>
#include <optional>

namespace llvm {
class IntrinsicInst;
class Value;
} // namespace llvm

namespace wavesan {

struct AsyncCopy {
  llvm::Value *Global = nullptr; ///< pointer of each lane; null: through a buffer resource
  llvm::Value *Lds = nullptr;
  uint64_t Offset = 0; ///< of both, in bytes
  uint64_t Size = 0;   ///< bytes of one lane in global memory
  bool ToLds = true;
  uint32_t CopyBits = 0; ///< abi::CopyBits

  /// Bytes of one lane in LDS: a load of less than a dword writes one.
  uint64_t ldsSize() const { return ToLds && isConsecutive() && Size < 4 ? 4 : Size; }
  bool isConsecutive() const;
};

/// Nothing for other intrinsics, and for copies that reach other workgroups or that a descriptor in memory describes.
std::optional<AsyncCopy> asyncCopy(const llvm::IntrinsicInst &I);

} // namespace wavesan

#endif // WAVESAN_PASS_ASYNCCOPIES_H
