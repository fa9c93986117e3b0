// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device runtime, compiled for the host with waves of one lane (amdgcn_on_host.h), and what its tests share: memory
// that stands for LDS, the shape of a dispatch, the begin of a workgroup.
#ifndef WAVESAN_TEST_DEVICE_DEVICE_ON_HOST_H
#define WAVESAN_TEST_DEVICE_DEVICE_ON_HOST_H

#include "amdgcn_on_host.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <vector>

#include "hooks.cpp"

namespace wavesan::test {

inline constexpr uint64_t kLdsAt = 0x100000, kLdsBytes = 1 << 20;

/// There is memory at the addresses that stand for LDS while its tests run.
class WithLds : public testing::Test {
protected:
  static void SetUpTestSuite() {
    void *lds = mmap(reinterpret_cast<void *>(kLdsAt), kLdsBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ASSERT_EQ(lds, reinterpret_cast<void *>(kLdsAt)) << "no memory at the addresses that stand for LDS";
  }
  static void TearDownTestSuite() { munmap(reinterpret_cast<void *>(kLdsAt), kLdsBytes); }
};

/// Of `groups` workgroups, along x, of `waves` waves each.
inline void setShape(abi::DispatchContext &context, uint32_t groups, uint32_t waves) {
  context.ldsStateOffset = kLdsAt;
  context.waveSize = 1;
  context.workgroupSize[0] = context.wavesPerWorkgroup = waves;
  context.workgroupSize[1] = context.workgroupSize[2] = context.gridSize[1] = context.gridSize[2] = 1;
  context.gridSize[0] = groups * waves;
}

/// What a kernel has not written there may be anything.
inline void spoilLds() { std::memset(reinterpret_cast<void *>(kLdsAt), 0xa5, kLdsBytes); }

/// All waves of workgroup `group` begin. `state`(wave): the wave's, a device::PrivateState *.
template <class State>
void beginWorkgroup(abi::DispatchContext &context, uint32_t group, uint32_t waves, State state) {
  std::barrier<> all(waves);
  meeting = &all;
  std::vector<std::thread> threads;
  for (uint32_t w = 0; w < waves; ++w)
    threads.emplace_back([&context, &state, group, w] {
      workgroup = group;
      workItem = w;
      __wavesan_kernel_begin(state(w), (device::Global<abi::DispatchContext> *)&context);
    });
  for (std::thread &t : threads)
    t.join();
}

} // namespace wavesan::test

#endif // WAVESAN_TEST_DEVICE_DEVICE_ON_HOST_H
