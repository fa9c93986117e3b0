// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives the twins their own LDS variables (`x.wavesan`), so that the originals' LDS layout stays what it was.
//
// The compiler allocates LDS per kernel; where a function that several kernels reach uses a variable, it looks the
// address up in a table by kernel number. Recursive clones are such functions. Tables for them would renumber the
// originals, so they get the addresses of LDS variables as arguments instead.
#ifndef WAVESAN_PASS_LDSVARIABLES_H
#define WAVESAN_PASS_LDSVARIABLES_H

#include "TwinCloning.h"

namespace wavesan {

/// Decides, before anything is cloned, what happens to each LDS variable.
LdsPlan planLds(llvm::Module &M, const CallGraphFacts &Facts);

/// Clones every LDS variable that a twin or recursive clone uses and rewrites the uses.
void cloneLdsVariables(llvm::Module &M, const TwinSet &Set, const LdsPlan &Plan);

/// True if `F` uses dynamic LDS (an LDS variable of size zero) directly.
bool usesDynamicLds(const llvm::Function &F);

} // namespace wavesan

#endif // WAVESAN_PASS_LDSVARIABLES_H
