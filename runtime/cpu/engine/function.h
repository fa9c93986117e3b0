// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoded function, and the records that its control operations refer to. No LLVM types.
#ifndef WAVESAN_CPU_ENGINE_FUNCTION_H
#define WAVESAN_CPU_ENGINE_FUNCTION_H

#include "wave.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace wavesan::cpu::engine {

/// Copies `n` consecutive registers.
struct Move {
  Register to, from;
  Width width;
  uint32_t n;
};

/// A control-flow edge: moves for the phis of `block`, in an order that makes them a parallel copy.
struct Edge {
  uint32_t block = 0;
  std::vector<Move> moves;
};

struct SwitchTable {
  Width width;
  std::vector<uint64_t> values; ///< sorted; values[i] goes to edges[target[i]]
  std::vector<uint32_t> target;
  std::vector<Edge> edges; ///< edges[0]: default
  std::vector<uint32_t> turns; ///< of the edges (barrier_flow.h); empty if none of them is one
};

struct Function {
  std::string name;
  std::vector<Op> ops;              ///< of all blocks, in block order; each block ends in a control operation
  std::vector<uint32_t> blockStart; ///< index of each block's first operation, and one past the last block
  std::vector<const void *> origin; ///< llvm::Instruction of each operation (diagnostics only)
  uint32_t registerBytes = 0;       ///< of a frame
  uint32_t privateBytes = 0;        ///< of a frame, for each lane
  bool hasCalls = false;
  bool hasHooks = false;
  /// Some operation may read a register of a lane that has never written it: a cross-lane operation, or a callee's.
  bool readsOtherLanes = false;
  bool hasContested = false; ///< some access hook has Op::sub set (divergent_arms.h)
  std::vector<std::byte> constants; ///< broadcast to all lanes
  std::vector<Width> arguments;     ///< registers, in order from offset 0 of the frame
  std::vector<Width> results;       ///< registers that a return delivers
  struct ByVal {
    uint32_t argument;  ///< register offset of the pointer (u32)
    uint32_t offset;    ///< of the copy in the frame's private memory
    uint32_t bytes;
  };
  std::vector<ByVal> byVal;
  std::vector<std::shared_ptr<void>> extras; ///< what Op::extra points to

  const Op *block(uint32_t index) const { return ops.data() + blockStart[index]; }
  int64_t blockOps(uint32_t index) const { return int64_t(blockStart[index + 1]) - int64_t(blockStart[index]); }
  uint32_t blockCount() const { return uint32_t(blockStart.size() - 1); }
};

/// A call operation. `callee` is null until the first execution decodes it; indirect calls look it up by address.
struct CallSite {
  mutable std::atomic<const Function *> callee{nullptr};
  const void *llvmFunction = nullptr; ///< null: indirect through the register Op::a
  std::vector<Move> arguments;        ///< to: register offset in the callee's frame
  std::vector<Width> argumentWidths;
  std::vector<Width> resultWidths; ///< delivered to Op::d and following
};

/// A return: what to copy into the caller's result registers.
struct ReturnValues {
  std::vector<Register> from;
  std::vector<Width> widths;
};

struct Frame {
  const Function *function = nullptr;
  std::byte *registers = nullptr;
  LaneMask *pending = nullptr;     ///< one mask for each block
  uint64_t *pendingBits = nullptr; ///< bit b: pending[b] is not empty
  uint32_t pendingCount = 0;
  LaneMask exec = 0;     ///< saved while a callee runs
  LaneMask live = 0;     ///< entered, not returned, not ended
  LaneMask callRest = 0; ///< lanes of an indirect call whose target has not run yet
  const Op *pc = nullptr;       ///< saved while a callee runs: behind the call
  uint32_t privateBase = 0;
  size_t stackMark = 0; ///< of the register stack before this frame
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_FUNCTION_H
