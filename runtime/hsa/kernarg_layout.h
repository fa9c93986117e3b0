// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translates the kernarg block of an original kernel into that of its twin.
//
// The twin has one explicit argument more (the DispatchContext pointer), so everything behind the explicit arguments
// moves: the hidden arguments that the runtime appends, whose set and order depend on the code object version and
// on what the compiler found unused. They are matched by value_kind between the two kernels' metadata.
#ifndef WAVESAN_HSA_KERNARG_LAYOUT_H
#define WAVESAN_HSA_KERNARG_LAYOUT_H

#include "kernel_metadata.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// What hidden arguments are computed from when the original kernel does not receive them.
struct DispatchShape {
  uint32_t grid[3] = {1, 1, 1}; ///< work-items
  uint32_t workgroup[3] = {1, 1, 1};
  uint32_t dimensions = 1;
  uint32_t dynamicLdsBytes = 0;
};

/// Immutable, thread-safe.
class KernargPlan {
public:
  /// Returns nothing and one line in `error` when the two kernels do not fit together.
  static std::optional<KernargPlan> make(const KernelMetadata &original, const KernelMetadata &twin,
                                         std::string &error);

  /// Bytes that fill() writes.
  uint32_t bytes() const { return Bytes; }
  /// Bytes that fill() reads from the original's block.
  uint32_t sourceBytes() const { return SourceBytes; }

  /// Writes the twin's block. `source` may be null only if sourceBytes() is 0.
  void fill(const uint8_t *source, uint8_t *destination, uint64_t contextAddress, const DispatchShape &shape) const;

private:
  struct Copy {
    uint32_t from, to, size;
  };
  enum class Value : uint8_t { BlockCount, GroupSize, Remainder, GridDims, DynamicLds };
  struct Compute {
    Value value;
    uint8_t dimension;
    uint32_t to, size;
  };
  static bool computable(const KernelArg &arg, Compute &out);

  uint32_t Bytes = 0, SourceBytes = 0, ContextOffset = 0;
  std::vector<Copy> Copies;
  std::vector<Compute> Computes;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_KERNARG_LAYOUT_H
