// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks in which lanes of one wave may touch memory while others, that took another way at a branch and have not come
// back, touch memory elsewhere. Only there the order of divergent arms can matter: most branches of kernels have one
// arm with accesses, or none.
#ifndef WAVESAN_CPU_ENGINE_DIVERGENT_ARMS_H
#define WAVESAN_CPU_ENGINE_DIVERGENT_ARMS_H

#include "llvm/ADT/SmallPtrSet.h"

namespace llvm {
class BasicBlock;
class Function;
} // namespace llvm

namespace wavesan::cpu::engine {

using BlockSet = llvm::SmallPtrSet<const llvm::BasicBlock *, 16>;

/// Blocks with access hooks from which, at some branch, another arm leads to access hooks too, one of the two with a
/// write.
BlockSet contestedBlocks(const llvm::Function &function);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_DIVERGENT_ARMS_H
