// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program whose behaviour its arguments choose: race_or_not [race] [exit=N] [abort] [_exit=N] [fork]
#include "twin.h"

#include <cstring>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

constexpr int kSize = 128;

__global__ void mirror(const int *in, int *out, bool barrier) {
  __shared__ int tile[kSize];
  int t = threadIdx.x;
  tile[t] = in[t];
  if (barrier)
    __syncthreads();
  out[t] = tile[kSize - 1 - t];
}

static void launch(bool barrier) {
  int *in = twin::onDevice(twin::counting<int>(kSize)), *out = twin::onDevice(std::vector<int>(kSize));
  mirror<<<1, kSize>>>(in, out, barrier);
  twin::fromDevice(out, kSize);
}

int main(int argc, char **argv) {
  bool race = false;
  std::string end;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "race")
      race = true;
    else if (word == "fork") {
      // Two further processes, each an HSA program of its own: one racy, one clean. Neither status is looked at.
      for (const char *how : {"race", "exit=0"})
        if (fork() == 0) {
          execl("/proc/self/exe", argv[0], how, nullptr);
          _exit(99);
        }
      while (wait(nullptr) > 0) {
      }
    } else
      end = word;
  }
  launch(!race);
  std::puts("launched");
  std::fflush(stdout);
  if (end == "abort")
    std::abort();
  if (end.starts_with("_exit="))
    _exit(std::stoi(end.substr(6)));
  return end.starts_with("exit=") ? std::stoi(end.substr(5)) : 0;
}
