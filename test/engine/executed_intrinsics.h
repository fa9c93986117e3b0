// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which intrinsics the tests have executed. If WAVESAN_TEST_INTRINSICS is the name of a file, their names ("amdgcn_sad_u8",
// as enumerators of llvm::Intrinsic) are written there when the process ends, for check_intrinsics.py.
#ifndef WAVESAN_TEST_EXECUTED_INTRINSICS_H
#define WAVESAN_TEST_EXECUTED_INTRINSICS_H

#include <string>

namespace wavesan::cpu::test {

/// Remembers what the kernels of a module call. Does nothing without the variable.
void moduleLoaded(const void *program, const std::string &bitcode);
/// The kernel has come to its end, or to a trap.
void kernelExecuted(const void *program, const std::string &kernel);

} // namespace wavesan::cpu::test

#endif // WAVESAN_TEST_EXECUTED_INTRINSICS_H
