// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tools that do in their callbacks what they should not: the program's memory is right, and what was checked so far is said.
// RUN: %cc %s -o %t
// RUN: %build_tool %S/Inputs/odd.c -o %t.so
// RUN: env ODD=scribble %run90a -o tool=%t.so -- %t > %t.out && FileCheck --check-prefixes=ALL,RESULT --input-file=%t.out %s
// ALL: tool: pass 2
// RUN: env ODD=unsubscribe %run90a -o tool=%t.so -- %t > %t.out && FileCheck --check-prefixes=GONE,RESULT --input-file=%t.out %s
// GONE: tool: pass 0
// GONE-NEXT: tool: unsubscribe: success
// GONE-NEXT: tool: pass 1
// GONE-NEXT: tool: unsubscribe: there is no subscriber
// GONE-NEXT: tool: pass 2
// GONE-NEXT: tool: unsubscribe: there is no subscriber
// GONE-NOT: tool: pass
// RUN: env ODD=subscribe %run90a -o tool=%t.so -- %t > %t.out && FileCheck --check-prefixes=AGAIN,RESULT --input-file=%t.out %s
// AGAIN-COUNT-3: tool: subscribe: there is a subscriber already
// RUN: env ODD=stop %run90a -o incomplete_exitcode=0:tool=%t.so -- %t > %t.out && FileCheck --check-prefixes=STOP,RESULT --input-file=%t.out %s
// STOP: tool: stop -1: 4
// STOP-NEXT: tool: stop 0: 0
// STOP: tool: stop 4: 0
// STOP-NEXT: tool: stop 5: 4
// STOP-NEXT: tool: pass 0
// RESULT: result: ok
// RUN: env ODD=exit %status 3 %run90a -o tool=%t.so -- %t > %t.out 2> %t.err
// RUN: FileCheck --check-prefix=EXIT --input-file=%t.out %s && FileCheck --check-prefix=CHECKED --input-file=%t.err %s
// EXIT: tool: pass 1
// EXIT-NOT: pass 2
// EXIT-NOT: result
// CHECKED: wavesan: checked {{[1-9][0-9]*}} accesses in 1 kernels: 0 races
#include "twin.h"

__global__ void add(int *to) { to[blockIdx.x * blockDim.x + threadIdx.x] += 3; }

int main() {
  int *data = twin::onDevice(std::vector<int>(256, 4));
  add<<<2, 128>>>(data);
  add<<<2, 128>>>(data);
  return twin::compare(twin::fromDevice(data, 256), [](size_t) { return 10; });
}
