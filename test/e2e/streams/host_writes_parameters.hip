// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host writes mapped memory that a kernel may still read; its neighbours are nobody's.
// RUN: %streams --cc=--check-host --kind=host-race --streams=1 --targets=gfx90a,gfx1030 %s
#include "streams.h"

struct Parameters {
  int scale, unused;
};
__global__ void apply(const Parameters *p, int *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = p->scale * i;
}

int main() {
  const hipStream_t stream = twin::stream();
  Parameters *host = nullptr, *device = nullptr;
  int *out = twin::buffer();
  twin::must(hipHostMalloc(reinterpret_cast<void **>(&host), sizeof(Parameters), hipHostMallocMapped), "hipHostMalloc");
  twin::must(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0), "hipHostGetDevicePointer");
  host->scale = 2;
  LAUNCH(apply, stream, device, out); // RACE-A
  host->unused = 1;
#ifdef FIXED
  twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
#endif
  host->scale = 7; // RACE-B
  return twin::compare(twin::fromDevice(out, twin::kCount), [](size_t i) { return 2 * int(i); });
}
