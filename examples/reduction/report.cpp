// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host's last word.
#include "report.h"

#include <cstdio>

#ifdef __HIP__
#error "plain C++ was compiled as HIP"
#endif

int reportSum(long long total, long long expected) {
  std::printf("reduction: the sum is %lld, expected %lld\n", total, expected);
  return total == expected ? 0 : 1;
}
