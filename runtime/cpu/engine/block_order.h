// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of blocks in which "the lowest pending block runs first" reconverges.
//
// A topological order in which the blocks of each loop are contiguous: all lanes that are still in a loop finish it
// before any lane continues behind it, and the two arms of a branch both run before the block that joins them.
// Any order executes correctly; this one keeps lanes together as the hardware does. A loop with several back edges has a join
// at its end, where the lanes of all of them meet before the next round, as the compiler makes them do for the hardware.
#ifndef WAVESAN_CPU_ENGINE_BLOCK_ORDER_H
#define WAVESAN_CPU_ENGINE_BLOCK_ORDER_H

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace llvm {
class BasicBlock;
class Function;
} // namespace llvm

namespace wavesan::cpu::engine {

struct BlockOrder {
  std::vector<const llvm::BasicBlock *> blocks; ///< null: a join
  llvm::DenseMap<const llvm::BasicBlock *, uint32_t> joins; ///< index of the join of the loop with this header
};

/// Reachable blocks only, the entry block first.
BlockOrder orderBlocks(const llvm::Function &function);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_BLOCK_ORDER_H
