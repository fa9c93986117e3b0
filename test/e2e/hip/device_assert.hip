// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An assertion that fails in a kernel says where and ends the program; one that holds does nothing.
// RUN: %cc %s -o %t
// RUN: %run90a -- %t holds 2>&1 | FileCheck --check-prefix=HOLDS %s
// RUN: not --crash %run90a -- %t > %t.log 2>&1; FileCheck %s < %t.log
// HOLDS: result: ok
// CHECK: device_assert.hip:[[# @LINE + 8]]: {{.*}}positive{{.*}}: Device-side assertion `p[threadIdx.x] > 0' failed.
// CHECK-NOT: result: ok
#undef NDEBUG
#include "twin.h"

#include <cassert>

__global__ void positive(const int *p) {
  assert(p[threadIdx.x] > 0);
}

int main(int argc, char **) {
  std::vector<int> values(64, 1);
  if (argc == 1)
    values[37] = 0;
  const int *p = twin::onDevice(values);
  positive<<<1, 64>>>(p);
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  return twin::verdict(0);
}
