// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two waves compute the same value and store it: an error like any other, with the remark that memory
// held the value already (hooks=native: the device runtime sees no values).
// RUN: %twin --hooks=native,device %s
// RUN: env WAVESAN_OPTIONS=json_path=%t.json:sarif_path=%t.sarif:junit_path=%t.xml %status 66 %run90a -- %t.racy 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: %check_formats %t.json %t.sarif %t.xml
// RUN: FileCheck --check-prefix=JSON %s < %t.json
// RUN: env WAVESAN_OPTIONS=hooks=device %status 66 %run90a -- %t.racy 2>&1 | FileCheck --check-prefix=NONE %s
// SAME: wavesan: race: LDS write-write
// SAME: the bytes held this value already each time that a second store came
// JSON: "class": "race"
// JSON: "severity": "error"
// JSON: "valueHeld": true
// NONE: wavesan: race: LDS write-write
// NONE-NOT: held this value
#include "twin.h"

constexpr int kThreads = 128, kSlots = 64;

__global__ void tile(const int *in, int *out) {
  __shared__ int slot[kSlots];
  int t = threadIdx.x;
  if (t < kSlots)
    slot[t] = in[t] * 3; // RACE-A
  BARRIER_IF_FIXED();
  if (t >= kSlots)
    slot[t - kSlots] = in[t] * 3 - 3 * kSlots; // RACE-B
  __syncthreads();
  out[t] = slot[t % kSlots];
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads)), *out = twin::onDevice(std::vector<int>(kThreads));
  tile<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t i) { return int(3 * (1000 + i % kSlots)); });
}
