// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links the device runtime into a module and inlines the hooks into the twins.
#ifndef WAVESAN_PASS_RUNTIMELINKING_H
#define WAVESAN_PASS_RUNTIMELINKING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Analysis.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace wavesan {

/// Links the bodies of the hooks that `M` declares, inlines them into `Functions` (twins and recursive clones; nothing
/// else may call them) and removes them. Helpers that the runtime marks noinline stay as internal functions. Those of
/// `Ordered` follow what orders waves through LDS (LdsOrder.h).
llvm::Error linkDeviceRuntime(llvm::Module &M, llvm::ArrayRef<llvm::Function *> Functions,
                              const llvm::DenseSet<const llvm::Function *> &Ordered);

} // namespace wavesan

#endif // WAVESAN_PASS_RUNTIMELINKING_H
