// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ballots: stream compaction. Each wave ranks its lanes by ballot and mbcnt, one lane reserves room for all of them.
// RUN: %clean --hooks=native %s
#include "twin.h"

#include <algorithm>

constexpr int kThreads = 128, kGroups = 6, kSize = kThreads * kGroups;

__global__ void compact(const int *in, int *out, unsigned *count, int *votes) {
  int i = blockIdx.x * kThreads + threadIdx.x, value = in[i];
  bool keep = value % 3 == 0;
  unsigned long long chosen = __ballot(keep);
  unsigned rank = __builtin_amdgcn_mbcnt_hi(unsigned(chosen >> 32), __builtin_amdgcn_mbcnt_lo(unsigned(chosen), 0));
  unsigned base = 0;
  if (keep && rank == 0)
    base = atomicAdd(count, unsigned(__popcll(chosen)));
  if (keep) {
    base = __builtin_amdgcn_readfirstlane(base);
    out[base + rank] = value;
  }
  votes[i] = (__any(value == 1000) ? 1 : 0) + (__all(value >= 1000) ? 2 : 0);
}

int main() {
  std::vector<int> numbers, expected;
  for (int i = 0; i < kSize; ++i)
    numbers.push_back(1000 + i);
  for (int n : numbers)
    if (n % 3 == 0)
      expected.push_back(n);
  int *in = twin::onDevice(numbers), *out = twin::onDevice(std::vector<int>(kSize)), *votes = twin::onDevice(std::vector<int>(kSize));
  unsigned *count = twin::onDevice(std::vector<unsigned>(1));
  compact<<<kGroups, kThreads>>>(in, out, count, votes);
  const unsigned found = twin::fromDevice(count, 1)[0];
  std::vector<int> kept = twin::fromDevice(out, found), voted = twin::fromDevice(votes, kSize);
  std::sort(kept.begin(), kept.end()); // the order of waves is nobody's promise
  size_t wrong = kept != expected;
  for (int i = 0; i < kSize; ++i)
    wrong += voted[i] < 2 || (i == 0 && voted[i] != 3) || (i >= kThreads && voted[i] != 2);
  return twin::verdict(wrong);
}
