// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A callback tells another thread, which goes on at once: with a kernel of another stream, and with an access of its own. The callback often runs before
// the call that has put it into its stream returns.
// RUN: %wavesan cc --check-host --offload-arch=gfx90a -I%include -O2 %s -o %t -pthread
// RUN: %run90a -- %t > %t.out 2> %t.err
// RUN: FileCheck --input-file=%t.err %s
// RUN: FileCheck --check-prefix=RESULT --input-file=%t.out %s
// CHECK-NOT: race:
// CHECK: wavesan: checked {{[0-9]+}} accesses in 1 kernels: 0 races, {{[0-9]+}} commands in 2 streams compared
// RESULT: result: ok
#include "streams.h"

#include <atomic>
#include <thread>

namespace {

constexpr int kRounds = 60;
std::atomic<int> told{0}, done{0};
int *shared;

void tell(hipStream_t, hipError_t, void *) {
  shared[1] = told + 1;
  ++told;
}

} // namespace

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  shared = twin::pinned();
  std::thread other([&] {
    for (int round = 1; round <= kRounds; ++round) {
      while (told < round)
        std::this_thread::yield();
      shared[0] += shared[1] == round ? 0 : 1;
      LAUNCH(twin::set, second, shared, round);
      twin::must(hipStreamSynchronize(second), "hipStreamSynchronize");
      done = round;
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    LAUNCH(twin::set, first, shared, 0);
    twin::must(hipStreamAddCallback(first, tell, nullptr, 0), "hipStreamAddCallback");
    while (done < round)
      std::this_thread::yield();
  }
  other.join();
  return twin::verdict(shared[0] != kRounds || shared[5] != kRounds + 5);
}
