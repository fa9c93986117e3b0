// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A HIP library without a GPU: handles are small allocations, work is done at once. Thread-safe.
#include "fake_hip.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

using namespace wavesan::hip;

namespace {
thread_local int lastError = 0;

struct Handle {
  std::atomic<unsigned> magic;
  std::atomic<unsigned> flags{0};
  std::atomic<bool> recorded{false};
};
constexpr unsigned kStream = 0x57, kEvent = 0xe7;
std::atomic<bool> held{false}; ///< nothing ends

std::atomic<unsigned long> lastSum{0};
std::atomic<uint64_t> lastRange{700}, stoppedRange{0};

template <class T> int create(T **out, unsigned magic) {
  auto *handle = new Handle{magic};
  *out = reinterpret_cast<T *>(handle);
  return kHipSuccess;
}

template <class T> int check(T *handle, unsigned magic) {
  return handle && reinterpret_cast<Handle *>(handle)->magic == magic ? int(kHipSuccess) : kFakeErrorInvalidHandle;
}

template <class T> int destroy(T *handle, unsigned magic) {
  if (const int result = check(handle, magic))
    return result;
  // Kept, so that its later use is an error and no accident.
  static std::mutex mutex;
  static auto *const destroyed = new std::vector<std::unique_ptr<Handle>>;
  auto *gone = reinterpret_cast<Handle *>(handle);
  gone->magic = 0;
  std::lock_guard lock(mutex);
  destroyed->emplace_back(gone);
  return kHipSuccess;
}

} // namespace

extern "C" {

// ROCTX's library.
int roctxRangePushA(const char *name) { return 40 + int(std::strlen(name)); }
int roctxRangePop() { return 40; }
uint64_t roctxRangeStartA(const char *) { return ++lastRange; }
void roctxRangeStop(uint64_t range) { stoppedRange = range; }
uint64_t fakeRoctxStopped() { return stoppedRange; }

int hipGetLastError() { return std::exchange(lastError, int(kHipSuccess)); }
int hipPeekAtLastError() { return lastError; }
void fakeHipSetLastError(int error) { lastError = error; }
int hipGetDeviceCount(int *count) {
  *count = 1;
  return kHipSuccess;
}
int hipMalloc(void **pointer, size_t bytes) {
  *pointer = std::malloc(bytes);
  return kHipSuccess;
}
int hipFree(void *pointer) {
  std::free(pointer);
  return kHipSuccess;
}
int hipMemcpyAsync(void *to, const void *from, size_t bytes, int, Stream) {
  std::memcpy(to, from, bytes);
  return kHipSuccess;
}
int hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
  return hipMemcpyAsync(to, from, bytes, kind, nullptr);
}
int hipMemset3D(PitchedPtr pointer, int value, Extent extent) {
  lastSum =
      pointer.pitch + pointer.xSize + pointer.ySize + unsigned(value) + extent.width + extent.height + extent.depth;
  return kHipSuccess;
}
int hipLaunchKernel(const void *function, Dim3 grid, Dim3 block, void **arguments, size_t sharedBytes, Stream) {
  lastSum = grid.x + grid.y + grid.z + block.x + block.y + block.z + sharedBytes;
  if (const auto *kernel = static_cast<const FakeKernel *>(function))
    kernel->run(fakeHipCopyArguments(*kernel, arguments).data());
  return kHipSuccess;
}
int hipMemsetAsync(void *to, int value, size_t bytes, Stream) {
  std::memset(to, value, bytes);
  return kHipSuccess;
}
int hipDeviceSynchronize() { return kHipSuccess; }
int hipStreamCreateWithFlags(Stream *stream, unsigned flags) {
  create(stream, kStream);
  reinterpret_cast<Handle *>(*stream)->flags = flags;
  return kHipSuccess;
}
int hipStreamGetFlags(Stream stream, unsigned *flags) {
  if (const int result = check(stream, kStream))
    return result;
  *flags = reinterpret_cast<Handle *>(stream)->flags;
  return kHipSuccess;
}
int hipStreamQuery(Stream stream) {
  if (stream && check(stream, kStream))
    return kFakeErrorInvalidHandle;
  return held ? int(kHipErrorNotReady) : int(kHipSuccess);
}
int hipStreamWaitValue32(Stream, void *, unsigned, unsigned, unsigned) { return kHipSuccess; }
int hipStreamCreate(Stream *stream) { return create(stream, kStream); }
int hipStreamDestroy(Stream stream) { return destroy(stream, kStream); }
int hipStreamSynchronize(Stream stream) { return stream ? check(stream, kStream) : int(kHipSuccess); }
int hipStreamWaitEvent(Stream stream, Event event, unsigned) {
  return stream && check(stream, kStream) ? kFakeErrorInvalidHandle : check(event, kEvent);
}
int hipEventCreate(Event *event) { return create(event, kEvent); }
int hipEventDestroy(Event event) { return destroy(event, kEvent); }
int hipEventCreateWithFlags(Event *event, unsigned) { return create(event, kEvent); }
int hipEventRecord(Event event, Stream stream) {
  if (check(event, kEvent) || (stream && check(stream, kStream)))
    return kFakeErrorInvalidHandle;
  reinterpret_cast<Handle *>(event)->recorded = true;
  return kHipSuccess;
}
int hipEventSynchronize(Event event) { return check(event, kEvent); }
int hipEventQuery(Event event) {
  if (check(event, kEvent))
    return kFakeErrorInvalidHandle;
  return reinterpret_cast<Handle *>(event)->recorded && !held ? int(kHipSuccess) : int(kHipErrorNotReady);
}

void fakeHipHold(bool hold) { held = hold; }

unsigned long fakeHipLastSum() { return lastSum; }
}
