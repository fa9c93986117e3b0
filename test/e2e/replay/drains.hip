// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that waits for the host is under way, and the host launches another one before it lets it go: the replay would wait for ever, so it is given
// up after a while and the dispatch runs once. First in the same stream, then in another one.
// RUN: %cc %s -o %t
// RUN: %build_tool %S/Inputs/tiers.c -o %t.so
// RUN: %run90a -o tool=%t.so:replay_drain_seconds=1 -- %t same > %t.same && FileCheck --check-prefix=SAME --input-file=%t.same %s
// RUN: %run90a -o tool=%t.so:replay_drain_seconds=1 -- %t other > %t.other && FileCheck --check-prefix=OTHER --input-file=%t.other %s
// RUN: %run90a -o tool=%t.so:replay_drain_seconds=60 -- %t before > %t.before && FileCheck --check-prefix=BEFORE --input-file=%t.before %s
// SAME: tool: {{.*}}spin{{.*}} declined one_pass
// SAME-NEXT: tool: {{.*}}add{{.*}} declined queue_drain_stuck
// SAME-NOT: restored
// SAME: result: ok
// OTHER: tool: {{.*}}spin{{.*}} declined one_pass
// OTHER-NEXT: tool: {{.*}}add{{.*}} declined agent_drain_stuck
// OTHER-NOT: restored
// OTHER: result: ok
// Let go in time it is waited for.
// BEFORE: tool: {{.*}}spin{{.*}} declined one_pass
// BEFORE: tool: {{.*}}add{{.*}} restored
// BEFORE: result: ok
#include "twin.h"

#include <chrono>
#include <cstring>
#include <thread>

__global__ void spin(int *flag, int *seen) {
  while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0)
    __builtin_amdgcn_s_sleep(1);
  *seen = 1;
}
__global__ void add(int *to) { to[threadIdx.x] += 3; }

int main(int, char **arguments) {
  int *flag = nullptr;
  twin::must(hipHostMalloc(&flag, 4096), "hipHostMalloc");
  *flag = 0;
  int *seen = twin::onDevice(std::vector<int>(1)), *data = twin::onDevice(std::vector<int>(64, 4));
  hipStream_t streams[2];
  for (hipStream_t &stream : streams)
    twin::must(hipStreamCreate(&stream), "hipStreamCreate");
  spin<<<1, 1, 0, streams[0]>>>(flag, seen);
  const auto letGo = [&] { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); };
  std::thread thread;
  if (std::strcmp(arguments[1], "before") == 0)
    thread = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      letGo();
    });
  add<<<1, 64, 0, streams[std::strcmp(arguments[1], "same") != 0]>>>(data);
  letGo();
  if (thread.joinable())
    thread.join();
  std::vector<int> result = twin::fromDevice(data, 64);
  if (twin::fromDevice(seen, 1)[0] != 1)
    return std::puts("not seen"), 1;
  return twin::compare(result, [](size_t) { return 7; });
}
