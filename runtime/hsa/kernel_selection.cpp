// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_selection.h"

namespace wavesan::hsa {

bool KernelSelection::selects(const std::string &display, const std::string &linkage) {
  if (Filter.empty())
    return true;
  std::lock_guard lock(Mutex);
  for (size_t glob : Filter.matching(display, linkage))
    Used[glob] = true;
  return Filter.accepts(display, linkage);
}

std::vector<std::string> KernelSelection::unusedGlobs() const {
  std::lock_guard lock(Mutex);
  std::vector<std::string> out;
  for (size_t glob = 0; glob < Used.size(); ++glob)
    if (!Used[glob])
      out.push_back(Filter.text(glob));
  return out;
}

} // namespace wavesan::hsa
