// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stack can be registered, too.
// RUN: %streams --cc=--check-host --kind=host-race --streams=1 %s
#include "streams.h"

int main() {
  alignas(4096) int host[2 * twin::kCount];
  const hipStream_t stream = twin::stream(hipStreamDefault);
  int *device = nullptr;
  twin::must(hipHostRegister(host, sizeof host, hipHostRegisterDefault), "hipHostRegister");
  twin::must(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0), "hipHostGetDevicePointer");
  LAUNCH(twin::set, stream, device, 5); // RACE-A
#ifdef FIXED
  twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
  LAUNCH(twin::set, stream, device + twin::kCount, 6); // something is under way all the same
#endif
  size_t wrong = 0;
  for (int i = 0; i < twin::kCount; ++i)
    wrong += host[i] != 5 + i; // RACE-B
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  twin::must(hipHostUnregister(host), "hipHostUnregister");
  return twin::verdict(wrong);
}
