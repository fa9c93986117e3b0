// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fat buffer pointers (address space 7: a resource and an offset) exist in no instruction. The AMDGPU backend turns
// accesses through them into buffer intrinsics, by a pass that it registers by name; it runs here already, so that
// twins are made of what will be executed.
#ifndef WAVESAN_PASS_FATPOINTERS_H
#define WAVESAN_PASS_FATPOINTERS_H

#include "llvm/Passes/PassBuilder.h"

namespace wavesan {

/// Adds the backend's pass for modules that have fat pointers. Where the backend does not offer it (another target,
/// LLVM 19), adds nothing: accesses through such pointers are then counted as not checked.
void addFatPointerLowering(llvm::PassBuilder &Builder, llvm::ModulePassManager &Passes);

} // namespace wavesan

#endif // WAVESAN_PASS_FATPOINTERS_H
