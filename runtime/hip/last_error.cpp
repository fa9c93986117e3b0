// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "last_error.h"

#include "hip_types.h"
#include "real_hip.h"

#include <atomic>
#include <utility>

namespace wavesan::hip {

namespace {

/// Of calls that were taken: not asked for yet.
thread_local int pending = kHipSuccess;

using Ask = int();

/// Success where there is no HIP.
int ask(std::atomic<Ask *> &real, const char *symbol) {
  Ask *function = real.load(std::memory_order_acquire);
  if (!function) {
    bool final = false;
    function = reinterpret_cast<Ask *>(findRealFunction(symbol, final));
    real.store(function, std::memory_order_release);
  }
  return function ? function() : int(kHipSuccess);
}

std::atomic<Ask *> realGet, realPeek;
int get() { return ask(realGet, "hipGetLastError"); }
int peek() { return ask(realPeek, "hipPeekAtLastError"); }

} // namespace

TakenCall::TakenCall() : Before(peek()) {}

void TakenCall::taken(int result) const {
  get();
  if (result != kHipSuccess)
    pending = result;
  else if (Before != kHipSuccess)
    pending = Before;
}

// HIP's own error comes first: when a call is taken HIP's is cleared, so it is newer.

extern "C" __attribute__((visibility("default"))) int hipGetLastError() {
  const int taken = std::exchange(pending, int(kHipSuccess));
  const int real = get();
  return real != kHipSuccess ? real : taken;
}

extern "C" __attribute__((visibility("default"))) int hipPeekAtLastError() {
  const int real = peek();
  return real != kHipSuccess ? real : pending;
}

} // namespace wavesan::hip
