// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "AsyncCopies.h"

#include "LlvmVersions.h"

#include "wavesan/abi/hooks.h"

#include "llvm/IR/Constants.h"

using namespace llvm;
using namespace wavesan;

bool AsyncCopy::isConsecutive() const { return (CopyBits & abi::kCopyConsecutive) != 0; }

static uint64_t constantOf(const IntrinsicInst &I, unsigned Argument) {
  auto *C = dyn_cast<ConstantInt>(I.getArgOperand(Argument));
  return C ? uint64_t(C->getSExtValue()) : 0;
}

std::optional<AsyncCopy> wavesan::asyncCopy(const IntrinsicInst &I) {
  StringRef Name = amdgcnName(I);
  AsyncCopy Copy;
  // gfx9, gfx10: counted with vector memory; lanes are consecutive from the LDS address on, which is in M0.
  const bool Buffer = Name.contains("buffer.load.lds") || Name.contains("buffer.load.async.lds");
  if (Name == "global.load.lds" || Name.starts_with("load.to.lds") || Buffer) {
    if (Name.contains("async"))
      return std::nullopt;
    Copy.Lds = I.getArgOperand(1);
    Copy.Size = constantOf(I, 2);
    Copy.CopyBits = abi::kCopyConsecutive | abi::kCopyFenced;
    // The offset is the last but one.
    Copy.Offset = constantOf(I, I.arg_size() - 2);
    if (!Buffer && I.getArgOperand(0)->getType()->getPointerAddressSpace() <= 1)
      Copy.Global = I.getArgOperand(0);
    return Copy;
  }
  // gfx1250: counted by asynccnt; each lane has its LDS address. Fences do not wait for them.
  StringRef Type = Name;
  if (Type.consume_front("global.load.async.to.lds.b"))
    Copy.ToLds = true;
  else if (Type.consume_front("global.store.async.from.lds.b"))
    Copy.ToLds = false;
  else
    return std::nullopt;
  if (Type.getAsInteger(10, Copy.Size))
    return std::nullopt;
  Copy.Size /= 8;
  Copy.Global = I.getArgOperand(0);
  Copy.Lds = I.getArgOperand(1);
  Copy.Offset = constantOf(I, 2);
  Copy.CopyBits = abi::kCopyAsyncCounter;
  return Copy;
}
