// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the agent's tests share: the runtime initialised, its agents and pools, code objects, packets.
#ifndef WAVESAN_TEST_AGENT_HSA_SUPPORT_H
#define WAVESAN_TEST_AGENT_HSA_SUPPORT_H

#include "hsa_headers.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace wavesan::agent::test {

inline constexpr uint64_t kTenSeconds = 10'000'000'000;

#define EXPECT_OK(call) EXPECT_EQ(call, HSA_STATUS_SUCCESS)
#define ASSERT_OK(call) ASSERT_EQ(call, HSA_STATUS_SUCCESS)

/// A file that the build made for the tests.
inline std::string readTestFile(const std::string &name) {
  std::ifstream in(std::string(WAVESAN_AGENT_TEST_DIR) + "/" + name, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  EXPECT_FALSE(bytes.empty()) << name;
  return bytes;
}

/// HSA_STATUS_SUCCESS only for what the caller expects of iteration callbacks.
template <class Handle> hsa_status_t collect(Handle handle, void *list) {
  static_cast<std::vector<Handle> *>(list)->push_back(handle);
  return HSA_STATUS_SUCCESS;
}

class HsaTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_OK(hsa_init());
    std::vector<hsa_agent_t> agents;
    ASSERT_OK(hsa_iterate_agents(collect<hsa_agent_t>, &agents));
    ASSERT_EQ(agents.size(), 2u);
    cpu = agents[0];
    gpu = agents[1];
  }
  void TearDown() override {
    for (hsa_queue_t *q : Queues)
      EXPECT_OK(hsa_queue_destroy(q));
    for (hsa_executable_t e : Executables)
      EXPECT_OK(hsa_executable_destroy(e));
    for (void *p : Memory)
      EXPECT_OK(hsa_amd_memory_pool_free(p));
    for (hsa_signal_t s : Signals)
      EXPECT_OK(hsa_signal_destroy(s));
    EXPECT_OK(hsa_shut_down());
  }

  hsa_signal_t signal(int64_t value) {
    hsa_signal_t s{};
    EXPECT_OK(hsa_signal_create(value, 0, nullptr, &s));
    Signals.push_back(s);
    return s;
  }

  /// Waits for `value`; false after ten seconds.
  static bool becomes(hsa_signal_t s, int64_t value) {
    return hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, value, kTenSeconds, HSA_WAIT_STATE_BLOCKED) == value;
  }

  hsa_amd_memory_pool_t pool(hsa_agent_t agent, uint32_t flag) {
    std::vector<hsa_amd_memory_pool_t> pools;
    EXPECT_OK(hsa_amd_agent_iterate_memory_pools(agent, collect<hsa_amd_memory_pool_t>, &pools));
    for (hsa_amd_memory_pool_t p : pools) {
      uint32_t flags = 0;
      hsa_amd_segment_t segment{};
      EXPECT_OK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
      EXPECT_OK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
      if (segment == HSA_AMD_SEGMENT_GLOBAL && (flags & flag))
        return p;
    }
    ADD_FAILURE() << "no such pool";
    return {0};
  }

  template <class T> T *allocate(size_t count) {
    void *p = nullptr;
    EXPECT_OK(hsa_amd_memory_pool_allocate(pool(gpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED), count * sizeof(T),
                                           0, &p));
    Memory.push_back(p);
    return static_cast<T *>(p);
  }

  hsa_queue_t *queue(uint32_t size, void (*callback)(hsa_status_t, hsa_queue_t *, void *) = nullptr,
                     void *data = nullptr) {
    hsa_queue_t *q = nullptr;
    EXPECT_OK(hsa_queue_create(gpu, size, HSA_QUEUE_TYPE_MULTI, callback, data, UINT32_MAX, UINT32_MAX, &q));
    Queues.push_back(q);
    return q;
  }

  hsa_executable_t load(const std::string &file) {
    const std::string bytes = readTestFile(file);
    hsa_code_object_reader_t reader{};
    EXPECT_OK(hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), &reader));
    hsa_executable_t executable{};
    EXPECT_OK(
        hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
    EXPECT_OK(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr));
    EXPECT_OK(hsa_executable_freeze(executable, nullptr));
    EXPECT_OK(hsa_code_object_reader_destroy(reader));
    Executables.push_back(executable);
    return executable;
  }

  uint64_t kernelObject(hsa_executable_t executable, const char *name) {
    hsa_executable_symbol_t symbol{};
    EXPECT_OK(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol)) << name;
    uint64_t object = 0;
    EXPECT_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
    return object;
  }

  /// A dispatch of one work-item. `arguments` must stay valid.
  static hsa_kernel_dispatch_packet_t dispatch(uint64_t kernel, void *arguments, hsa_signal_t completion = {0}) {
    hsa_kernel_dispatch_packet_t p{};
    p.header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE;
    p.setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
    p.workgroup_size_x = p.workgroup_size_y = p.workgroup_size_z = 1;
    p.grid_size_x = p.grid_size_y = p.grid_size_z = 1;
    p.kernel_object = kernel;
    p.kernarg_address = arguments;
    p.completion_signal = completion;
    return p;
  }

  static hsa_barrier_and_packet_t barrier(bool all, std::vector<hsa_signal_t> dependencies, hsa_signal_t completion) {
    hsa_barrier_and_packet_t p{};
    p.header = uint16_t((all ? HSA_PACKET_TYPE_BARRIER_AND : HSA_PACKET_TYPE_BARRIER_OR) << HSA_PACKET_HEADER_TYPE);
    for (size_t i = 0; i < dependencies.size(); ++i)
      p.dep_signal[i] = dependencies[i];
    p.completion_signal = completion;
    return p;
  }

  /// Writes a packet as programs do: reserve, wait for the slot, body, header; the doorbell if `ring`.
  template <class Packet> static uint64_t submit(hsa_queue_t *q, const Packet &packet, bool ring = true) {
    static_assert(sizeof(Packet) == 64);
    const uint64_t index = hsa_queue_add_write_index_screlease(q, 1);
    while (index - hsa_queue_load_read_index_scacquire(q) >= q->size)
      std::this_thread::yield();
    char *slot = static_cast<char *>(q->base_address) + (index & (q->size - 1)) * 64;
    std::memcpy(slot + 2, reinterpret_cast<const char *>(&packet) + 2, 62);
    uint16_t header;
    std::memcpy(&header, &packet, 2);
    __atomic_store_n(reinterpret_cast<uint16_t *>(slot), header, __ATOMIC_RELEASE);
    if (ring)
      hsa_signal_store_screlease(q->doorbell_signal, int64_t(index));
    return index;
  }

  hsa_agent_t cpu{}, gpu{};

private:
  std::vector<hsa_signal_t> Signals;
  std::vector<void *> Memory;
  std::vector<hsa_queue_t *> Queues;
  std::vector<hsa_executable_t> Executables;
};

/// Arguments of the kernels in fake_kernels.c.
struct AppendArguments {
  uint32_t *log;
  uint32_t value;
};
struct PointerArgument {
  uint32_t *pointer;
};

} // namespace wavesan::agent::test

#endif // WAVESAN_TEST_AGENT_HSA_SUPPORT_H
