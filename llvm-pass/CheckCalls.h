// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the device runtime's check (abi/device_check.h): what keeps them correct, and what keeps them cheap in
// kernels with many of them.
#ifndef WAVESAN_PASS_CHECKCALLS_H
#define WAVESAN_PASS_CHECKCALLS_H

#include "llvm/Support/Error.h"

namespace llvm {
class Function;
}

namespace wavesan {

/// Prepares the check and its calls in the hooks, before these are inlined.
llvm::Error prepareCheck(llvm::Function &Check);

/// Keeps few registers occupied between the checks of a finished twin: takes constant offsets out of addresses, and
/// keeps computations where the program has them. Changes nothing that is computed.
void relieveRegisters(llvm::Function &F);

} // namespace wavesan

#endif // WAVESAN_PASS_CHECKCALLS_H
