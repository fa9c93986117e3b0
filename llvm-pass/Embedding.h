// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the site table and the instrumented IR into sections of the code object.
#ifndef WAVESAN_PASS_EMBEDDING_H
#define WAVESAN_PASS_EMBEDDING_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class Module;
}

namespace wavesan {

/// The module as bitcode, as it is now.
std::string moduleBitcode(const llvm::Module &M);

/// Adds both blobs as data that the compiler and the linker keep.
void embed(llvm::Module &M, llvm::StringRef SiteTable, llvm::StringRef Bitcode);

} // namespace wavesan

#endif // WAVESAN_PASS_EMBEDDING_H
