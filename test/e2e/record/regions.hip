// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region is recorded while it is executed: over three streams and two host threads, with synchronous calls, with and without a missing
// edge. The program computes what it computes without.
// RUN: %cc %s -o %t %graph
// RUN: %status 66 %wavesan record --device=cpu --gpu=gfx90a --region=step -o %t.step -- %t 2>&1 | FileCheck %s
// RUN: %python -B %tools/check_record.py %t.step.json --kinds fill,kernel,kernel,copy,copy --edges "1-2 1-3 2-4 3-4 4-5" --conflicts ""
// RUN: FileCheck --check-prefix=DOT --input-file=%t.step.dot %s
// The same region again, and no third time.
// RUN: %python -B %tools/check_record.py %t.step.2.json --kinds fill,kernel,kernel,copy,copy --edges "1-2 1-3 2-4 3-4 4-5" --conflicts ""
// RUN: not ls %t.step.3.json
// CHECK: wavesan: recorded region 'step': 5 nodes (2 kernels, 2 copies, 1 fill) in 2 streams, 5 edges, 0 conflicts: {{.*}}.step.json, {{.*}}.step.dot
// CHECK: wavesan: recorded region 'step' (number 2): 5 nodes
// CHECK: result: ok
// DOT: label="2: kernel twin::add(int const*, int*, int)\nstream 1\ngrid 4096, 1, 1, workgroup 256, 1, 1, 0 bytes of LDS"
// DOT: n1 -> n2;
//
// ROCTX's markers; the first region, whatever its name.
// RUN: %status 66 %wavesan record --device=cpu --gpu=gfx90a --region=first -o %t.first -- %t 2>&1 | FileCheck --check-prefix=FIRST %s
// FIRST: wavesan: recorded region 'setup': 2 nodes (2 copies) in 1 stream, 1 edge, 0 conflicts
// FIRST-NOT: recorded
// FIRST: result: ok
//
// RUN: %status 66 %wavesan record --device=cpu --gpu=gfx90a --region=both -o %t.both -- %t 2>&1 | FileCheck --check-prefix=BOTH %s
// RUN: %python -B %tools/check_record.py %t.both.json --kinds fill,fill --edges "" --conflicts ""
// BOTH: wavesan: recorded region 'both': 2 nodes (2 fills) in 2 streams, 0 edges, 0 conflicts
//
// RUN: %status 66 %wavesan record --device=cpu --gpu=gfx90a --region=racy -o %t.racy -- %t 2>&1 | FileCheck --check-prefix=RACY %s
// RUN: %python -B %tools/check_record.py %t.racy.json --kinds kernel,kernel --edges "" --conflicts "1-2"
// RUN: FileCheck --check-prefix=RACYDOT --input-file=%t.racy.dot %s
// RACY: recorded region 'racy': 2 nodes (2 kernels) in 2 streams, 0 edges, 1 conflict
// RACYDOT: n1 -> n2 [style=dashed, color=red, label="missing: both touch 16384 bytes"]
//
// RUN: %status 66 %wavesan record --device=cpu --gpu=gfx90a --region=all -o %t.all -- %t 2>&1 | FileCheck --check-prefix=ALL %s
// ALL: recorded the whole program: 17 nodes (6 kernels, 7 copies, 4 fills) in 3 streams, {{[0-9]+}} edges, 1 conflict
//
// A region that the program never begins.
// RUN: %status 67 %wavesan record --device=cpu --gpu=gfx90a --region=nothing -o %t.nothing --options=exitcode=0 -- %t 2>&1 | FileCheck --check-prefix=NOTHING %s
// NOTHING: wavesan: record: nothing was recorded: the program began no region of the name 'nothing' (wavesan_region_begin, roctxRangePush
// RUN: not ls %t.nothing.json
//
// It cannot be written.
// RUN: %status 2 %wavesan record --region=step -o /no/such/directory/x -- %t 2>&1 | FileCheck --check-prefix=WHERE %s
// WHERE: wavesan: error: record: cannot write to '/no/such/directory/x.*': /no/such/directory: No such file or directory
#include "record_graph.h"
#include "streams.h"

#include <thread>

extern "C" {
int roctxRangePushA(const char *);
int roctxRangePop();
}

int main() {
  const hipStream_t first = twin::stream(), second = twin::stream();
  const hipEvent_t fork = twin::event(), join = twin::event();
  int *data = twin::buffer(), *left = twin::buffer(), *right = twin::buffer(), *onHost = twin::pinned();
  std::vector<int> result(twin::kCount);

  roctxRangePushA("setup");
  roctxRangePushA("inner");
  twin::must(hipMemcpy(data, result.data(), twin::kBytes, hipMemcpyHostToDevice), "hipMemcpy");
  roctxRangePop();
  twin::must(hipMemcpy(left, result.data(), twin::kBytes, hipMemcpyHostToDevice), "hipMemcpy");
  roctxRangePop();
  for (int round = 0; round < 2; ++round) {
    wavesan_region_begin("step");
    twin::must(hipMemsetD32Async(data, 40, twin::kCount, first), "hipMemsetD32Async");
    twin::must(hipEventRecord(fork, first), "hipEventRecord");
    twin::must(hipStreamWaitEvent(second, fork, 0), "hipStreamWaitEvent");
    LAUNCH(twin::add, second, data, right, 2);
    twin::must(hipEventRecord(join, second), "hipEventRecord");
    LAUNCH(twin::add, first, data, left, 1);
    twin::must(hipStreamWaitEvent(first, join, 0), "hipStreamWaitEvent");
    twin::must(hipMemcpyAsync(left, right, twin::kBytes / 2, hipMemcpyDeviceToDevice, first), "hipMemcpyAsync");
    twin::must(hipMemcpyAsync(onHost, left, twin::kBytes, hipMemcpyDeviceToHost, first), "hipMemcpyAsync");
    // The host uses results inside of the region.
    twin::must(hipStreamSynchronize(first), "hipStreamSynchronize");
    if (onHost[0] != 42 || onHost[twin::kCount - 1] != 41)
      return 1;
    wavesan_region_end();
  }
  // Two threads, one of which is not in the region by its own marker.
  wavesan_region_begin("both");
  std::thread other([&] { twin::must(hipMemsetD32Async(right, 5, twin::kCount, second), "hipMemsetD32Async"); });
  twin::must(hipMemsetD32Async(data, 7, twin::kCount, first), "hipMemsetD32Async");
  other.join();
  wavesan_region_end();
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");

  wavesan_region_begin("racy");
  LAUNCH(twin::add, first, data, left, 1);
  LAUNCH(twin::add, second, left, right, 1);
  wavesan_region_end();
  twin::must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  twin::must(hipMemcpy(result.data(), data, twin::kBytes, hipMemcpyDeviceToHost), "hipMemcpy");
  return twin::compare(result, [](size_t) { return 7; });
}
