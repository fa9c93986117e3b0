// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// While a graph is replayed another thread fills memory in the same stream. It waits for the end of the window inside of the queue's packet handler, and the
// next pass would wait for that handler: so it is let in, and the replay ends. The same where HIP submits packets by a thread of its own.
// RUN: %cc -rdynamic %s -o %t -lpthread -ldl
// RUN: %build_tool %S/Inputs/launches.c -o %t.so
// RUN: env LAUNCHES_GRAPHS=1 %run90a -o tool=%t.so -- %t fill > %t.fill 2> %t.fill.err
// RUN: FileCheck --check-prefix=ENDS --input-file=%t.fill %s && FileCheck --check-prefix=ENDED --input-file=%t.fill.err %s
// ENDS: tool: config of dispatch 1
// ENDS: tool: pass 0, contexts 1
// ENDS: result: ok
// ENDED: warning: kernel replay: (graph) stopped after {{[12]}} passes (window_interrupted)
// ENDED: 0 races
// RUN: env AMD_DIRECT_DISPATCH=0 LAUNCHES_GRAPHS=1 %run90a -o tool=%t.so -- %t alone > %t.alone 2> %t.alone.err
// RUN: FileCheck --check-prefix=ENDS --input-file=%t.alone %s && FileCheck --check-prefix=ENDED --input-file=%t.alone.err %s
//
// Launches of another thread wait before they come to HIP, and the replay goes on to its end. Their arguments come to HIP's memory behind it.
// RUN: env LAUNCHES_GRAPHS=1 %run90a -o tool=%t.so -- %t same > %t.same && FileCheck --check-prefix=GOES --input-file=%t.same %s
// RUN: env LAUNCHES_GRAPHS=1 %run90a -o tool=%t.so -- %t other > %t.other && FileCheck --check-prefix=GOES --input-file=%t.other %s
// GOES: tool: pass 0, contexts 1
// GOES-NEXT: tool: pass 1, contexts 1
// GOES-NEXT: tool: pass 2, contexts 1
// GOES: result: ok
#include "twin.h"

#include <chrono>
#include <string>
#include <thread>

static int *data, *aside;
static hipStream_t stream, otherStream;
static std::string what;
static std::thread other;

__global__ void add(int *to, int value) { to[threadIdx.x] += value; }
__global__ void note(int *to) { to[threadIdx.x] += 100; }

extern "C" __attribute__((visibility("default"))) void insideWindow(unsigned long long pass) {
  if (pass != 0 || what == "alone" || other.joinable())
    return;
  other = std::thread([] {
    const hipStream_t to = what == "other" ? otherStream : stream;
    if (what == "fill")
      twin::must(hipMemsetD32Async(aside, 100, 64, stream), "hipMemsetD32Async in the other thread");
    else
      note<<<1, 64, 0, to>>>(aside);
    twin::must(hipStreamSynchronize(to), "hipStreamSynchronize in the other thread");
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50)); // less than what looks like a wait for other work
}

int main(int, char **arguments) {
  what = arguments[1];
  data = twin::onDevice(std::vector<int>(64, 7));
  aside = twin::onDevice(std::vector<int>(64));
  twin::must(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), "hipStreamCreateWithFlags");
  twin::must(hipStreamCreateWithFlags(&otherStream, hipStreamNonBlocking), "hipStreamCreateWithFlags");
  hipGraph_t graph;
  hipGraphExec_t executable;
  twin::must(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), "hipStreamBeginCapture");
  add<<<1, 64, 0, stream>>>(data, 5);
  twin::must(hipStreamEndCapture(stream, &graph), "hipStreamEndCapture");
  twin::must(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  twin::must(hipGraphLaunch(executable, stream), "hipGraphLaunch");
  twin::must(hipStreamSynchronize(stream), "hipStreamSynchronize");
  if (other.joinable())
    other.join();
  for (int value : twin::fromDevice(aside, 64))
    if (value != (what == "alone" ? 0 : 100))
      return std::printf("value %d of the other thread\n", value), 1;
  return twin::compare(twin::fromDevice(data, 64), [](size_t) { return 12; });
}
