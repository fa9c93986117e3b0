// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known about scalar registers along a path: constants moved into them, and outcomes of comparisons that branches decided.
// A path that needs one comparison to come out both ways, or against constants, cannot happen.
#ifndef WAVESAN_WAITCHECK_BRANCHFACTS_H
#define WAVESAN_WAITCHECK_BRANCHFACTS_H

#include "Program.h"

#include <optional>

namespace wavesan::waitcheck {

/// Facts that hold at a point of a path. A small sorted value type: it is a key of the search's visited set.
class BranchFacts {
public:
  /// Executes the instruction: what it defines is forgotten, a constant move is learned.
  void step(const IsaContext &isa, const Function &f, uint32_t instruction);

  /// Leaves the block over the edge. `taken`: the conditional branch at its end jumps. False: that cannot happen here.
  bool leave(const IsaContext &isa, const Function &f, const Block &b, bool taken);

  /// Keeps only what holds in both.
  void intersect(const BranchFacts &other);

  bool operator==(const BranchFacts &) const = default;
  auto operator<=>(const BranchFacts &) const = default;

private:
  struct Constant {
    uint16_t slot;
    uint32_t value;
    auto operator<=>(const Constant &) const = default;
  };
  struct Outcome {
    uint32_t opcode;
    uint16_t a, b;
    int64_t immA, immB;
    bool result;
    auto operator<=>(const Outcome &) const = default;
  };
  std::optional<uint32_t> value(uint16_t slot, int64_t imm) const;
  void forget(uint16_t slot);

  std::vector<Constant> constants;
  std::vector<Outcome> outcomes;
};

/// Facts that hold whenever a block is entered, for every block; the blocks that are never entered get none.
std::vector<BranchFacts> factsAtEntry(const IsaContext &isa, const Function &f);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_BRANCHFACTS_H
