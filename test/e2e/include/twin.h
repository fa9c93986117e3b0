// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs of this suite share: device buffers, error checks, and the line "result: ok".
#ifndef WAVESAN_TEST_E2E_TWIN_H
#define WAVESAN_TEST_E2E_TWIN_H

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace twin {

/// The barrier that a racy build lacks.
#ifdef FIXED
#define BARRIER_IF_FIXED() __syncthreads()
inline constexpr bool kFixed = true;
#else
#define BARRIER_IF_FIXED() ((void)0)
inline constexpr bool kFixed = false;
#endif

inline void must(hipError_t error, const char *what) {
  if (error == hipSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
  std::exit(3);
}

template <class T> T *onDevice(const std::vector<T> &values) {
  T *memory = nullptr;
  must(hipMalloc(&memory, values.size() * sizeof(T)), "hipMalloc");
  must(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice), "hipMemcpy to device");
  return memory;
}

/// Waits for the kernel, then copies `count` elements back.
template <class T> std::vector<T> fromDevice(const T *memory, size_t count) {
  must(hipGetLastError(), "launch");
  must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  std::vector<T> values(count);
  must(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost), "hipMemcpy from device");
  return values;
}

/// 1000, 1001, ... converted to T.
template <class T> std::vector<T> counting(size_t count) {
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(T(1000 + i));
  return values;
}

/// Exit status of the program. A racy build may compute anything.
inline int verdict(size_t wrong) {
  if (wrong == 0)
    std::puts("result: ok");
  else
    std::printf("result: %zu elements are wrong\n", wrong);
  return kFixed && wrong != 0 ? 1 : 0;
}

/// Compares element by element with expected(i).
template <class T, class Expected> int compare(const std::vector<T> &values, Expected expected) {
  size_t wrong = 0;
  for (size_t i = 0; i < values.size(); ++i)
    wrong += !(values[i] == expected(i));
  return verdict(wrong);
}

} // namespace twin

#endif // WAVESAN_TEST_E2E_TWIN_H
