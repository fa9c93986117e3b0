// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs with races between commands share.
#ifndef WAVESAN_TEST_E2E_STREAMS_H
#define WAVESAN_TEST_E2E_STREAMS_H

#include "twin.h"

namespace twin {

inline constexpr int kCount = 1 << 12, kGroup = 256;
inline constexpr size_t kBytes = kCount * sizeof(int);

__global__ void set(int *to, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = value + i;
}
__global__ void add(const int *from, int *to, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i] + value;
}

inline hipStream_t stream(unsigned flags = hipStreamNonBlocking) {
  hipStream_t s;
  must(hipStreamCreateWithFlags(&s, flags), "hipStreamCreateWithFlags");
  return s;
}
inline hipEvent_t event() {
  hipEvent_t e;
  must(hipEventCreateWithFlags(&e, hipEventDisableTiming), "hipEventCreateWithFlags");
  return e;
}
inline int *buffer() {
  int *memory = nullptr;
  must(hipMalloc(&memory, kBytes), "hipMalloc");
  return memory;
}
inline int *pinned() {
  int *memory = nullptr;
  must(hipHostMalloc(reinterpret_cast<void **>(&memory), kBytes, hipHostMallocDefault), "hipHostMalloc");
  return memory;
}
/// After everything else: element i must be value + i.
inline int expectCounting(const int *memory, int value) {
  return compare(fromDevice(memory, kCount), [=](size_t i) { return value + int(i); });
}

} // namespace twin

#define LAUNCH(Kernel, Stream, ...) Kernel<<<twin::kCount / twin::kGroup, twin::kGroup, 0, Stream>>>(__VA_ARGS__)

#endif // WAVESAN_TEST_E2E_STREAMS_H
