// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checked kernels of many workgroups: clean ones, and ones whose workgroups race for what decides where they go and
// what they store. Every kernel runs several times. Prints what is in memory behind each dispatch.
#include "twin.h"

#include <string>

constexpr unsigned kGroups = 48, kThreads = 128, kCount = kGroups * kThreads;

__global__ void neighbours(const unsigned *in, unsigned *out) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = in[(i + 1) % kCount] * 3 + in[(i + kCount - 1) % kCount] + in[i] / 5;
}

__global__ void tiles(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[kThreads];
  const unsigned t = threadIdx.x;
  unsigned sum = 0;
  for (unsigned k = 0; k < 8; ++k) {
    tile[t] = in[(blockIdx.x * 8 + k) % kGroups * kThreads + t];
    __syncthreads();
    sum = sum * 31 + tile[kThreads - 1 - t] + tile[(7 * t + k) % kThreads];
    __syncthreads();
  }
  out[blockIdx.x * kThreads + t] = sum;
}

// In place, each workgroup on its own part, read and written again and again.
__global__ void inPlace(unsigned *memory) {
  unsigned *mine = memory + blockIdx.x * kThreads;
  const unsigned t = threadIdx.x;
  for (unsigned k = 0; k < 40; ++k) {
    const unsigned v = mine[(t + k) % kThreads];
    __syncthreads();
    mine[t] = v * 1664525 + k;
    __syncthreads();
  }
}

__global__ void oneLine(const unsigned *in, unsigned *out) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  out[i % 16] = in[i];
}

// The next element that a work-item looks at is one that another one may have stored.
__global__ void wander(unsigned *memory) {
  unsigned at = blockIdx.x * kThreads + threadIdx.x;
  for (unsigned k = 0; k < 6; ++k) {
    const unsigned v = memory[at % kCount];
    if (v % 3 == 0)
      memory[(at + v) % kCount] = v + k;
    at = v;
  }
}

// How often a work-item goes round depends on what workgroups race for.
__global__ void goRound(unsigned *memory, unsigned *rounds) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  unsigned n = 0;
  while (n < 64 && memory[(i * 17 + n) % kCount] % 16 != 3)
    memory[(i + n++) % kCount] += 5;
  rounds[i] = n;
}

__device__ unsigned inModule[kCount];

__global__ void toModule(const unsigned *in) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  inModule[i] = in[kCount - 1 - i] ^ i;
}

__global__ void ldsRace(const unsigned *in, unsigned *out) {
  __shared__ unsigned s[kThreads];
  const unsigned t = threadIdx.x, i = blockIdx.x * kThreads + t;
  s[t] = in[i];
  out[i] = s[kThreads - 1 - t];
}

static std::vector<unsigned> numbers(unsigned seed) {
  std::vector<unsigned> values;
  for (unsigned i = 0; i < kCount; ++i)
    values.push_back((i + seed) * 2654435761u >> 5);
  return values;
}

template <class F> static void show(const char *name, F launch) {
  for (unsigned round = 0; round < 5; ++round) {
    unsigned *a = twin::onDevice(numbers(round)), *b = twin::onDevice(numbers(round + 7));
    launch(a, b);
    unsigned long long sum = 0;
    for (unsigned *memory : {a, b}) {
      for (unsigned v : twin::fromDevice(memory, kCount))
        sum = (sum ^ v) * 1099511628211ull;
      twin::must(hipFree(memory), "hipFree");
    }
    std::printf("%s %u: %016llx\n", name, round, sum);
  }
}

int main(int, char **argv) {
  const std::string what = argv[1];
  if (what == "clean") {
    show("neighbours", [](unsigned *a, unsigned *b) { neighbours<<<kGroups, kThreads>>>(a, b); });
    show("tiles", [](unsigned *a, unsigned *b) { tiles<<<kGroups, kThreads>>>(a, b); });
    show("inPlace", [](unsigned *a, unsigned *) { inPlace<<<kGroups, kThreads>>>(a); });
    show("toModule", [](unsigned *a, unsigned *b) {
      toModule<<<kGroups, kThreads>>>(a);
      twin::must(hipMemcpyFromSymbol(b, HIP_SYMBOL(inModule), kCount * sizeof(unsigned), 0, hipMemcpyDeviceToDevice),
                 "hipMemcpyFromSymbol");
    });
    // The host could look at this memory at any time.
    show("toHost", [](unsigned *a, unsigned *b) {
      unsigned *pinned = nullptr;
      twin::must(hipHostMalloc(&pinned, kCount * sizeof(unsigned), 0), "hipHostMalloc");
      neighbours<<<kGroups, kThreads>>>(a, pinned);
      twin::must(hipMemcpy(b, pinned, kCount * sizeof(unsigned), hipMemcpyHostToDevice), "hipMemcpy");
      twin::must(hipHostFree(pinned), "hipHostFree");
    });
  } else {
    show("oneLine", [](unsigned *a, unsigned *b) { oneLine<<<kGroups, kThreads>>>(a, b); });
    show("wander", [](unsigned *a, unsigned *) { wander<<<kGroups, kThreads>>>(a); });
    show("goRound", [](unsigned *a, unsigned *b) { goRound<<<kGroups, kThreads>>>(a, b); });
    show("ldsRace", [](unsigned *a, unsigned *b) { ldsRace<<<kGroups, kThreads>>>(a, b); });
  }
}
