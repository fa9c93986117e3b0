// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dispatch becomes a capsule, and the capsule shows the same races without the program: the same lines, the same places in memory. It reads memory
// through a pointer that lies in memory, and a __device__ variable that earlier dispatches have changed.
// A sanitizer takes the addresses where a capsule's memory must lie (docs/development.md).
// UNSUPPORTED: sanitized
// RUN: %cc %s -o %t && %cc -DFIXED %s -o %t.fixed
// RUN: rm -rf %t.90 %t.10 %t.all %t.kernels && mkdir %t.10
// RUN: %status 66 %run90a --seed=3 --capsule=%t.90 -- %t > %t.out90 2> %t.run90
// RUN: FileCheck --check-prefixes=RACES,RECORDED --input-file=%t.run90 %s
// RUN: %status 66 %run1030 --capsule=%t.10 -- %t > %t.out10 2> %t.run10
// RUN: FileCheck --check-prefixes=RACES,RECORDED --input-file=%t.run10 %s
// RACES: race: LDS write-read {{.*}} on `tile`
// RACES: read {{.*}} at {{.*}}capsule.hip:[[#READ:]]:
// RACES: write {{.*}} at {{.*}}capsule.hip:[[#READ-2]]:
// RACES: race: global memory write-write {{.*}} at allocation 9 (4100 bytes) + 4096
// One dispatch reported races; the others with the same ones get none.
// RECORDED: wavesan: capsule of dispatch 3, mirror({{.*}}): {{.*}}/mirror-{{[0-9]+}}-3.capsule
// RECORDED-NOT: capsule of dispatch
// RECORDED: wavesan: capsules: 1 written to
//
// The program is gone. Both places are named as they were.
// RUN: mv %t %t.away
// RUN: %status 0 %wavesan replay --device=cpu %t.90 > %t.replay90 2>&1
// RUN: FileCheck --check-prefixes=RACES,SAME --input-file=%t.replay90 %s
// RUN: %status 0 %wavesan replay --device=cpu %t.10/*.capsule > %t.replay10 2>&1
// RUN: FileCheck --check-prefixes=RACES,SAME --input-file=%t.replay10 %s
// SAME: replay {{.*}}: reproduced: 2 of 2 recorded races, output as recorded
//
// Fewer workgroups and less memory: the memory that the kernel does not touch is gone, and what it reads is there.
// RUN: %status 0 %wavesan replay --device=cpu --minimise %t.90 > %t.minimised 2>&1
// RUN: FileCheck --check-prefix=MINIMISED --input-file=%t.minimised %s
// MINIMISED: wavesan: minimised {{.*}}.min.capsule: 8 workgroups, [[#%u,BEFORE:]] bytes of memory in {{[0-9]+}} regions became 2 workgroups, {{[0-9][0-9]?[0-9]?[0-9]?[0-9]?}} bytes of memory in {{[1-4]}} regions
// RUN: %status 0 %wavesan replay --device=cpu %t.90/*.min.capsule > %t.small 2>&1
// RUN: FileCheck --check-prefixes=RACES,SAME --input-file=%t.small %s
//
// A dispatch without a race, recorded because all are: nothing to reproduce.
// RUN: %status 0 %run90a --capsule=%t.all --capsule-all -- %t.fixed > %t.out 2> %t.err
// RUN: FileCheck --check-prefix=ALL --input-file=%t.err %s
// ALL: capsules: 5 written to
// RUN: %status 1 %wavesan replay --device=cpu %t.all > %t.clean 2>&1
// RUN: FileCheck --check-prefix=CLEAN --input-file=%t.clean %s
// CLEAN-COUNT-5: not reproduced: no race was recorded, 0 found, output as recorded
// CLEAN-NOT: output differs
//
// A kernel by name, and a bound.
// RUN: %status 0 %run90a --capsule=%t.kernels --capsule-all --capsule-kernels='count*' -o capsule_max=1 -- %t.fixed > %t.out 2> %t.err
// RUN: FileCheck --check-prefix=KERNELS --input-file=%t.err %s
// KERNELS: capsule of dispatch {{[0-9]+}}, counts(
// KERNELS-NOT: capsule of dispatch
// KERNELS: capsules: 1 written to {{.*}} (option capsule_max: no more were looked for)
//
// A place where nothing can be written.
// RUN: %status 66 %run90a --capsule=%t.fixed -- %t.away > %t.out 2> %t.err
// RUN: FileCheck --check-prefix=NOPLACE --input-file=%t.err %s
// NOPLACE: wavesan: no capsule for dispatch 3, mirror({{.*}}): cannot write {{.*}}.capsule: Not a directory
// NOPLACE: capsules: 0 written to
//
// Damaged, cut short, not there, not for this machine's agent.
// RUN: for f in %t.10/*.capsule; do printf x | dd of=$f bs=1 seek=300 conv=notrunc 2> /dev/null; done
// RUN: %status 2 %wavesan replay --device=cpu %t.10 2> %t.err
// RUN: FileCheck --check-prefix=TAMPERED --input-file=%t.err %s
// TAMPERED: wavesan: error: replay: {{.*}}.capsule: wrong checksum of {{.*}}
// TAMPERED-NOT: {{.}}
// RUN: for f in %t.10/*.capsule; do truncate -s 1000 $f; done
// RUN: %status 2 %wavesan replay --device=cpu %t.10 2> %t.err
// RUN: FileCheck --check-prefix=SHORT --input-file=%t.err %s
// SHORT: wavesan: error: replay: {{.*}}.capsule: cut short, or longer than it should be
// SHORT-NOT: {{.}}
// RUN: %status 2 %wavesan replay --device=cpu %t.nowhere 2> %t.err
// RUN: FileCheck --check-prefix=NOWHERE --input-file=%t.err %s
// NOWHERE: wavesan: error: replay: {{.*}}.nowhere: No such file or directory
#include "twin.h"

constexpr int kSize = 128, kGroups = 8;

struct Node {
  int *data;
};
__device__ int bias = 3;

__global__ void counts(int *data) {
  if (threadIdx.x == 0)
    atomicAdd(&bias, 1);
  data[threadIdx.x] += int(threadIdx.x);
}

__global__ void mirror(const Node *node, int *out) {
  __shared__ int tile[kSize];
  int tid = threadIdx.x;
  tile[tid] = node->data[tid] + bias;
  BARRIER_IF_FIXED();
  out[blockIdx.x * kSize + tid] = tile[kSize - 1 - tid];
#ifdef FIXED
  if (tid == 0)
    atomicMax(&out[kGroups * kSize], int(blockIdx.x));
#else
  if (tid == 0)
    out[kGroups * kSize] = int(blockIdx.x);
#endif
}

int main() {
  int *unrelated = twin::onDevice(std::vector<int>(8 << 20, 1));
  int *data = twin::onDevice(twin::counting<int>(kSize));
  Node *node = twin::onDevice(std::vector<Node>{{data}});
  int *out = twin::onDevice(std::vector<int>(kGroups * kSize + 1));
  counts<<<1, kSize>>>(data);
  counts<<<1, kSize>>>(data);
  for (int i = 0; i < 3; ++i)
    mirror<<<kGroups, kSize>>>(node, out);
  std::vector<int> result = twin::fromDevice(out, kGroups * kSize + 1);
  if (twin::fromDevice(unrelated, 1)[0] != 1 || result.back() < 0)
    return 1;
  result.pop_back();
  return twin::compare(result, [](size_t i) { return 1000 + 3 * (kSize - 1 - int(i % kSize)) + 5; });
}
