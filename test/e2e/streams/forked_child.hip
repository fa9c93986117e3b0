// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A child that is forked before anything of HIP is used is checked like any other process.
// RUN: %streams --fix='record an event in stream 1 behind the launch of twin::set' %s
#include "streams.h"

#include <sys/wait.h>
#include <unistd.h>

namespace {

int child() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  int *data = twin::buffer();
  LAUNCH(twin::set, first, data, 1); // RACE-A
#ifdef FIXED
  twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
#endif
  LAUNCH(twin::set, second, data, 2); // RACE-B
  return twin::expectCounting(data, 2);
}

} // namespace

int main() {
  const pid_t pid = fork();
  if (pid == 0)
    return child();
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
