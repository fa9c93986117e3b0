// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the arguments of HIP calls say about memory: which bytes a copy or a fill touches, and which memory there is.
#ifndef WAVESAN_HIP_COMMAND_RANGES_H
#define WAVESAN_HIP_COMMAND_RANGES_H

#include "call_arguments.h"

#include "command_checker.h"
#include "host_aliases.h"

#include <map>

namespace wavesan::hip {

/// Memory that HIP calls have allocated or registered. Not thread-safe.
class KnownMemory {
public:
  void add(const void *begin, uint64_t bytes) {
    if (begin && bytes)
      Blocks[reinterpret_cast<uint64_t>(begin)] = bytes;
  }
  /// Bytes of the block that begins there; 0: none known. The block is forgotten.
  uint64_t take(const void *begin) {
    auto node = Blocks.extract(reinterpret_cast<uint64_t>(begin));
    return node ? node.mapped() : 0;
  }
  uint64_t sizeOf(const void *begin) const {
    auto it = Blocks.find(reinterpret_cast<uint64_t>(begin));
    return it == Blocks.end() ? 0 : it->second;
  }
  /// By the host's or the device's address.
  bool contains(const void *address) const {
    const uint64_t a = aliases.hostAddress(reinterpret_cast<uint64_t>(address));
    auto it = Blocks.upper_bound(a);
    return it != Blocks.begin() && a - std::prev(it)->first < std::prev(it)->second;
  }
  /// Whether a block has some of these bytes.
  bool intersects(uint64_t begin, uint64_t bytes) const {
    auto it = Blocks.lower_bound(begin + bytes);
    return it != Blocks.begin() && std::prev(it)->first + std::prev(it)->second > begin;
  }
  void clear() { Blocks.clear(); }

  HostAliases aliases;

private:
  std::map<uint64_t, uint64_t> Blocks; ///< first byte -> bytes
};

struct CommandRanges {
  std::vector<streams::Range> ranges;
  bool complete = true; ///< false: it touches more than these
  /// Host memory that is not pinned: HIP performs the copy synchronously.
  bool pageable = false;
};

/// Of a call of category Copy or Set.
CommandRanges rangesOf(CallId, const CallArguments &, const KnownMemory &);

/// What a successful call of category Allocate has allocated; begin == end: not known.
streams::Range allocatedBy(CallId, const CallArguments &);

/// Whether a copy or a fill has ended when the call returns, by the function's documentation.
bool isSynchronous(CallId);

struct LaunchArguments {
  abi::DispatchShapeSeen shape{}; ///< grid and workgroup, in work-items; zeros: not known
  uint32_t groupBytes = 0;        ///< of LDS, beside the kernel's own
};
/// Of the kernel that the call launches.
LaunchArguments launchArgumentsOf(CallId, const CallArguments &);

} // namespace wavesan::hip

#endif // WAVESAN_HIP_COMMAND_RANGES_H
