// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program built for default streams per thread: stream 0 is another one in each thread.
//
// RUN: %cc -fgpu-default-stream=per-thread %s -o %t -pthread
// RUN: %trace -o %t.trace -- %t | FileCheck %s
// RUN: %check_trace %t.trace hipStreamWaitEvent_spt=resolved hipLaunchKernel_spt#2 hipStreamSynchronize_spt=resolved
// CHECK: result: ok
//
// RUN: grep -c '"type":"per_thread_default"' %t.trace.json | FileCheck --check-prefix=STREAMS %s
// STREAMS: 2
#include "twin.h"

#include <thread>

// HIP 5.2.3's header renames it, and its library does not have that function.
#undef hipEventRecord
extern "C" hipError_t hipEventRecord(hipEvent_t, hipStream_t);

__global__ void add(int *data, int value) { data[threadIdx.x] += value; }

int main() {
  constexpr int kThreads = 64;
  hipEvent_t event;
  int *data, seen[kThreads] = {};
  twin::must(hipMalloc(&data, sizeof seen), "hipMalloc");
  twin::must(hipMemcpy(data, seen, sizeof seen, hipMemcpyHostToDevice), "hipMemcpy");
  twin::must(hipEventCreate(&event), "hipEventCreate");
  add<<<1, kThreads>>>(data, 1);
  twin::must(hipEventRecord(event, hipStreamPerThread), "hipEventRecord");
  std::thread([&] {
    twin::must(hipStreamWaitEvent(nullptr, event, 0), "hipStreamWaitEvent");
    add<<<1, kThreads>>>(data, 2);
    twin::must(hipStreamSynchronize(nullptr), "hipStreamSynchronize");
  }).join();
  twin::must(hipMemcpy(seen, data, sizeof seen, hipMemcpyDeviceToHost), "hipMemcpy");
  for (int value : seen)
    if (value != 3)
      return 1;
  std::puts("result: ok");
}
