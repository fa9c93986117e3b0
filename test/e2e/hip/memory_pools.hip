// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that is allocated and freed in the order of a stream, from the default pool and from one of the program's; memory for values that streams write and wait for;
// and ordinary memory once more after hipDeviceReset (HIP 5.2.3's pools do not survive that).
// RUN: %cc %s -o %t
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// RUN: %run1030 -- %t 2>&1 | FileCheck %s
// CHECK-DAG: result: ok
// CHECK-DAG: 0 races
#include "streams.h"

namespace {

size_t wrong = 0;

void use(int *memory, hipStream_t s, int value) {
  std::vector<int> values(twin::kCount);
  LAUNCH(twin::set, s, memory, value);
  twin::must(hipMemcpyAsync(values.data(), memory, twin::kBytes, hipMemcpyDeviceToHost, s), "hipMemcpyAsync");
  twin::must(hipStreamSynchronize(s), "hipStreamSynchronize");
  for (int i = 0; i < twin::kCount; ++i)
    wrong += values[i] != value + i;
}

void everything(int round) {
  const hipStream_t s = twin::stream();
  void *memory = nullptr;
  for (int k = 0; k < 3; ++k) {
    twin::must(hipMallocAsync(&memory, twin::kBytes, s), "hipMallocAsync");
    use(static_cast<int *>(memory), s, round + k);
    twin::must(hipFreeAsync(memory, s), "hipFreeAsync");
  }
  hipMemPoolProps properties = {};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location.type = hipMemLocationTypeDevice;
  hipMemPool_t pool = nullptr;
  twin::must(hipMemPoolCreate(&pool, &properties), "hipMemPoolCreate");
  twin::must(hipMallocFromPoolAsync(&memory, twin::kBytes, pool, s), "hipMallocFromPoolAsync");
  use(static_cast<int *>(memory), s, round * 7);
  twin::must(hipFreeAsync(memory, s), "hipFreeAsync");
  twin::must(hipStreamSynchronize(s), "hipStreamSynchronize");
  twin::must(hipMemPoolTrimTo(pool, 0), "hipMemPoolTrimTo");
  twin::must(hipMemPoolDestroy(pool), "hipMemPoolDestroy");

  // A stream waits for what another one writes behind its kernel.
  const hipStream_t other = twin::stream();
  void *flag = nullptr;
  twin::must(hipExtMallocWithFlags(&flag, 8, hipMallocSignalMemory), "hipExtMallocWithFlags");
  int *a = twin::buffer(), *b = twin::buffer();
  LAUNCH(twin::set, s, a, round + 20);
  twin::must(hipStreamWriteValue64(s, flag, 5, 0), "hipStreamWriteValue64");
  twin::must(hipStreamWaitValue64(other, flag, 5, hipStreamWaitValueEq, ~0ull), "hipStreamWaitValue64");
  LAUNCH(twin::add, other, a, b, 1);
  twin::must(hipStreamSynchronize(other), "hipStreamSynchronize");
  twin::must(hipStreamSynchronize(s), "hipStreamSynchronize");
  int first = 0;
  twin::must(hipMemcpy(&first, b, sizeof first, hipMemcpyDeviceToHost), "hipMemcpy");
  wrong += first != round + 21;
  twin::must(hipFree(flag), "hipFree");
  // Fine-grained device memory.
  twin::must(hipExtMallocWithFlags(&memory, twin::kBytes, hipDeviceMallocFinegrained), "hipExtMallocWithFlags");
  use(static_cast<int *>(memory), other, round + 3);
  twin::must(hipFree(memory), "hipFree");
}

} // namespace

int main() {
  everything(0);
  everything(100);
  twin::must(hipDeviceReset(), "hipDeviceReset");
  use(twin::buffer(), twin::stream(), 50);
  return twin::verdict(wrong);
}
