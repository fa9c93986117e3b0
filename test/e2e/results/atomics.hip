// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomics on LDS and on global memory: add, min, max, or, exchange, compare-and-swap loops, 32 and 64 bits, and floats.
// RUN: %clean %s
#include "twin.h"

constexpr int kThreads = 128, kGroups = 4, kItems = kThreads * kGroups;

struct Totals {
  unsigned sum, least, most, bits, squares;
  float fraction;
  unsigned long long wide;
};

__global__ void total(const unsigned *in, Totals *out, unsigned *tickets) {
  __shared__ Totals mine;
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  if (t == 0)
    mine = Totals{0, ~0u, 0, 0, 0, 0, 0};
  __syncthreads();
  unsigned value = in[i];
  atomicAdd(&mine.sum, value);
  atomicMin(&mine.least, value);
  atomicMax(&mine.most, value);
  atomicOr(&mine.bits, 1u << value % 32);
  atomicAdd(&mine.fraction, 0.25f);
  atomicAdd(&mine.wide, (unsigned long long)value << 32);
  for (unsigned old = 0;;) {
    const unsigned found = atomicCAS(&mine.squares, old, old + value * value);
    if (found == old)
      break;
    old = found;
  }
  atomicExch(&tickets[i], atomicAdd(&tickets[kItems], 1u));
  __syncthreads();
  if (t == 0) {
    atomicAdd(&out->sum, mine.sum);
    atomicMin(&out->least, mine.least);
    atomicMax(&out->most, mine.most);
    atomicOr(&out->bits, mine.bits);
    atomicAdd(&out->squares, mine.squares);
    atomicAdd(&out->fraction, mine.fraction);
    atomicAdd(&out->wide, mine.wide);
  }
}

int main() {
  std::vector<unsigned> numbers = twin::counting<unsigned>(kItems);
  Totals expected{0, ~0u, 0, 0, 0, 0, 0};
  for (unsigned n : numbers) {
    expected.sum += n;
    expected.least = std::min(expected.least, n);
    expected.most = std::max(expected.most, n);
    expected.bits |= 1u << n % 32;
    expected.squares += n * n;
    expected.fraction += 0.25f;
    expected.wide += (unsigned long long)n << 32;
  }
  auto *in = twin::onDevice(numbers), *tickets = twin::onDevice(std::vector<unsigned>(kItems + 1));
  auto *out = twin::onDevice(std::vector<Totals>{{0, ~0u, 0, 0, 0, 0, 0}});
  total<<<kGroups, kThreads>>>(in, out, tickets);
  const Totals got = twin::fromDevice(out, 1)[0];
  size_t wrong = got.sum != expected.sum || got.least != expected.least || got.most != expected.most ||
                 got.bits != expected.bits || got.squares != expected.squares || got.fraction != expected.fraction ||
                 got.wide != expected.wide;
  std::vector<bool> taken(kItems);
  for (unsigned ticket : twin::fromDevice(tickets, kItems)) {
    wrong += ticket >= unsigned(kItems) || taken[ticket % kItems];
    taken[ticket % kItems] = true;
  }
  return twin::verdict(wrong);
}
