// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A HIP program without kernels of its own: memory, copies, fills, streams, events, on AMD's unmodified libamdhip64.
// Prints PASS and exits with 0 if everything it reads back is right.
#include <hip/hip_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

[[noreturn]] void fail(const char *what, int line, const char *why) {
  std::printf("FAIL %s (line %d): %s\n", what, line, why);
  std::exit(1);
}
#define HIP(call)                                                                                                      \
  if (hipError_t status = (call); status != hipSuccess)                                                                \
  fail(#call, __LINE__, hipGetErrorString(status))
#define REQUIRE(condition)                                                                                             \
  if (!(condition))                                                                                                    \
  fail(#condition, __LINE__, "does not hold")

constexpr size_t kWords = 3 << 20; // beyond the size at which HIP pins memory for copies

template <class T> T *deviceMemory(size_t count) {
  void *p = nullptr;
  HIP(hipMalloc(&p, count * sizeof(T)));
  return static_cast<T *>(p);
}

void copiesAndFills() {
  std::vector<int> in(kWords), out(kWords);
  std::iota(in.begin(), in.end(), 17);
  int *a = deviceMemory<int>(kWords), *b = deviceMemory<int>(kWords);
  HIP(hipMemcpy(a, in.data(), kWords * 4, hipMemcpyHostToDevice));
  HIP(hipMemcpy(b, a, kWords * 4, hipMemcpyDeviceToDevice));
  HIP(hipMemcpy(out.data(), b, kWords * 4, hipMemcpyDeviceToHost));
  REQUIRE(in == out);
  for (size_t bytes : {size_t(1), size_t(3), size_t(4096), kWords * 4 - 3}) {
    HIP(hipMemcpy(a, in.data(), kWords * 4, hipMemcpyHostToDevice));
    HIP(hipMemset(a, 0x5a, bytes));
    HIP(hipMemcpy(out.data(), a, kWords * 4, hipMemcpyDeviceToHost));
    const auto *got = reinterpret_cast<unsigned char *>(out.data()),
               *was = reinterpret_cast<unsigned char *>(in.data());
    for (size_t i = 0; i < kWords * 4; ++i)
      REQUIRE(got[i] == (i < bytes ? 0x5a : was[i]));
  }
  HIP(hipMemsetD32(a, 0x01020304, 1000));
  HIP(hipMemsetD16(reinterpret_cast<int *>(a) + 1000, 0x0506, 1000));
  HIP(hipMemcpy(out.data(), a, 8000, hipMemcpyDeviceToHost));
  REQUIRE(out[999] == 0x01020304 && out[1000] == 0x05060506 && out[1499] == 0x05060506 && out[1500] != 0x05060506);
  HIP(hipFree(a));
  HIP(hipFree(b));
}

void pitchedMemory() {
  constexpr size_t width = 1000, height = 50;
  char *a = nullptr, *b = nullptr;
  size_t pitch = 0;
  HIP(hipMallocPitch(reinterpret_cast<void **>(&a), &pitch, width, height));
  HIP(hipMallocPitch(reinterpret_cast<void **>(&b), &pitch, width, height));
  REQUIRE(pitch >= width && pitch % 128 == 0);
  std::vector<char> in(width * height), out(width * height);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = char(i % 113);
  HIP(hipMemcpy2D(a, pitch, in.data(), width, width, height, hipMemcpyHostToDevice));
  HIP(hipMemset2D(a, pitch, 9, 10, height));
  HIP(hipMemset2D(b, pitch, 1, width, height));
  HIP(hipMemcpy2D(b, pitch, a, pitch, width - 1, height, hipMemcpyDeviceToDevice));
  HIP(hipMemcpy2D(out.data(), width, b, pitch, width, height, hipMemcpyDeviceToHost));
  for (size_t i = 0; i < in.size(); ++i)
    REQUIRE(out[i] == (i % width < 10 ? 9 : i % width == width - 1 ? 1 : in[i]));
  HIP(hipFree(a));
  HIP(hipFree(b));
}

void streamsAndEvents() {
  hipStream_t first, second;
  HIP(hipStreamCreate(&first));
  HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  hipEvent_t begin, end;
  HIP(hipEventCreate(&begin));
  HIP(hipEventCreate(&end));
  int *device = deviceMemory<int>(kWords), *pinned = nullptr;
  HIP(hipHostMalloc(reinterpret_cast<void **>(&pinned), kWords * 4, hipHostMallocDefault));
  for (int round = 0; round < 5; ++round) {
    std::iota(pinned, pinned + kWords, round);
    HIP(hipEventRecord(begin, first));
    HIP(hipMemcpyAsync(device, pinned, kWords * 4, hipMemcpyHostToDevice, first));
    HIP(hipMemsetAsync(device, 1, 400, first));
    HIP(hipEventRecord(end, first));
    HIP(hipStreamWaitEvent(second, end, 0));
    HIP(hipMemcpyAsync(pinned, device, kWords * 4, hipMemcpyDeviceToHost, second));
    HIP(hipStreamSynchronize(second));
    float ms = -1;
    HIP(hipEventElapsedTime(&ms, begin, end));
    REQUIRE(ms > 0);
    for (size_t i = 0; i < kWords; ++i)
      REQUIRE(pinned[i] == (i < 100 ? 0x01010101 : int(i) + round));
  }
  static int calls;
  calls = 0;
  HIP(hipStreamAddCallback(first, [](hipStream_t, hipError_t, void *data) { ++*static_cast<int *>(data); }, &calls, 0));
  HIP(hipStreamSynchronize(first));
  REQUIRE(calls == 1);
  HIP(hipFree(device));
  HIP(hipHostFree(pinned));
  HIP(hipEventDestroy(begin));
  HIP(hipEventDestroy(end));
  HIP(hipStreamDestroy(first));
  HIP(hipStreamDestroy(second));
}

void registeredMemory() {
  std::vector<int> host(kWords), out(kWords);
  std::iota(host.begin(), host.end(), 3);
  int *device = deviceMemory<int>(kWords);
  for (int round = 0; round < 3; ++round) {
    HIP(hipHostRegister(host.data(), kWords * 4, hipHostRegisterDefault));
    void *mapped = nullptr;
    HIP(hipHostGetDevicePointer(&mapped, host.data(), 0));
    HIP(hipMemcpy(device, mapped, kWords * 4, hipMemcpyDeviceToDevice));
    HIP(hipMemcpy(out.data(), device, kWords * 4, hipMemcpyDeviceToHost));
    REQUIRE(host == out);
    HIP(hipMemset(mapped, 0, 4000));
    HIP(hipDeviceSynchronize());
    REQUIRE(host[0] == 0 && host[999] == 0 && host[1000] == 1003);
    HIP(hipHostUnregister(host.data()));
  }
  HIP(hipFree(device));
}

void memoryLimits() {
  size_t free = 0, total = 0;
  HIP(hipMemGetInfo(&free, &total));
  REQUIRE(free <= total && total > 0);
  void *p = nullptr;
  REQUIRE(hipMalloc(&p, total * 2) == hipErrorOutOfMemory);
  (void)hipGetLastError();
  int *managed = nullptr;
  HIP(hipMallocManaged(reinterpret_cast<void **>(&managed), 4096, hipMemAttachGlobal));
  managed[0] = 5;
  HIP(hipMemset(managed, 6, 4));
  HIP(hipDeviceSynchronize());
  REQUIRE(managed[0] == 0x06060606);
  HIP(hipFree(managed));
}

void streamValues() {
  hipStream_t first, second;
  HIP(hipStreamCreate(&first));
  HIP(hipStreamCreate(&second));
  void *word = nullptr;
  HIP(hipExtMallocWithFlags(&word, 8, hipMallocSignalMemory));
  HIP(hipStreamWaitValue32(second, word, 77, hipStreamWaitValueEq, 0xffffffff));
  HIP(hipStreamWriteValue32(first, word, 77, 0));
  HIP(hipStreamSynchronize(second));
  HIP(hipStreamSynchronize(first));
  HIP(hipFree(word));
}

void severalThreads() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      std::vector<int> in(10000, t), out(10000);
      int *device = deviceMemory<int>(10000);
      hipStream_t stream;
      HIP(hipStreamCreate(&stream));
      for (int i = 0; i < 20; ++i) {
        HIP(hipMemcpyAsync(device, in.data(), 40000, hipMemcpyHostToDevice, stream));
        HIP(hipMemsetAsync(device, t, 100, stream));
        HIP(hipMemcpyAsync(out.data(), device, 40000, hipMemcpyDeviceToHost, stream));
        HIP(hipStreamSynchronize(stream));
        REQUIRE(out[9999] == t && out[0] == t * 0x01010101);
      }
      HIP(hipStreamDestroy(stream));
      HIP(hipFree(device));
    });
  for (std::thread &t : threads)
    t.join();
}

} // namespace

int main(int argc, char **argv) {
  hipDeviceProp_t properties;
  HIP(hipGetDeviceProperties(&properties, 0));
  std::printf("%s, waves of %d\n", properties.gcnArchName, properties.warpSize);
  REQUIRE(properties.sharedMemPerBlock == 65536);
  copiesAndFills();
  pitchedMemory();
  streamsAndEvents();
  registeredMemory();
  memoryLimits();
  streamValues();
  severalThreads();
  // Some programs end without waiting for anything, while threads of the runtime are at work.
  if (argc > 1 && std::string(argv[1]) == "leave-work") {
    int *device = deviceMemory<int>(kWords);
    for (int i = 0; i < 50; ++i)
      HIP(hipMemsetAsync(device, i, kWords * 4, nullptr));
    // HIP itself does not survive calls from other threads during its tear-down, so this one only is there.
    std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach();
  }
  std::printf("PASS\n");
  return 0;
}
