// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who called.
#include "stream_watch.h"

#include <atomic>
#include <dlfcn.h>
#include <unwind.h>

extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start, _end;

namespace wavesan::hip {

namespace {

/// Deep enough for the program's function behind the stub of a launch and a few layers of a library.
constexpr size_t kMaxCalls = 12, kMaxSteps = 40;

struct Walk {
  uint64_t calls[kMaxCalls];
  size_t count = 0, steps = 0;
};

std::atomic<uint64_t> moreOwnBegin{0}, moreOwnBytes{0};

bool isOwn(uint64_t address) {
  return address - reinterpret_cast<uint64_t>(&__ehdr_start) <
             reinterpret_cast<uint64_t>(&_end) - reinterpret_cast<uint64_t>(&__ehdr_start) ||
         address - moreOwnBegin < moreOwnBytes;
}

_Unwind_Reason_Code step(_Unwind_Context *context, void *data) {
  auto &walk = *static_cast<Walk *>(data);
  const uint64_t address = _Unwind_GetIP(context);
  if (!address || ++walk.steps > kMaxSteps)
    return _URC_END_OF_STACK;
  if (isOwn(address)) // what has called WaveSan's code that calls the program is not the program's
    return walk.count == 0 ? _URC_NO_REASON : _URC_END_OF_STACK;
  walk.calls[walk.count++] = address;
  return walk.count < kMaxCalls ? _URC_NO_REASON : _URC_END_OF_STACK;
}

} // namespace

void setOwnCode(uint64_t begin, uint64_t end) {
  moreOwnBegin = begin;
  moreOwnBytes = end - begin;
}

streams::Calls callsToHere() {
  Walk walk;
  _Unwind_Backtrace(step, &walk);
  if (walk.count == 0)
    return nullptr;
  return std::make_shared<const std::vector<uint64_t>>(walk.calls, walk.calls + walk.count);
}

} // namespace wavesan::hip
