// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The few functions of HIP that the fabricated library has, and what it lets tests see.
#ifndef WAVESAN_TEST_FAKE_HIP_H
#define WAVESAN_TEST_FAKE_HIP_H

#include "hip_types.h"

#include <cstddef>
#include <vector>

/// What a "kernel" of this library is: its arguments are `count` values of 8 bytes.
struct FakeKernel {
  void (*run)(const unsigned long *arguments);
  int count;
};
std::vector<unsigned long> fakeHipCopyArguments(const FakeKernel &kernel, void **arguments);

extern "C" {
int hipGetDeviceCount(int *count);
int hipGetLastError();
int hipPeekAtLastError();
void fakeHipSetLastError(int error); ///< of this thread
int hipMalloc(void **pointer, size_t bytes);
int hipFree(void *pointer);
int hipMemcpy(void *to, const void *from, size_t bytes, int kind); ///< calls hipMemcpyAsync, as HIP's does
int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, wavesan::hip::Stream);
int hipMemset3D(wavesan::hip::PitchedPtr, int value, wavesan::hip::Extent);
int hipLaunchKernel(const void *function, wavesan::hip::Dim3 grid, wavesan::hip::Dim3 block, void **arguments,
                    size_t sharedBytes, wavesan::hip::Stream);
int hipStreamCreate(wavesan::hip::Stream *);
int hipStreamDestroy(wavesan::hip::Stream);
int hipStreamSynchronize(wavesan::hip::Stream);
int hipStreamWaitEvent(wavesan::hip::Stream, wavesan::hip::Event, unsigned flags);
int hipEventCreate(wavesan::hip::Event *);
int hipEventDestroy(wavesan::hip::Event);
int hipEventRecord(wavesan::hip::Event, wavesan::hip::Stream);
int hipEventSynchronize(wavesan::hip::Event);
int hipEventQuery(wavesan::hip::Event); ///< an event that was never recorded is not ready
int hipMemsetAsync(void *to, int value, size_t bytes, wavesan::hip::Stream);
int hipDeviceSynchronize();
int hipStreamCreateWithFlags(wavesan::hip::Stream *, unsigned flags);
int hipStreamGetFlags(wavesan::hip::Stream, unsigned *flags);
int hipStreamQuery(wavesan::hip::Stream);
int hipStreamWaitValue32(wavesan::hip::Stream, void *at, unsigned value, unsigned flags, unsigned mask);
int hipEventCreateWithFlags(wavesan::hip::Event *, unsigned flags);

/// Until it is called with false, recorded events and streams stay not ready.
void fakeHipHold(bool hold);

int hipEventRecordWithFlags(wavesan::hip::Event, wavesan::hip::Stream, unsigned flags); ///< this library lacks it

/// The sum of what hipMemset3D and hipLaunchKernel were given last, by value.
unsigned long fakeHipLastSum();
}

inline constexpr int kFakeErrorInvalidHandle = 400;

#endif // WAVESAN_TEST_FAKE_HIP_H
