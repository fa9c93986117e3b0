// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables of the device: sizes, addresses, copies of parts in both directions, structures in __constant__, a variable that points at another, and
// initial values. Each is one variable for all kernels and dispatches.
// RUN: %cc %s -o %t
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// RUN: %run1030 -- %t 2>&1 | FileCheck %s
// CHECK-DAG: result: ok
// CHECK-DAG: 0 races
#include "twin.h"

#include <cstddef>

struct Setting {
  char kind;
  double scale;
  short shift[3];
};
__constant__ Setting settings[4] = {{'a', 0.5, {1, 2, 3}}, {'b', 2, {4, 5, 6}}};
__device__ int table[100] = {7, 8, 9};
__device__ int *pointer = table + 1;
__device__ unsigned long long counter;
namespace {
__device__ float hidden = 1.25f;
}

__global__ void use(double *out) {
  const int i = threadIdx.x;
  const Setting &s = settings[i % 4];
  out[i] = s.scale * (s.kind + s.shift[i % 3]) + table[i] + *pointer + hidden;
  atomicAdd(&counter, 2ull);
}
__global__ void change() {
  table[threadIdx.x] += 100;
  if (threadIdx.x == 0) {
    pointer = table + 50;
    hidden = 3;
  }
}

int main() {
  size_t wrong = 0, bytes = 0;
  int *at = nullptr, *pointsAt = nullptr;
  twin::must(hipGetSymbolSize(&bytes, HIP_SYMBOL(table)), "hipGetSymbolSize");
  wrong += bytes != 400;
  twin::must(hipGetSymbolAddress(reinterpret_cast<void **>(&at), HIP_SYMBOL(table)), "hipGetSymbolAddress");
  twin::must(hipMemcpyFromSymbol(&pointsAt, HIP_SYMBOL(pointer), sizeof pointsAt), "hipMemcpyFromSymbol");
  wrong += pointsAt != at + 1;
  const Setting last[2] = {{'c', -1, {7, 8, 9}}, {'d', 10, {0, -1, -2}}};
  twin::must(hipMemcpyToSymbol(HIP_SYMBOL(settings), last, sizeof last, 2 * sizeof(Setting), hipMemcpyHostToDevice), "hipMemcpyToSymbol");
  const int forty[] = {40, 41};
  twin::must(hipMemcpyToSymbol(HIP_SYMBOL(table), forty, sizeof forty, 40 * sizeof(int)), "hipMemcpyToSymbol");
  Setting all[4] = {{'a', 0.5, {1, 2, 3}}, {'b', 2, {4, 5, 6}}, last[0], last[1]};
  std::vector<int> expected(100);
  expected[0] = 7, expected[1] = 8, expected[2] = 9, expected[40] = 40, expected[41] = 41;
  int target = 1;
  float hiddenNow = 1.25f;
  double *out = twin::onDevice(std::vector<double>(64));
  for (int round = 0; round < 3; ++round) {
    use<<<1, 64>>>(out);
    const std::vector<double> values = twin::fromDevice(out, 64);
    for (int i = 0; i < 64; ++i) {
      const Setting &s = all[i % 4];
      wrong += values[i] != s.scale * (s.kind + s.shift[i % 3]) + expected[i] + expected[target] + hiddenNow;
    }
    change<<<1, 100>>>();
    for (int &e : expected)
      e += 100;
    target = 50;
    hiddenNow = 3;
  }
  std::vector<int> read(100);
  twin::must(hipMemcpy(read.data(), at, 400, hipMemcpyDeviceToHost), "hipMemcpy");
  wrong += read != expected;
  int part[3] = {};
  twin::must(hipMemcpyFromSymbol(part, HIP_SYMBOL(table), sizeof part, 39 * sizeof(int)), "hipMemcpyFromSymbol");
  wrong += part[0] != expected[39] || part[1] != expected[40] || part[2] != expected[41];
  unsigned long long count = 0;
  twin::must(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count), "hipMemcpyFromSymbol");
  wrong += count != 3 * 64 * 2;
  return twin::verdict(wrong);
}
