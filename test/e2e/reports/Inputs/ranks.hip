// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several processes, as programs with workers or ranks start them. Arguments, in this order:
//   fork=N    N children that go on in this program (even ones race), then their parent
//   exec=N    the same, by way of exec
//   race      the kernel `mirror` lacks its barrier; `scatter` never does
//   many      kernels with many races; flood: one with more than a small race table holds
//   late-fork a child that is forked when the parent is an HSA program already
//   kill      ends itself by SIGKILL after the kernels; kill-early: before they have been waited for
#include "twin.h"

#include <csignal>
#include <cstring>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

constexpr int kSize = 128, kGroups = 500;

__global__ void mirror(const int *in, int *out, bool barrier) {
  __shared__ int tile[kSize];
  int t = threadIdx.x;
  tile[t] = in[t];
  if (barrier)
    __syncthreads();
  out[t] = tile[kSize - 1 - t];
}

namespace app {
__global__ void scatter(const int *in, int *out) {
  __shared__ int slots[kSize];
  int t = threadIdx.x;
  slots[t] = in[t];
  __syncthreads();
  out[blockIdx.x * kSize + t] = slots[(t + 64) % kSize];
}
} // namespace app

template <int N> __global__ void many(const int *in, int *out) {
  __shared__ int a[kSize], b[kSize];
  int t = threadIdx.x;
  a[t] = in[t];
  b[t] = in[t] + N;
  int sum = a[kSize - 1 - t];
  sum += b[kSize - 1 - t];
  a[t] = sum;
  b[t] = sum;
  sum -= a[(t + kSize / 2) % kSize];
  sum -= b[(t + kSize / 2) % kSize];
  out[t] = sum;
}

/// More pairs of instructions that race than the smallest race table holds.
__global__ void flood(const int *in, int *out) {
  __shared__ int tile[kSize];
  int t = threadIdx.x, sum = 0;
  tile[t] = in[t];
#pragma unroll
  for (int i = 1; i <= 100; ++i)
    sum = sum * 3 + tile[(t + i) % kSize];
  out[t] = sum;
}

static int run(const std::vector<std::string> &words) {
  auto has = [&](const char *word) {
    for (const std::string &w : words)
      if (w == word)
        return true;
    return false;
  };
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kGroups * kSize));
  if (has("many")) {
    many<1><<<1, kSize>>>(in, out);
    many<2><<<1, kSize>>>(in, out);
    many<3><<<1, kSize>>>(in, out);
    many<4><<<1, kSize>>>(in, out);
  }
  if (has("flood"))
    flood<<<1, kSize>>>(in, out);
  mirror<<<1, kSize>>>(in, out, !has("race"));
  app::scatter<<<kGroups, kSize>>>(in, out);
  if (has("kill-early"))
    raise(SIGKILL);
  twin::fromDevice(out, kSize);
  if (has("late-fork") && fork() == 0) {
    mirror<<<1, kSize>>>(in, out, true);
    _exit(0);
  }
  while (wait(nullptr) > 0) {
  }
  if (has("kill"))
    raise(SIGKILL);
  return 0;
}

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  for (const std::string &word : words)
    for (const char *way : {"fork=", "exec="})
      if (word.starts_with(way)) {
        for (int i = 0; i < std::stoi(word.substr(5)); ++i)
          if (fork() == 0) {
            const char *how = i % 2 ? "clean" : "race";
            if (word[0] == 'e') {
              execl("/proc/self/exe", argv[0], how, nullptr);
              _exit(99);
            }
            return run({how});
          }
        const int status = run({"clean"});
        return status;
      }
  return run(words);
}
