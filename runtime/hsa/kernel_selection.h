// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kernels the user wants checked: the option `kernels`.
#ifndef WAVESAN_HSA_KERNEL_SELECTION_H
#define WAVESAN_HSA_KERNEL_SELECTION_H

#include "wavesan/report/name_filter.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// Why a kernel that is not selected runs unchecked, in the words of the summary.
inline constexpr char kFilteredReason[] = "filtered (option kernels)";

/// Thread-safe.
class KernelSelection {
public:
  explicit KernelSelection(const std::string &option) : Filter(option), Used(Filter.size()) {}
  /// Asked once for each loaded kernel.
  bool selects(const std::string &display, const std::string &linkage);
  /// Globs that matched none of the kernels so far: probably misspelt.
  std::vector<std::string> unusedGlobs() const;

private:
  const report::KernelFilter Filter;
  mutable std::mutex Mutex;
  std::vector<bool> Used;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_KERNEL_SELECTION_H
