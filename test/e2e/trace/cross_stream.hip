// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A wait between two streams and one of the host: every wait names an earlier record in another stream.
//
// RUN: %cc %s -o %t
// RUN: %trace -o %t.trace -- %t | FileCheck %s
// RUN: %check_trace %t.trace cross hipStreamWaitEvent=resolved hipEventSynchronize=resolved,resolved
// RUN: %check_trace %t.trace hipStreamSynchronize=resolved hipEventQuery=resolved hipStreamQuery=resolved
// RUN: %check_trace %t.trace hipLaunchKernel#2 hipEventRecord#2 hipEventSynchronize@1,1
// CHECK: result: ok
//
// The older form is what it was.
// RUN: %trace --columns=7 -o %t.seven -- %t && head -1 %t.seven.csv | FileCheck --check-prefix=SEVEN %s
// SEVEN: {{^}}"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"{{$}}
#include "twin.h"

__global__ void add(int *data, int value) { data[threadIdx.x] += value; }

int main() {
  constexpr int kThreads = 64;
  hipStream_t first, second;
  hipEvent_t added, done;
  int *data, seen[kThreads];
  twin::must(hipMalloc(&data, sizeof seen), "hipMalloc");
  twin::must(hipMemset(data, 0, sizeof seen), "hipMemset");
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  twin::must(hipStreamCreateWithFlags(&first, hipStreamNonBlocking), "hipStreamCreateWithFlags");
  twin::must(hipStreamCreateWithFlags(&second, hipStreamNonBlocking), "hipStreamCreateWithFlags");
  twin::must(hipEventCreate(&added), "hipEventCreate");
  twin::must(hipEventCreateWithFlags(&done, hipEventDisableTiming), "hipEventCreateWithFlags");
  add<<<1, kThreads, 0, first>>>(data, 1);
  twin::must(hipEventRecord(added, first), "hipEventRecord");
  twin::must(hipStreamWaitEvent(second, added, 0), "hipStreamWaitEvent");
  add<<<1, kThreads, 0, second>>>(data, 2);
  twin::must(hipEventRecord(done, second), "hipEventRecord");
  twin::must(hipEventSynchronize(done), "hipEventSynchronize");
  twin::must(hipEventSynchronize(added), "hipEventSynchronize");
  twin::must(hipEventQuery(done), "hipEventQuery");
  twin::must(hipStreamQuery(second), "hipStreamQuery");
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
  twin::must(hipMemcpy(seen, data, sizeof seen, hipMemcpyDeviceToHost), "hipMemcpy");
  for (int value : seen)
    if (value != 3)
      return 1;
  twin::must(hipEventDestroy(added), "hipEventDestroy");
  twin::must(hipEventDestroy(done), "hipEventDestroy");
  twin::must(hipStreamDestroy(first), "hipStreamDestroy");
  twin::must(hipStreamDestroy(second), "hipStreamDestroy");
  twin::must(hipFree(data), "hipFree");
  std::puts("result: ok");
}
