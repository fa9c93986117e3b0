// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of an offload bundle as clang-offload-bundler documents it: magic, number of entries, then for each its
// offset from the magic, its size, the length of its id, and the id; 64-bit little-endian numbers.
#ifndef WAVESAN_ABI_OFFLOAD_BUNDLE_H
#define WAVESAN_ABI_OFFLOAD_BUNDLE_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace wavesan::abi {

inline constexpr std::string_view kOffloadBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";

/// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" -> "gfx90a"; empty for entries of the host and for what is no name (a file
/// may hold anything; messages are one line).
inline std::string_view targetOfBundleId(std::string_view id) {
  const size_t at = id.rfind("-gfx");
  if (id.find("amdgcn") == std::string_view::npos || at == std::string_view::npos)
    return {};
  id = id.substr(at + 1);
  id = id.substr(0, id.find(':'));
  const bool isName = std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
  return isName ? id : std::string_view();
}

/// Calls `visit(target, offset, size, end of the table so far)` for each entry of the bundle whose magic is at the
/// start of `bytes`, until it returns false. Offset and size are as the file says. False if the visitor ended it, or
/// the table ends before its time.
template <class Visit> bool visitBundle(std::string_view bytes, Visit &&visit) {
  size_t at = kOffloadBundleMagic.size();
  const auto number = [&](uint64_t &value) {
    if (bytes.size() - at < sizeof value)
      return false;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return true;
  };
  uint64_t count, offset, size, idBytes;
  if (!number(count))
    return false;
  for (uint64_t i = 0; i < count; ++i) {
    if (!number(offset) || !number(size) || !number(idBytes) || idBytes > bytes.size() - at)
      return false;
    const std::string_view target = targetOfBundleId(bytes.substr(at, idBytes));
    at += idBytes;
    if (!visit(target, offset, size, at))
      return false;
  }
  return true;
}

} // namespace wavesan::abi

#endif // WAVESAN_ABI_OFFLOAD_BUNDLE_H
