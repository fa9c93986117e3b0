// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instruments host code: accesses to memory that a command on the device may be using (docs/stream-order.md).
#ifndef WAVESAN_PASS_HOSTACCESSES_H
#define WAVESAN_PASS_HOSTACCESSES_H

#include "llvm/IR/PassManager.h"

namespace wavesan {

/// For host modules, with the option -wavesan-check-host; leaves all others alone. Each access gets a look at one word
/// that says whether any command is under way, and only then a call. The module asks for the HIP interposer when it is
/// loaded; without one the word stays 0.
class HostAccessesPass : public llvm::PassInfoMixin<HostAccessesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
};

} // namespace wavesan

#endif // WAVESAN_PASS_HOSTACCESSES_H
