// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens while a dispatch is replayed. Work of another thread waits for the end of the window. A callback that launches work and waits for it
// gets what it waits for, once, and ends the replay: memory is not restored any more.
// RUN: %cc -rdynamic %s -o %t -lpthread
// RUN: %build_tool %S/Inputs/launches.c -o %t.so
// RUN: %run90a -o tool=%t.so -- %t other > %t.other && FileCheck --check-prefix=OTHER --input-file=%t.other %s
// RUN: %run90a -o tool=%t.so -- %t copy > %t.copy && FileCheck --check-prefix=OTHER --input-file=%t.copy %s
// RUN: %run90a -o tool=%t.so -- %t free > %t.free && FileCheck --check-prefix=OTHER --input-file=%t.free %s
// RUN: %run90a -o tool=%t.so -- %t launches > %t.launches && FileCheck --check-prefix=OTHER --input-file=%t.launches %s
// OTHER: tool: config of dispatch 1
// OTHER-NEXT: tool: pass 0, contexts 1
// OTHER-NEXT: tool: pass 1, contexts 1
// OTHER-NEXT: tool: pass 2, contexts 1
// OTHER: other thread: behind the window
// OTHER: result: ok
// OTHER: tool: finished
//
// RUN: %run90a -o tool=%t.so:verbosity=1 -- %t launch > %t.launch 2> %t.launch.err
// RUN: FileCheck --check-prefix=LAUNCH --input-file=%t.launch %s
// RUN: FileCheck --check-prefix=WARNED --input-file=%t.launch.err %s
// LAUNCH: tool: config of dispatch 1
// LAUNCH-NEXT: tool: pass 0, contexts 1
// LAUNCH: launched inside of the window
// LAUNCH-NOT: tool: pass
// LAUNCH: result: ok
// A callback is inside of the queue's packet handler, so another thread hands on what it launches, and that is offered, too.
// WARNED: kernel replay: dispatch 2, note(int*): runs once, agent_drain_stuck
// WARNED: kernel replay: {{.*}}add{{.*}} stopped after 1 passes (window_interrupted)
// WARNED: wavesan: checked {{[1-9][0-9]*}} accesses in 2 kernels: 0 races
#include "twin.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

static int *data, *aside, *otherMemory, *freed, *pinned;
static hipStream_t otherStream;
static std::atomic<int> passesSeen{0};
static bool launches;
static std::string otherDoes;
static std::thread other;

__global__ void add(int *to, int value) { to[threadIdx.x] += value; }
__global__ void note(int *to) { to[threadIdx.x] += 100; }

static void noteOnce() {
  hipStream_t stream;
  twin::must(hipStreamCreate(&stream), "hipStreamCreate");
  note<<<1, 64, 0, stream>>>(aside);
  twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
}

extern "C" __attribute__((visibility("default"))) void insideWindow(unsigned long long pass) {
  ++passesSeen;
  if (launches) {
    noteOnce();
    std::puts("launched inside of the window");
    std::fflush(stdout);
  } else if (pass == 0 && !other.joinable()) {
    other = std::thread([] {
      if (otherDoes == "free") {
        twin::must(hipFree(freed), "hipFree in the other thread");
      } else if (otherDoes == "copy") {
        twin::must(hipMemcpyAsync(otherMemory, pinned, 4096, hipMemcpyHostToDevice, otherStream), "copy in the other thread");
        twin::must(hipStreamSynchronize(otherStream), "hipStreamSynchronize in the other thread");
      } else if (otherDoes == "launches") {
        add<<<1, 64, 0, otherStream>>>(otherMemory, 1);
        twin::must(hipStreamSynchronize(otherStream), "hipStreamSynchronize in the other thread");
      } else {
        twin::must(hipMemset(otherMemory, 1, 4096), "hipMemset in the other thread");
      }
      std::printf("other thread: %s the window\n", passesSeen >= 3 ? "behind" : "INSIDE");
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50)); // less than what looks like a wait for other work
  }
}

int main(int, char **arguments) {
  otherDoes = arguments[1];
  launches = otherDoes == "launch";
  data = twin::onDevice(std::vector<int>(64, 7));
  aside = twin::onDevice(std::vector<int>(64)), otherMemory = twin::onDevice(std::vector<int>(1024));
  freed = twin::onDevice(std::vector<int>(1024, 5));
  twin::must(hipHostMalloc(&pinned, 4096), "hipHostMalloc");
  for (int i = 0; i < 1024; ++i)
    pinned[i] = 2;
  twin::must(hipStreamCreate(&otherStream), "hipStreamCreate");
  hipStream_t stream;
  twin::must(hipStreamCreate(&stream), "hipStreamCreate");
  add<<<1, 64, 0, stream>>>(data, 5);
  twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
  if (other.joinable())
    other.join();
  for (int value : twin::fromDevice(data, 64))
    if (value != 12)
      return std::printf("value %d\n", value), 1;
  for (int value : twin::fromDevice(aside, 64))
    if (value != (launches ? 100 : 0))
      return std::printf("value %d of the callback's kernel\n", value), 1;
  for (int value : twin::fromDevice(otherMemory, otherDoes == "launches" ? 64 : 1024))
    if (value != (otherDoes == "launches" ? 1 : otherDoes == "copy" ? 2 : otherDoes == "other" ? 0x01010101 : 0))
      return std::printf("value %d of the other thread\n", value), 1;
  std::puts(passesSeen == (launches ? 1 : otherDoes == "launches" ? 6 : 3) ? "result: ok" : "wrong number of passes");
}
