// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Snapshots in the device's memory, in pinned and in pageable host memory, and in a file: the kernel adds to 4 MiB that it finds, so that a pass
// over anything but the memory before it would be seen in the result.
// RUN: %cc %s -o %t
// RUN: %build_tool %S/Inputs/tiers.c -o %t.so
// RUN: rm -rf %t.snapshots && mkdir %t.snapshots
//
// RUN: %run90a -o tool=%t.so:replay_device_mb=64 -- %t > %t.device
// RUN: FileCheck --check-prefixes=RESTORED --input-file=%t.device %s
// RUN: FileCheck --check-prefix=DEVICE --input-file=%t.device %s
// DEVICE: will save device 4194{{[0-9]+}} pinned 0 pageable 0 file 0{{$}}
// DEVICE: saved device 4194{{[0-9]+}} pinned 0 pageable 0 file 0{{$}}
// RUN: %run90a -o tool=%t.so:replay_pinned_mb=64 -- %t > %t.pinned
// RUN: FileCheck --check-prefix=RESTORED --input-file=%t.pinned %s && FileCheck --check-prefix=PINNED --input-file=%t.pinned %s
// PINNED: saved device 0 pinned 4194{{[0-9]+}} pageable 0 file 0{{$}}
// RUN: %run90a -o tool=%t.so -- %t > %t.pageable
// RUN: FileCheck --check-prefix=RESTORED --input-file=%t.pageable %s && FileCheck --check-prefix=PAGEABLE --input-file=%t.pageable %s
// PAGEABLE: saved device 0 pinned 0 pageable 4194{{[0-9]+}} file 0{{$}}
// RUN: %run90a -o tool=%t.so:replay_budget_mb=1:replay_file_mb=64:replay_directory=%t.snapshots -- %t > %t.file
// RUN: FileCheck --check-prefix=RESTORED --input-file=%t.file %s && FileCheck --check-prefix=FILE --input-file=%t.file %s
// FILE: saved device 0 pinned 0 pageable 1048576 file 3145{{[0-9]+}}{{$}}
// RUN: %run1030 -o tool=%t.so:replay_device_mb=1:replay_pinned_mb=1:replay_budget_mb=1:replay_file_mb=64:replay_directory=%t.snapshots -- %t > %t.all
// RUN: FileCheck --check-prefix=RESTORED --input-file=%t.all %s && FileCheck --check-prefix=ALL --input-file=%t.all %s
// ALL: saved device 1048576 pinned 1048576 pageable 1048576 file 1048{{[0-9]+}}{{$}}
//
// No file is left.
// RUN: find %t.snapshots -type f | count 0
//
// RESTORED: tool: {{.*}}addTo{{.*}} will save
// RESTORED: tool: {{.*}}addTo{{.*}} saved
// RESTORED-NEXT: tool: {{.*}}addTo{{.*}} restored 4194304 bytes
// RESTORED-NEXT: tool: {{.*}}addTo{{.*}} restored 4194304 bytes
// RESTORED: result: ok
//
// A sum of budgets that does not do, a full disk, a directory that is not there: the dispatch runs once.
// RUN: %run90a -o tool=%t.so:replay_device_mb=1:replay_pinned_mb=1:replay_budget_mb=1 -- %t > %t.sum
// RUN: FileCheck --check-prefix=SUM --input-file=%t.sum %s
// SUM-NOT: will save
// SUM: tool: {{.*}}addTo{{.*}} declined footprint_budget
// SUM-NOT: restored
// SUM: result: ok
// RUN: %run90a -o tool=%t.so:replay_budget_mb=1:replay_file_mb=64:replay_directory=%t.snapshots -- %t full > %t.full 2> %t.full.err
// RUN: FileCheck --check-prefix=FULL --input-file=%t.full %s
// RUN: FileCheck --check-prefix=FULL-ERR -DDIR=%t.snapshots --input-file=%t.full.err %s
// FULL: tool: {{.*}}addTo{{.*}} will save device 0 pinned 0 pageable 1048576 file 3145
// FULL: tool: {{.*}}addTo{{.*}} declined snapshot_file
// FULL-NOT: restored
// FULL: result: ok
// FULL-ERR: wavesan: kernel replay: no snapshot for addTo({{.*}}): cannot write to a file in [[DIR]] behind {{[0-9]+}} bytes: File too large
// FULL-ERR: wavesan: checked {{[1-9][0-9]*}} accesses in 1 kernels: 0 races
// RUN: %run90a -o tool=%t.so:replay_budget_mb=1:replay_file_mb=64:replay_directory=%t.none -- %t > %t.nowhere 2>&1
// RUN: FileCheck --check-prefix=NOWHERE --input-file=%t.nowhere %s
// NOWHERE-DAG: no snapshot for addTo({{.*}}): no file in {{.*}}.none: No such file or directory
// NOWHERE-DAG: result: ok
//
// A snapshot that cannot be read any more is the end: the program's memory would be wrong.
// RUN: env TIERS_TRUNCATE=1 %status signal:ABRT %run90a -o tool=%t.so:replay_budget_mb=1:replay_file_mb=64:replay_directory=%t.snapshots -- %t > %t.cut 2> %t.cut.err
// RUN: FileCheck --check-prefix=CUT --input-file=%t.cut %s
// RUN: FileCheck --check-prefix=CUT-ERR --input-file=%t.cut.err %s
// CUT: tool: cut short
// CUT-NOT: restored
// CUT-NOT: result
// CUT-ERR: wavesan: kernel replay: memory cannot be restored before the next pass of addTo({{.*}}): cannot read the snapshot's file in {{.*}}: it is shorter than it was; the program is ended
#include "twin.h"

#include <cstring>
#include <sys/resource.h>

constexpr int kCount = 512 * 1024; // 2 MiB

__global__ void addTo(int *a, int *b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] += i;
  b[i] += 2 * i;
}

int main(int count, char **arguments) {
  int *a = twin::onDevice(std::vector<int>(kCount, 3)), *b = twin::onDevice(std::vector<int>(kCount, 4));
  if (count > 1 && std::strcmp(arguments[1], "full") == 0) {
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 5 << 19; // only now: HIP has written files; less than that of the snapshot
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  addTo<<<kCount / 256, 256>>>(a, b);
  const std::vector<int> second = twin::fromDevice(b, kCount);
  for (int i = 0; i < kCount; ++i)
    if (second[size_t(i)] != 4 + 2 * i)
      return std::printf("element %d: %d\n", i, second[size_t(i)]), 1;
  return twin::compare(twin::fromDevice(a, kCount), [](size_t i) { return int(3 + i); });
}
