// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program without kernels: its copies and fills are compared, so that it has a verdict.
// RUN: %streams --reports=1 %s
// RUN: %run90a -- %t.fixed 2> %t.err
// RUN: FileCheck %s < %t.err
// RUN: %cc -DONE %s -o %t.one
// RUN: %run90a -- %t.one 2> %t.one.err
// RUN: FileCheck %s --check-prefix=ONE < %t.one.err
// RUN: %cc -DNONE %s -o %t.none
// RUN: %status 67 %run90a -- %t.none 2> %t.none.err
// RUN: FileCheck %s --check-prefix=NONE < %t.none.err
// CHECK-NOT: nothing was checked
// CHECK: wavesan: checked 0 accesses in 0 kernels: 0 races, {{[0-9]+}} commands in 3 streams compared
// ONE-NOT: nothing was checked
// ONE: wavesan: checked 0 accesses in 0 kernels: 0 races, {{[0-9]+}} commands in 1 stream compared
// NONE: wavesan: nothing was checked: the program ran no kernel
#include "streams.h"

int main() {
#ifdef NONE
  int devices = 0;
  twin::must(hipGetDeviceCount(&devices), "hipGetDeviceCount");
  return twin::verdict(devices != 1 || hipDeviceSynchronize() != hipSuccess);
#else
  int *data = twin::buffer(), *out = twin::pinned();
#ifdef ONE
  const hipStream_t first = nullptr, second = nullptr;
#else
  const hipStream_t first = twin::stream(), second = twin::stream();
#endif
  twin::must(hipMemset(data, 1, twin::kBytes), "hipMemset");
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  twin::must(hipMemsetAsync(data, 2, twin::kBytes, first), "hipMemsetAsync"); // RACE-A
#ifdef FIXED
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
#endif
  twin::must(hipMemcpyAsync(out, data, twin::kBytes, hipMemcpyDeviceToHost, second), "hipMemcpyAsync"); // RACE-B
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  return twin::verdict(out[0] != 0x02020202);
#endif
}
