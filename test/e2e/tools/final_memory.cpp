// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linked into a program of the suite, writes a hash of the memory that it has allocated through HIP to the file FINAL_MEMORY (environment): of each
// allocation when it is freed or when the process ends, and of each __device__ variable when the process ends. Its functions stand in front of
// HIP's for the program alone (they are hidden); what it calls itself goes to HIP past WaveSan's interposer, so that it orders nothing.
//
// Not there: memory that is freed in the order of a stream, and host memory that is still registered when the process ends.
#include <hip/hip_runtime_api.h>

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace {

struct Variable {
  const void *host;
  size_t bytes;
};

std::mutex lock;
std::map<void *, size_t> live;
std::vector<Variable> variables;
FILE *out = nullptr;
bool started = false;

/// The next one, as the program would call it.
template <class Type> Type *next(const char *name) {
  auto *found = reinterpret_cast<Type *>(dlsym(RTLD_NEXT, name));
  if (!found) {
    std::fprintf(stderr, "final memory: no %s\n", name);
    std::exit(3);
  }
  return found;
}
/// HIP's own.
template <class Type> Type *own(const char *name) {
  static void *const hip = dlopen("libamdhip64.so.5", RTLD_LAZY | RTLD_NOLOAD);
  auto *found = hip ? reinterpret_cast<Type *>(dlsym(hip, name)) : nullptr;
  if (!found) {
    std::fprintf(stderr, "final memory: HIP has no %s\n", name);
    std::exit(3);
  }
  return found;
}

uint64_t hashOf(const std::vector<unsigned char> &bytes) {
  uint64_t hash = bytes.size();
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, &bytes[i], bytes.size() - i < 8 ? bytes.size() - i : 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

void note(const char *what, const void *memory, size_t bytes) {
  std::vector<unsigned char> copy(bytes);
  const hipError_t error = own<hipError_t(void *, const void *, size_t, hipMemcpyKind)>("hipMemcpy")(copy.data(), memory, bytes, hipMemcpyDefault);
  if (error != hipSuccess)
    std::fprintf(out, "%s %zu bytes: error %d\n", what, bytes, int(error));
  else
    std::fprintf(out, "%s %zu bytes: %016llx\n", what, bytes, static_cast<unsigned long long>(hashOf(copy)));
  std::fflush(out);
}

void atEnd() {
  std::lock_guard guard(lock);
  static_cast<void>(own<hipError_t()>("hipDeviceSynchronize")());
  for (const auto &[memory, bytes] : live)
    note("at the end", memory, bytes);
  for (const Variable &variable : variables) {
    void *memory = nullptr;
    if (own<hipError_t(void **, const void *)>("hipGetSymbolAddress")(&memory, variable.host) == hipSuccess)
      note("variable", memory, variable.bytes);
  }
  live.clear();
}

/// With the lock. False: nobody wants it.
bool start() {
  if (!started) {
    started = true;
    if (const char *file = std::getenv("FINAL_MEMORY")) {
      out = std::fopen(file, "a");
      std::atexit(atEnd); // behind HIP's own initialization, so before its end
    }
  }
  return out != nullptr;
}

hipError_t allocated(hipError_t error, void **memory, size_t bytes) {
  std::lock_guard guard(lock);
  if (error == hipSuccess && memory && *memory && bytes != 0 && start())
    live[*memory] = bytes;
  return error;
}

void freed(void *memory, bool inOrder) {
  std::lock_guard guard(lock);
  const auto found = live.find(memory);
  if (found == live.end())
    return;
  if (!inOrder) {
    static_cast<void>(own<hipError_t()>("hipDeviceSynchronize")()); // as HIP does when it frees
    note("freed", memory, found->second);
  }
  live.erase(found);
}

} // namespace

// HIP's header declares them visible.
__asm__(".hidden hipMalloc");
__asm__(".hidden hipMallocManaged");
__asm__(".hidden hipExtMallocWithFlags");
__asm__(".hidden hipHostMalloc");
__asm__(".hidden hipMallocAsync");
__asm__(".hidden hipMallocFromPoolAsync");
__asm__(".hidden hipFree");
__asm__(".hidden hipHostFree");
__asm__(".hidden hipFreeAsync");
__asm__(".hidden hipDeviceReset");
__asm__(".hidden hipLaunchKernel");
__asm__(".hidden __hipRegisterVar");

extern "C" hipError_t hipMalloc(void **memory, size_t bytes) {
  return allocated(next<hipError_t(void **, size_t)>("hipMalloc")(memory, bytes), memory, bytes);
}
extern "C" hipError_t hipMallocManaged(void **memory, size_t bytes, unsigned flags) {
  return allocated(next<hipError_t(void **, size_t, unsigned)>("hipMallocManaged")(memory, bytes, flags), memory, bytes);
}
extern "C" hipError_t hipExtMallocWithFlags(void **memory, size_t bytes, unsigned flags) {
  return allocated(next<hipError_t(void **, size_t, unsigned)>("hipExtMallocWithFlags")(memory, bytes, flags), memory,
                   flags == hipMallocSignalMemory ? 0 : bytes);
}
extern "C" hipError_t hipHostMalloc(void **memory, size_t bytes, unsigned flags) {
  return allocated(next<hipError_t(void **, size_t, unsigned)>("hipHostMalloc")(memory, bytes, flags), memory, bytes);
}
extern "C" hipError_t hipMallocAsync(void **memory, size_t bytes, hipStream_t stream) {
  return allocated(next<hipError_t(void **, size_t, hipStream_t)>("hipMallocAsync")(memory, bytes, stream), memory, bytes);
}
extern "C" hipError_t hipMallocFromPoolAsync(void **memory, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
  return allocated(next<hipError_t(void **, size_t, hipMemPool_t, hipStream_t)>("hipMallocFromPoolAsync")(memory, bytes, pool, stream), memory, bytes);
}
extern "C" hipError_t hipFree(void *memory) {
  freed(memory, false);
  return next<hipError_t(void *)>("hipFree")(memory);
}
extern "C" hipError_t hipHostFree(void *memory) {
  freed(memory, false);
  return next<hipError_t(void *)>("hipHostFree")(memory);
}
extern "C" hipError_t hipFreeAsync(void *memory, hipStream_t stream) {
  freed(memory, true);
  return next<hipError_t(void *, hipStream_t)>("hipFreeAsync")(memory, stream);
}
extern "C" hipError_t hipDeviceReset() {
  {
    std::lock_guard guard(lock);
    live.clear();
  }
  return next<hipError_t()>("hipDeviceReset")();
}
extern "C" hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t bytes, hipStream_t stream) {
  {
    std::lock_guard guard(lock);
    start();
  }
  return next<hipError_t(const void *, dim3, dim3, void **, size_t, hipStream_t)>("hipLaunchKernel")(function, grid, block, arguments, bytes, stream);
}
extern "C" void __hipRegisterVar(void **modules, void *host, char *hostName, char *deviceName, int external, size_t bytes, int constant, int global) {
  {
    std::lock_guard guard(lock);
    if (!constant)
      variables.push_back({host, bytes});
  }
  next<void(void **, void *, char *, char *, int, size_t, int, int)>("__hipRegisterVar")(modules, host, hostName, deviceName, external, bytes, constant, global);
}
