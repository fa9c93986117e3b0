// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that is freed and allocated again has no past; thousands of dispatches need little memory.
// RUN: %streams --only-clean %s
#include "streams.h"

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  for (int round = 0; round < 50; ++round) {
    int *data = twin::buffer();
    LAUNCH(twin::set, round % 2 ? first : second, data, round);
    twin::must(hipFree(data), "hipFree"); // waits for the device
  }
  int *out = twin::buffer();
  for (int round = 0; round < 500; ++round) {
    twin::set<<<1, 64, 0, round % 2 ? first : second>>>(out, round);
    twin::must(hipStreamSynchronize(round % 2 ? first : second), "hipStreamSynchronize");
  }
  return twin::compare(twin::fromDevice(out, 64), [](size_t i) { return 499 + int(i); });
}
