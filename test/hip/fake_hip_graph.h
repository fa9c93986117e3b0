// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graphs of the fabricated HIP library. A launch executes the nodes at once: of those whose dependencies have been
// executed always the one that was added last, so that a missing edge shows.
#ifndef WAVESAN_TEST_FAKE_HIP_GRAPH_H
#define WAVESAN_TEST_FAKE_HIP_GRAPH_H

#include "fake_hip.h"

extern "C" {
int hipLaunchHostFunc(wavesan::hip::Stream, void (*function)(void *), void *data);
int hipMemcpy2DAsync(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width, size_t height,
                     int kind,
                     wavesan::hip::Stream); ///< these three: recorded only
int hipMemsetD32Async(void *to, int value, size_t count, wavesan::hip::Stream);
int hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, wavesan::hip::Stream);
int hipStreamIsCapturing(wavesan::hip::Stream, int *status); ///< never by itself
int hipStreamGetCaptureInfo(wavesan::hip::Stream, int *status, unsigned long long *id);
int hipStreamBeginCapture(wavesan::hip::Stream, int mode);
int hipStreamEndCapture(wavesan::hip::Stream, void **graph);
int hipThreadExchangeStreamCaptureMode(int *mode);
int hipGraphLaunch(void *exec, wavesan::hip::Stream);

/// Dynamic LDS of each kernel: at most kFakeMaxGroupBytes.
int hipFuncGetAttributes(wavesan::hip::FunctionAttributes *, const void *function);

/// Graphs, executable graphs and nodes that live.
struct FakeGraphCounts {
  long graphs, execs, nodes, launches, eventsRecorded, eventWaits;
};
FakeGraphCounts fakeHipGraphCounts();
/// From here on hipGraphInstantiate and hipGraphAddKernelNode fail with this; 0: no longer.
void fakeHipFailGraphs(int error);
}

inline constexpr int kFakeMaxGroupBytes = 1 << 16;

#endif // WAVESAN_TEST_FAKE_HIP_GRAPH_H
