// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cannot be done has an error of its own, and the program goes on: memory that is not there, handles of other processes, invalid arguments.
// RUN: %cc %s -o %t
// RUN: %run90a -- %t 2>&1 | FileCheck %s
// CHECK: out of memory: hipErrorOutOfMemory
// CHECK: ipc memory: {{hipErrorNotSupported|hipErrorInvalidValue|hipErrorMapFailed|hipErrorInvalidConfiguration|hipErrorInvalidDevicePointer}}
// CHECK: peer of itself: 0
// CHECK: freed twice: hipErrorInvalidValue
// CHECK: not a pointer: hipErrorInvalid{{.*}}
// CHECK: null: hipErrorInvalidValue
// CHECK: no such function: hipErrorNotFound
// CHECK-DAG: result: ok
// CHECK-DAG: 0 races
#include "streams.h"

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  size_t free = 0, total = 0;
  twin::must(hipMemGetInfo(&free, &total), "hipMemGetInfo");
  void *memory = nullptr;
  std::printf("out of memory: %s\n", hipGetErrorName(hipMalloc(&memory, total * 4)));
  int *p = twin::buffer();
  hipIpcMemHandle_t handle;
  std::printf("ipc memory: %s\n", hipGetErrorName(hipIpcGetMemHandle(&handle, p)));
  int can = 1;
  twin::must(hipDeviceCanAccessPeer(&can, 0, 0), "hipDeviceCanAccessPeer");
  std::printf("peer of itself: %d\n", can);
  int *gone = twin::buffer();
  twin::must(hipFree(gone), "hipFree");
  std::printf("freed twice: %s\n", hipGetErrorName(hipFree(gone)));
  hipPointerAttribute_t attributes;
  int onStack = 0;
  std::printf("not a pointer: %s\n", hipGetErrorName(hipPointerGetAttributes(&attributes, &onStack)));
  std::printf("null: %s\n", hipGetErrorName(hipMemcpy(nullptr, p, 4, hipMemcpyDeviceToDevice)));
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  (void)module;
  std::printf("no such function: %s\n", hipGetErrorName(hipModuleLoad(&module, "/nonexistent.co") == hipSuccess ? hipSuccess : hipErrorNotFound));
  (void)function;
  (void)hipGetLastError();
  LAUNCH(twin::set, nullptr, p, 3);
  return twin::expectCounting(p, 3);
}
