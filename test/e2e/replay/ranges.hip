// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several dispatches of one queue, that are no graph, as the range of a kernel replay; and each rule for which a range is given up. Every kernel adds
// to what it finds, and needs what the one before it left.
// RUN: %cc %s -o %t -rdynamic -ldl -lpthread && %cc -DRACY %s -o %t.racy -rdynamic -ldl -lpthread
// RUN: %build_tool %S/Inputs/ranges.c -o %t.so
// RUN: %run90a -o tool=%t.so -- %t closed %t.so > %t.closed 2> %t.closed.err
// RUN: FileCheck --check-prefix=CLOSED --input-file=%t.closed %s && FileCheck --check-prefix=CLEAN --input-file=%t.closed.err %s
// RUN: not grep -E 'WRONG|NO TIMES|in a callback' %t.closed
// CLOSED: held back
// CLOSED-NEXT: tool: (range) of 3: replayed
// Contexts: race check 1, timing 2, digest 4, access trace 16.
// CLOSED-NEXT: tool: pass 0 of 4 of (range), contexts 23, digest [[DIGEST:[0-9a-f]+]]
// CLOSED-NEXT: tool: dispatch 0 wrote 4096 in line [[#ADD:]], read 0
// CLOSED-NEXT: tool: dispatch 1 wrote 4096 in line [[#ADD+5]], read 4096
// CLOSED-NEXT: tool: dispatch 2 wrote 4096 in line [[#ADD]], read 0
// CLOSED-NEXT: tool: pass 1 of 4 of (range), contexts 23, digest [[DIGEST]]
// CLOSED-NEXT: tool: dispatch 0 wrote 4096 in line [[#ADD]], read 0
// CLOSED-NEXT: tool: dispatch 1 wrote 4096 in line [[#ADD+5]], read 4096
// CLOSED-NEXT: tool: dispatch 2 wrote 4096 in line [[#ADD]], read 0
// CLOSED-NEXT: tool: pass 2 of 4 of (range), contexts 6, digest [[DIGEST]]
// CLOSED-NEXT: tool: pass 3 of 4 of (range), contexts 23, digest [[DIGEST]]
// CLOSED-NEXT: tool: dispatch 0 wrote 4096 in line [[#ADD]], read 0
// CLOSED-NEXT: tool: dispatch 1 wrote 4096 in line [[#ADD+5]], read 4096
// CLOSED-NEXT: tool: dispatch 2 wrote 4096 in line [[#ADD]], read 0
// CLOSED-NEXT: tool: range of 3 dispatches: 4 passes, replayed
// CLOSED-NEXT: complete
// CLOSED-NEXT: tool: {{.*}}add{{.*}} of 0: one_pass
// CLOSED-NEXT: tool: end_range: a range is open already, or none is; or this is a callback
// CLOSED: result: ok
// CLEAN-NOT: {{.}}
// CLEAN: wavesan: checked {{[1-9][0-9]*}} accesses in 2 kernels: 0 races, 10 commands in 2 streams compared{{$}}
//
// What its passes show is reported, once.
// RUN: %status 66 %run90a -o tool=%t.so -- %t.racy closed %t.so 2> %t.racy.err
// RUN: FileCheck --check-prefix=RACE --input-file=%t.racy.err %s
// RACE-COUNT-1: wavesan: race: LDS
// RACE-NOT: wavesan: race
// RACE: 1 races
//
// Given up: what it holds runs once, and each dispatch is offered.
// RUN: %run90a -o tool=%t.so -- %t barrier %t.so > %t.out && FileCheck --check-prefixes=GIVEN,ONCE -DWHY=range_barrier -DN=2 --input-file=%t.out %s
// RUN: %run90a -o tool=%t.so -- %t copy %t.so > %t.out && FileCheck --check-prefixes=GIVEN,ONCE -DWHY=range_copy -DN=2 --input-file=%t.out %s
// RUN: %run90a -o tool=%t.so -- %t queues %t.so > %t.out && FileCheck --check-prefixes=GIVEN,ONCE -DWHY=range_queues -DN=2 --input-file=%t.out %s
// RUN: env RANGE_GRAPHS=1 %run90a -o tool=%t.so -- %t graph %t.so > %t.out && FileCheck --check-prefixes=GIVEN,ONCE -DWHY=range_graph -DN=2 --input-file=%t.out %s
// RUN: %run90a -o tool=%t.so:replay_drain_seconds=1 -- %t late %t.so > %t.out && FileCheck --check-prefixes=GIVEN,ONCE -DWHY=range_not_closed -DN=2 --input-file=%t.out %s
// RUN: %run90a -o tool=%t.so:replay_budget_mb=1 -- %t closed %t.so > %t.out && FileCheck --check-prefixes=BUDGET,ONCE --input-file=%t.out %s
// RUN: %run90a -o tool=%t.so -- %t empty %t.so > %t.out && FileCheck --check-prefix=EMPTY --input-file=%t.out %s
// RUN: %run90a -o tool=%t.so -- %t long %t.so > %t.out && FileCheck --check-prefix=LONG --input-file=%t.out %s
// RUN: %run90a -o tool=%t.so -- %t open %t.so > %t.out && FileCheck --check-prefix=OPEN --input-file=%t.out %s
// GIVEN-NOT: pass 0
// GIVEN: tool: range of [[N]] dispatches: 0 passes, [[WHY]]
// BUDGET: tool: (range) of 3: footprint_budget
// BUDGET-NEXT: tool: _Z{{.*}} of 0: one_pass
// BUDGET-NEXT: tool: _Z{{.*}} of 0: one_pass
// BUDGET-NEXT: tool: _Z{{.*}} of 0: one_pass
// BUDGET-NEXT: tool: range of 3 dispatches: 0 passes, footprint_budget
// ONCE: result: ok
// EMPTY: tool: range of 0 dispatches: 0 passes, range_empty
// EMPTY: result: ok
// LONG: tool: range of 256 dispatches: 0 passes, range_too_long
// LONG: result: ok
// OPEN: tool: _Z{{.*}} of 0: one_pass
// OPEN: result: ok
#include "twin.h"

#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <thread>

constexpr int kSize = 128, kGroups = 8, kCount = 512 * 1024;

__global__ void add(int *to, int value) {
  __shared__ int tile[kSize];
  const int i = blockIdx.x * kSize + threadIdx.x;
  tile[threadIdx.x] = to[i];
#ifndef RACY
  __syncthreads();
#endif
  to[i] += value + 0 * tile[kSize - 1 - threadIdx.x];
  asm volatile("" ::"v"(tile[kSize - 1 - threadIdx.x]));
}
__global__ void doubled(int *to, const int *from) {
  const int i = blockIdx.x * kSize + threadIdx.x;
  to[i] += 2 * from[i];
}

int main(int, char **arguments) {
  const std::string what = arguments[1];
  hipStream_t stream, other;
  twin::must(hipStreamCreate(&stream), "hipStreamCreate");
  twin::must(hipStreamCreate(&other), "hipStreamCreate");
  int *a = twin::onDevice(std::vector<int>(kCount, 1)), *b = twin::onDevice(std::vector<int>(kCount, 10)), *aside = twin::onDevice(std::vector<int>(kCount));
  int *host = nullptr;
  twin::must(hipHostMalloc(&host, kCount * sizeof(int)), "hipHostMalloc");
  hipGraph_t graph;
  hipGraphExec_t executable;
  twin::must(hipStreamBeginCapture(other, hipStreamCaptureModeGlobal), "hipStreamBeginCapture");
  add<<<kGroups, kSize, 0, other>>>(aside, 3);
  twin::must(hipStreamEndCapture(other, &graph), "hipStreamEndCapture");
  twin::must(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  void *tool = dlopen(arguments[2], RTLD_NOW | RTLD_NOLOAD);
  const auto begin = reinterpret_cast<int (*)()>(dlsym(tool, "begin_range")), end = reinterpret_cast<int (*)()>(dlsym(tool, "end_range"));
  std::setvbuf(stdout, nullptr, _IOLBF, 0);

  if (begin() != 0)
    return std::puts("begin_range"), 1;
  if (what == "empty")
    return end() != 0 ? 1 : std::puts("result: ok") < 0;
  add<<<kGroups, kSize, 0, stream>>>(a, 5); // 6
  doubled<<<kGroups, kSize, 0, stream>>>(b, a); // 22
  if (what == "barrier")
    twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
  else if (what == "copy")
    twin::must(hipMemcpyAsync(host, aside, kCount * sizeof(int), hipMemcpyDeviceToHost, other), "hipMemcpyAsync");
  else if (what == "queues")
    add<<<kGroups, kSize, 0, other>>>(aside, 3);
  else if (what == "graph")
    twin::must(hipGraphLaunch(executable, other), "hipGraphLaunch");
  else if (what == "late")
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  if (what == "long")
    for (int i = 0; i < 1030; ++i)
      add<<<1, kSize, 0, stream>>>(aside, 1);
  add<<<kGroups, kSize, 0, stream>>>(a, 7); // 13
  if (what == "closed")
    std::puts("held back");
  if (what == "open") // HIP waits, so the range cannot go on
    twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
  else if (end() != 0)
    return 1;
  if (what == "closed") {
    std::puts(hipStreamQuery(stream) == hipSuccess ? "complete" : "not complete");
    add<<<kGroups, kSize, 0, stream>>>(aside, 3);
    end();
  }
  const std::vector<int> x = twin::fromDevice(a, kGroups * kSize), y = twin::fromDevice(b, kGroups * kSize), z = twin::fromDevice(aside, 1);
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != 13 || y[i] != 22)
      return std::printf("element %zu: %d %d\n", i, x[i], y[i]), 1;
  const int expected = what == "long" ? 1030 : what == "queues" || what == "graph" || what == "closed" ? 3 : 0;
  if (z[0] != expected)
    return std::printf("aside %d\n", z[0]), 1;
  std::puts("result: ok");
}
