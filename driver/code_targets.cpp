// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "code_targets.h"

#include "file_contents.h"

#include "wavesan/abi/offload_bundle.h"

#include <algorithm>
#include <set>

namespace wavesan::driver {

std::vector<std::string> codeTargets(std::string_view bytes) {
  std::set<std::string> targets;
  for (size_t at = bytes.find(abi::kOffloadBundleMagic); at != std::string_view::npos;
       at = bytes.find(abi::kOffloadBundleMagic, at + 1))
    abi::visitBundle(bytes.substr(at), [&](std::string_view target, uint64_t, uint64_t, size_t) {
      if (!target.empty())
        targets.emplace(target);
      return true;
    });
  return {targets.begin(), targets.end()};
}

std::string missingTarget(const std::string &program, const std::vector<std::string> &targets) {
  const std::vector<std::string> there = codeTargets(contentsOf(program));
  if (there.empty())
    return {};
  std::string list;
  for (const std::string &target : there)
    list += (list.empty() ? "" : ", ") + target;
  for (const std::string &target : targets)
    if (std::find(there.begin(), there.end(), target) == there.end())
      return program + " has no code for " + target + " (only for " + list +
             "): compile it with --offload-arch=" + target + " as well";
  return {};
}

} // namespace wavesan::driver
