// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes of a dispatch leave in memory, byte by byte, in groups: the passes of one order of two accesses.
#ifndef WAVESAN_HSA_OUTPUT_COMPARE_H
#define WAVESAN_HSA_OUTPUT_COMPARE_H

#include "replay_snapshot.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// Chunks of the regions that differ from a snapshot.
class PassOutput {
public:
  static constexpr uint64_t kChunk = 4096;
  /// Reads all regions of `before`. False, and a line in `error`, if they cannot be read, or if more than `limit` bytes
  /// differ.
  bool read(const Snapshot &before, uint64_t limit, std::string &error);

  /// (region, chunk) -> bytes; what is not here is as in the snapshot.
  using Chunks = std::map<std::pair<size_t, uint64_t>, std::vector<uint8_t>>;
  const Chunks &chunks() const { return Differing; }

private:
  Chunks Differing;
};

/// The passes of one order. Keeps the first output, and which bytes others had differently.
class OutputGroup {
public:
  explicit OutputGroup(const Snapshot &before) : Before(before) {}
  void add(PassOutput output);
  bool varies() const { return !Varying.empty(); }
  /// Not empty: the snapshot could not be read, and no answer of this group means anything.
  const std::string &error() const { return Error; }

  struct Place {
    size_t region;
    uint64_t offset;
  };
  /// Whether any byte of the first outputs differs.
  static bool differ(const OutputGroup &a, const OutputGroup &b);
  /// The first byte that all passes of a agree on, and all of b, on something else.
  static std::optional<Place> firstDifference(const OutputGroup &a, const OutputGroup &b);

private:
  template <class Visit> static void visitDifferences(const OutputGroup &a, const OutputGroup &b, Visit visit);
  bool isVarying(const std::pair<size_t, uint64_t> &chunk, uint64_t at) const;

  const Snapshot &Before;
  mutable std::string Error;
  std::optional<PassOutput> First;
  std::map<std::pair<size_t, uint64_t>, std::vector<bool>> Varying;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_OUTPUT_COMPARE_H
