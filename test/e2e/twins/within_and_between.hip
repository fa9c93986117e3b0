// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A smoothing step in place. Its lines race within a workgroup as well as between workgroups: a barrier would not do, so the report shows two workgroups.
// RUN: %twin --fix "write to another array than the one that is read" %s
#include "twin.h"

constexpr int kSize = 1024;

__global__ void smooth(const int *in, int *data) {
  int i = int(blockIdx.x * blockDim.x + threadIdx.x);
#ifdef FIXED
  const int *from = in;
#else
  const int *from = data;
#endif
  data[i] = from[i] + from[i + 1 < kSize ? i + 1 : i]; // RACE-A RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *data = twin::onDevice(twin::counting<int>(kSize));
  smooth<<<kSize / 256, 256>>>(in, data);
  return twin::compare(twin::fromDevice(data, kSize), [](size_t i) { return 1000 + int(i) + 1000 + (i + 1 < kSize ? int(i) + 1 : int(i)); });
}
