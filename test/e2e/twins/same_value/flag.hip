// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waves set one flag in two places, both to 1: a note, which is no reason for the exit status.
// RUN: %twin --note --hooks=native,device %s
// RUN: %twin --warning --hooks=native,device --options=same_value=warning %s
// RUN: %twin --hooks=native,device --options=same_value=error %s
// RUN: env WAVESAN_OPTIONS=same_value=off %status 0 %run90a -- %t.racy 2>&1 | FileCheck --check-prefix=OFF %s
// RUN: env WAVESAN_OPTIONS=json_path=%t.json:sarif_path=%t.sarif:junit_path=%t.xml %status 0 %run90a -- %t.racy 2>&1 | FileCheck --check-prefix=NOTE %s
// RUN: %check_formats %t.json %t.sarif %t.xml
// OFF: wavesan: 1 race suppressed by option same_value=off
// OFF-NEXT: wavesan: checked {{.*}} accesses in 1 kernels: 0 races{{$}}
// NOTE: wavesan: note: race: LDS write-write
// NOTE: nothing orders them, but both always write the same value
// NOTE: wavesan: checked {{.*}} accesses in 1 kernels: 0 races, 1 notes
#include "twin.h"

constexpr int kThreads = 128;

__global__ void search(const int *in, int *out) {
  __shared__ int found;
  int t = threadIdx.x;
  if (t == 0)
    found = 0; // behind a barrier of their own, other values do no harm
  __syncthreads();
  if (t < 64 && in[t] == 1003)
    found = 1; // RACE-A
  BARRIER_IF_FIXED();
  if (t >= 64 && in[t] == 1070)
    found = 1; // RACE-B
  __syncthreads();
  out[t] = found;
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kThreads)), *out = twin::onDevice(std::vector<int>(kThreads));
  search<<<1, kThreads>>>(in, out);
  return twin::compare(twin::fromDevice(out, kThreads), [](size_t) { return 1; });
}
