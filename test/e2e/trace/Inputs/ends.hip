// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes one HIP call, more of them for a second where it is to be killed, and ends in the way that the argument says.
#include "twin.h"

#include <csignal>
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc > 1 && std::strcmp(argv[1], "fork") == 0) // before HIP is used: both may use it then
    if (fork() > 0) {
      int status = 1;
      wait(&status);
      if (status != 0)
        return 1;
    }
  int *data;
  twin::must(hipMalloc(&data, 4), "hipMalloc");
  if (argc > 1 && std::strcmp(argv[1], "exit") == 0)
    return 5;
  if (argc > 1 && std::strcmp(argv[1], "kill") == 0) {
    for (int i = 0; i < 12; ++i) {
      usleep(100'000);
      twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
    }
    raise(SIGKILL);
  }
}
