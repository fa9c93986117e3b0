// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that wait, while they run, for the host or for another kernel. Seen in the code, that is a reason to run them once: nobody would signal a
// second time. Where it cannot be seen, the program goes on after `replay_drain_seconds`, and the replay ends with that pass.
// RUN: %cc %s -o %t -lpthread
// RUN: %build_tool %examples/replay_tools/digests.c -o %t.so
//
// The thread that launches it is the one that signals; another one does; a kernel of another thread does.
// RUN: %run90a -o tool=%t.so -- %t system > %t.system 2> %t.system.err && FileCheck --check-prefix=SYSTEM --input-file=%t.system %s
// RUN: %run90a -o tool=%t.so -- %t volatile > %t.volatile && FileCheck --check-prefix=SYSTEM --input-file=%t.volatile %s
// SYSTEM: digests: dispatch 1, {{.*}}wait{{.*}} runs once (host_communication)
// SYSTEM: digests: dispatch 2, {{.*}}add{{.*}} pass 2 of 3
// SYSTEM: result: ok
// RUN: %run90a -o tool=%t.so:replay_drain_seconds=1 -- %t agent > %t.agent 2> %t.agent.err
// RUN: FileCheck --check-prefix=OVERDUE --input-file=%t.agent %s
// RUN: FileCheck --check-prefix=SAID --input-file=%t.agent.err %s
// RUN: %run90a -o tool=%t.so:replay_drain_seconds=1 -- %t kernel > %t.kernel 2> %t.kernel.err
// RUN: FileCheck --check-prefix=OVERDUE --input-file=%t.kernel %s
// RUN: FileCheck --check-prefix=SAID --input-file=%t.kernel.err %s
// OVERDUE: digests: dispatch {{[12]}}, {{.*}}wait{{.*}} pass 0 of 3
// OVERDUE-NOT: wait{{.*}} pass 1
// OVERDUE: result: ok
// SAID: warning: kernel replay: {{.*}}wait{{.*}} stopped after 1 passes (pass_overdue)
// SAID: wavesan: checked {{[1-9][0-9]*}} accesses in {{[23]}} kernels: 0 races
//
// A confirmation would have to repeat it, too.
// RUN: %cc -DRACY %s -o %t.racy -lpthread
// RUN: %status 66 %run90a --confirm -- %t.racy system > %t.out 2> %t.err
// RUN: FileCheck --check-prefix=CONFIRM --input-file=%t.err %s
// CONFIRM: not tried (host_communication)
#include "twin.h"

#include <chrono>
#include <string>
#include <thread>

__global__ void waitSystem(int *flag, int *data) {
#ifdef RACY
  __shared__ int tile[128];
  tile[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = tile[127 - threadIdx.x];
#endif
  while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0)
    __builtin_amdgcn_s_sleep(1);
  data[threadIdx.x] += 3;
}
__global__ void waitVolatile(volatile int *flag, int *data) {
  while (*flag == 0)
    __builtin_amdgcn_s_sleep(1);
  data[threadIdx.x] += 3;
}
__global__ void waitAgent(int *flag, int *data) {
  while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0)
    __builtin_amdgcn_s_sleep(1);
  data[threadIdx.x] += 3;
}
__global__ void give(int *flag) { __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT); }
__global__ void add(int *data) { data[threadIdx.x] += 10; }

int main(int, char **arguments) {
  const std::string what = arguments[1];
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  int *flag = nullptr, *data = twin::onDevice(std::vector<int>(128, 4));
  twin::must(hipHostMalloc(&flag, 4096, hipHostMallocCoherent), "hipHostMalloc");
  *flag = 0;
  hipStream_t streams[2];
  for (hipStream_t &stream : streams)
    twin::must(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), "hipStreamCreateWithFlags");
  std::thread other;
  if (what == "kernel")
    other = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      give<<<1, 1, 0, streams[1]>>>(flag);
      twin::must(hipStreamSynchronize(streams[1]), "hipStreamSynchronize in the other thread");
    });
  (what == "system" ? waitSystem : what == "agent" || what == "kernel" ? waitAgent : reinterpret_cast<void (*)(int *, int *)>(waitVolatile))
      <<<1, 128, 0, streams[0]>>>(flag, data);
  if (what != "kernel")
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  twin::must(hipStreamSynchronize(streams[0]), "hipStreamSynchronize");
  if (other.joinable())
    other.join();
  add<<<1, 128, 0, streams[0]>>>(data);
  return twin::compare(twin::fromDevice(data, 128), [](size_t) { return 17; });
}
