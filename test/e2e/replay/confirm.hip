// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the order of two accesses that race changes what a dispatch computes. Each kernel has one race, and updates memory in place: however often it runs,
// the program sees it once.
// RUN: %cc %s -o %t
// RUN: %status 66 %run90a --confirm -- %t > %t.out90 2> %t.err90
// RUN: FileCheck --input-file=%t.err90 %s && FileCheck --check-prefix=RESULT --input-file=%t.out90 %s
// RUN: %status 66 %run1030 --seed=5 --confirm -- %t > %t.out10 2> %t.err10
// RUN: FileCheck --input-file=%t.err10 %s && FileCheck --check-prefix=RESULT --input-file=%t.out10 %s
// RESULT: result: ok
//
// CHECK: race: LDS {{.*}} on `tile`
// CHECK: kernel reversed(
// CHECK: wavesan: confirmed: output differs at allocation {{[0-9]+}} + {{[0-9]+}} with seed {{[15]}}: race at {{.*}}confirm.hip:{{[0-9]+}}:{{[0-9]+}} and {{.*}}confirm.hip:{{[0-9]+}}:{{[0-9]+}}, dispatch 1
//
// CHECK: race: global memory write-write
// CHECK: kernel lastWins(
// CHECK: wavesan: confirmed: output differs at allocation {{[0-9]+}} + 0 with seed {{[15]}}: race at {{.*}}confirm.hip:{{[0-9]+}}:{{[0-9]+}}, dispatch 2
//
// Everybody writes the same value.
// CHECK: kernel agreed(
// CHECK: wavesan: not observed in 8 passes (4 in the order reported, 4 in the other): race at {{.*}}confirm.hip:{{[0-9]+}}:{{[0-9]+}}, dispatch 3
//
// What passes compute differs by something else: the order of additions of floating-point numbers, and time.
// CHECK: kernel sums(
// CHECK: wavesan: output differs, not attributed: race at {{.*}}confirm.hip:{{[0-9]+}}:{{[0-9]+}}, dispatch 4
// CHECK: kernel times(
// CHECK: wavesan: output differs, not attributed: race at {{.*}}confirm.hip:{{[0-9]+}}:{{[0-9]+}}, dispatch 5
// CHECK-NOT: confirmed
// CHECK-NOT: benign
//
// The same as members of the races, in JSON and SARIF, and in a report made of them.
// RUN: %status 66 %run90a --confirm -o json_path=%t.json:sarif_path=%t.sarif:confirm_max=3 -- %t 2> %t.err > %t.out
// RUN: %check_formats %t.json %t.sarif
// RUN: %python -B %tools/list_verdicts.py %t.json | FileCheck --check-prefix=MEMBERS %s
// RUN: %python -B %tools/list_verdicts.py %t.sarif | FileCheck --check-prefix=MEMBERS %s
// MEMBERS: 1: confirmed 16 passes, seed 1, allocation + {{[0-9]+}}
// MEMBERS-NEXT: 2: confirmed 16 passes, seed 1, allocation + 0
// MEMBERS-NEXT: 3: not-observed 8 passes, seed 1
// MEMBERS-NEXT: 4: not-tried option confirm_max
// MEMBERS-NEXT: 5: not-tried option confirm_max
// MEMBERS-NEXT: messages about verdicts: 0
// RUN: %status 66 %wavesan report %t.json | FileCheck --check-prefix=AGAIN %s
// AGAIN-DAG: {{^}}  confirmed: output differs at allocation {{[0-9]+}} + 0 with seed 1
// AGAIN-DAG: {{^}}  not observed in 8 passes
//
// Bounds, and reasons not to try.
// RUN: %status 66 %run90a --confirm -o confirm_max=1:confirm_seeds=2 -- %t 2> %t.err > %t.out
// RUN: FileCheck --check-prefix=ONE --input-file=%t.err %s && FileCheck --check-prefix=RESULT --input-file=%t.out %s
// ONE: wavesan: confirmed:
// ONE-COUNT-4: wavesan: not tried (option confirm_max): race at
// RUN: %status 66 %run90a --confirm -o replay_budget_mb=1 -- %t 2> %t.err > %t.out
// RUN: FileCheck --check-prefix=BUDGET --input-file=%t.err %s && FileCheck --check-prefix=RESULT --input-file=%t.out %s
// BUDGET: wavesan: not tried (footprint_budget): race at {{.*}}confirm.hip:{{.*}}, dispatch 1
// The memory before the dispatch has room, that after its first pass has not.
// RUN: %status 66 %run90a --confirm -o replay_budget_mb=3 -- %t 2> %t.err > %t.out
// RUN: FileCheck --check-prefix=BUDGET --input-file=%t.err %s && FileCheck --check-prefix=RESULT --input-file=%t.out %s
// RUN: FileCheck --check-prefix=OTHERS --input-file=%t.err %s
// OTHERS: wavesan: confirmed: {{.*}}, dispatch 2
#include "twin.h"

constexpr int kSize = 128;

__global__ void reversed(int *data) {
  __shared__ int tile[kSize];
  int tid = threadIdx.x;
  tile[tid] = data[tid] + 1;
  data[kSize + tid] += tile[kSize - 1 - tid];
}

__global__ void lastWins(int *data) {
  if (threadIdx.x == 0)
    data[0] = int(blockIdx.x) + 1;
  else
    data[blockIdx.x * 64 + threadIdx.x] += 1;
}

__global__ void agreed(int *data) {
  data[kSize] = 7;
  data[threadIdx.x] += 1;
}

__global__ void sums(float *data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[1] = 7;
  if (threadIdx.x % 32 == 0)
    atomicAdd(&data[0], 1.0f / float(3 + 7 * i));
}

__global__ void times(long long *data) {
  data[kSize] = 7;
  data[threadIdx.x] = clock64();
}

int main() {
  int *first = twin::onDevice(std::vector<int>(600 * 1024)); // two times kSize are used
  int *second = twin::onDevice(std::vector<int>(2 * 64));
  int *third = twin::onDevice(std::vector<int>(kSize + 1));
  float *fourth = twin::onDevice(std::vector<float>(2));
  long long *fifth = twin::onDevice(std::vector<long long>(kSize + 1));
  reversed<<<1, kSize>>>(first);
  lastWins<<<2, 64>>>(second);
  agreed<<<1, kSize>>>(third);
  sums<<<8, kSize>>>(fourth);
  times<<<1, kSize>>>(fifth);
  size_t wrong = 0;
  for (int i : twin::fromDevice(first, 2 * kSize))
    wrong += i != 0 && i != 1;
  std::vector<int> a = twin::fromDevice(second, 2 * 64), b = twin::fromDevice(third, kSize + 1);
  for (int i = 1; i < 2 * 64; ++i)
    wrong += i != 64 && a[size_t(i)] != 1;
  for (int i = 0; i < kSize; ++i)
    wrong += b[size_t(i)] != 1;
  wrong += b[kSize] != 7 || twin::fromDevice(fourth, 2)[1] != 7;
  if (wrong)
    return std::printf("%zu wrong\n", wrong), 1;
  std::puts("result: ok");
}
