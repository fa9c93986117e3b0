// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A copy from a buffer resource to LDS needs its wait before the barrier.
// RUN: %twin --hooks=native --kind=missing-wait --seeds=3 %s
#include "async.h"
#include "buffers.h"

constexpr int kSize = 256;

__global__ void mirror(int *in, int *out) {
  __shared__ int tile[kSize];
  const int t = threadIdx.x;
  const auto to = (__attribute__((address_space(3))) void *)(tile + waveStart());
  __builtin_amdgcn_raw_ptr_buffer_load_lds(bufferOf(in, kSize * 4), to, 4, t * 4, 0, 0, 0); // RACE-A
#ifdef FIXED
  WAIT_VMCNT(0);
#endif
  BARE_BARRIER();
  out[t] = tile[kSize - 1 - t]; // RACE-B
}

int main() {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  mirror<<<1, kSize>>>(in, out);
  return twin::compare(twin::fromDevice(out, kSize), [](size_t i) { return 1000 + kSize - 1 - int(i); });
}
