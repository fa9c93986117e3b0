// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a pass of a kernel replay touched in global memory, by source line (context ACCESS_TRACE).
#ifndef WAVESAN_HSA_ACCESS_TRACE_H
#define WAVESAN_HSA_ACCESS_TRACE_H

#include "kernel_table.h"

#include "wavesan/abi/stream_check.h"
#include "wavesan/kernel_replay.h"

#include <set>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// Of one pass. Must live until the dispatch has ended.
class AccessTrace : abi::AccessSink {
public:
  /// For DispatchContext::accessSink. `next`: a sink that gets the same; 0: none.
  uint64_t sink(uint64_t next) {
    Next = reinterpret_cast<abi::AccessSink *>(next);
    return reinterpret_cast<uint64_t>(static_cast<abi::AccessSink *>(this));
  }
  AccessTrace() : abi::AccessSink{taken} {}
  AccessTrace(const AccessTrace &) = delete;
  AccessTrace &operator=(const AccessTrace &) = delete;

  /// True once the dispatch has said what it touched.
  bool complete() const { return Complete; }
  uint64_t lost() const { return Lost; }
  /// In the order of addresses. Points into this object.
  const std::vector<wavesan_access_t> &accesses(const Kernel &kernel);

private:
  static void taken(abi::AccessSink *sink, const abi::DispatchAccesses *accesses);

  abi::AccessSink *Next = nullptr;
  bool Complete = false;
  uint64_t Lost = 0;
  std::vector<abi::AccessRun> Runs;
  std::vector<wavesan_access_t> Accesses;
  std::set<std::string, std::less<>> Files;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_ACCESS_TRACE_H
