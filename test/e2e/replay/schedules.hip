// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of a replay with schedules of their own, and what each touched: a kernel whose result depends on the order of its workgroups shows several
// results, one whose does not shows one.
// RUN: %cc %s -o %t
// RUN: %build_tool %S/Inputs/schedules.c -o %t.so
// RUN: %status 66 %run90a --seed=20 -o tool=%t.so -- %t > %t.out90
// RUN: FileCheck --input-file=%t.out90 %s
// RUN: %status 66 %run1030 --seed=20 -o tool=%t.so -- %t > %t.out10
// RUN: FileCheck --input-file=%t.out10 %s
//
// Contexts: race check 1, digest 4, schedule 8, access trace 16. Eight workgroups of 64 write an int each thread, read one, and count with an atomic.
// CHECK: tool: _Z5placePi pass 0 seed 20 contexts 29 wrote 2048 read 0 atomic 4 lost 0 line [[#PLACE:]]
// CHECK: tool: _Z5placePi pass 4 seed 24 contexts 29 wrote 2048 read 0 atomic 4 lost 0 line [[#PLACE]]
// CHECK: tool: _Z5placePi pass 5 seed 25 contexts 13 wrote 0 read 0 atomic 0 lost 0 line 0
// CHECK: tool: _Z5placePi: outputs differ
// CHECK: tool: _Z6squarePKiPi pass 0 seed 20 contexts 29 wrote 2048 read 2048 atomic 0 lost 0
// CHECK: tool: _Z6squarePKiPi: one output
// CHECK: tool: _Z4lastPi: outputs differ
// CHECK: result: ok
#include "twin.h"

constexpr int kGroups = 8, kSize = 64;

/// The order of tickets is that of the workgroups.
__global__ void place(int *data) {
  __shared__ int ticket;
  if (threadIdx.x == 0)
    ticket = atomicAdd(&data[kGroups * kSize], 1);
  __syncthreads();
  data[blockIdx.x * kSize + threadIdx.x] = ticket;
}

__global__ void square(const int *in, int *out) {
  int i = blockIdx.x * kSize + threadIdx.x;
  out[i] = in[i] * in[i];
}

__global__ void last(int *data) {
  if (threadIdx.x == 0)
    data[0] = int(blockIdx.x);
}

int main() {
  int *tickets = twin::onDevice(std::vector<int>(kGroups * kSize + 1)), *in = twin::onDevice(twin::counting<int>(kGroups * kSize)),
      *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  place<<<kGroups, kSize>>>(tickets);
  square<<<kGroups, kSize>>>(in, out);
  std::vector<int> squares = twin::fromDevice(out, kGroups * kSize);
  last<<<kGroups, kSize>>>(out);
  int sum = 0;
  for (int i : twin::fromDevice(tickets, kGroups * kSize))
    sum += i;
  if (sum != kSize * kGroups * (kGroups - 1) / 2)
    return std::printf("sum %d\n", sum), 1;
  return twin::compare(squares, [](size_t i) { return int((1000 + i) * (1000 + i)); });
}
