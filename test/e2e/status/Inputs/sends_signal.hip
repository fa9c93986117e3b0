// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sends itself a signal after it has used the GPU: with an argument SIGBUS, which it ignores; else SIGSEGV.
#include "twin.h"

#include <csignal>

__global__ void set(int *to) { to[threadIdx.x] = 1; }

int main(int argc, char **) {
  if (argc > 1)
    std::signal(SIGBUS, SIG_IGN);
  int *data = twin::onDevice(std::vector<int>(64));
  set<<<1, 64>>>(data);
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  std::raise(argc > 1 ? SIGBUS : SIGSEGV);
  return twin::verdict(argc > 1 ? 0 : 1);
}
