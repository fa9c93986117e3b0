// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "code_targets.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

namespace wavesan::driver {

namespace {

constexpr std::string_view kMagic = "__CLANG_OFFLOAD_BUNDLE__";

uint64_t numberAt(std::string_view bytes, size_t at) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" -> "gfx90a"; empty for entries of the host.
std::string targetOf(std::string_view id) {
  const size_t begin = id.rfind("gfx");
  if (id.find("amdgcn") == std::string_view::npos || begin == std::string_view::npos)
    return {};
  std::string_view name = id.substr(begin);
  return std::string(name.substr(0, name.find(':')));
}

/// The entries of a bundle that begins at `at`: offset, size, length of the id, id.
void readBundle(std::string_view bytes, size_t at, std::set<std::string> &targets) {
  constexpr uint64_t kMostEntries = 256, kLongestId = 256;
  size_t next = at + kMagic.size();
  if (bytes.size() - next < 8)
    return;
  const uint64_t entries = std::min(numberAt(bytes, next), kMostEntries);
  next += 8;
  for (uint64_t i = 0; i < entries && bytes.size() - next >= 24; ++i) {
    const uint64_t length = numberAt(bytes, next + 16);
    next += 24;
    if (length > kLongestId || length > bytes.size() - next)
      return;
    if (std::string target = targetOf(bytes.substr(next, length)); !target.empty())
      targets.insert(target);
    next += length;
  }
}

} // namespace

std::vector<std::string> codeTargets(std::string_view bytes) {
  std::set<std::string> targets;
  for (size_t at = bytes.find(kMagic); at != std::string_view::npos; at = bytes.find(kMagic, at + 1))
    readBundle(bytes, at, targets);
  return {targets.begin(), targets.end()};
}

std::string missingTarget(const std::string &program, const std::vector<std::string> &targets) {
  std::ifstream in(program, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::vector<std::string> there = codeTargets(bytes);
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
