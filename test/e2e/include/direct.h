// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs for targets that the packaged HIP runtime and device libraries do not know. One source makes two files: a code
// object (compiled for the device alone, without HIP's headers and libraries), and a host program that loads it through
// HSA and dispatches its kernel `kernel(const int *in, int *out)` once. direct::kGroups, kThreads, kElements: of the dispatch.
#ifndef WAVESAN_TEST_E2E_DIRECT_H
#define WAVESAN_TEST_E2E_DIRECT_H

#ifdef FIXED
inline constexpr bool kFixed = true;
#else
inline constexpr bool kFixed = false;
#endif

#ifdef __HIP__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

namespace direct {
__device__ inline int thread() { return int(__builtin_amdgcn_workitem_id_x()); }
__device__ inline int group() { return int(__builtin_amdgcn_workgroup_id_x()); }
__device__ inline void syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__device__ inline void syncthreadsIfFixed() {
#ifdef FIXED
  syncthreads();
#endif
}
} // namespace direct

#else // the host

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace direct {

inline void must(hsa_status_t status, const char *what) {
  if (status == HSA_STATUS_SUCCESS)
    return;
  std::fprintf(stderr, "%s: status %#x\n", what, unsigned(status));
  std::exit(3);
}
#define MUST(call) direct::must(call, #call)

inline hsa_agent_t gpuAgent() {
  hsa_agent_t gpu{};
  MUST(hsa_iterate_agents(
      [](hsa_agent_t agent, void *found) {
        hsa_device_type_t type{};
        MUST(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
        if (type == HSA_DEVICE_TYPE_GPU)
          *static_cast<hsa_agent_t *>(found) = agent;
        return HSA_STATUS_SUCCESS;
      },
      &gpu));
  return gpu;
}

inline hsa_amd_memory_pool_t globalPool(hsa_agent_t agent) {
  hsa_amd_memory_pool_t pool{};
  MUST(hsa_amd_agent_iterate_memory_pools(
      agent,
      [](hsa_amd_memory_pool_t candidate, void *found) {
        hsa_amd_segment_t segment{};
        MUST(hsa_amd_memory_pool_get_info(candidate, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
        if (segment == HSA_AMD_SEGMENT_GLOBAL)
          *static_cast<hsa_amd_memory_pool_t *>(found) = candidate;
        return HSA_STATUS_SUCCESS;
      },
      &pool));
  return pool;
}

/// Memory of the GPU's pool, which the host reaches on the CPU agent.
template <class T> T *allocate(hsa_agent_t gpu, size_t count) {
  void *memory = nullptr;
  MUST(hsa_amd_memory_pool_allocate(globalPool(gpu), count * sizeof(T), 0, &memory));
  return static_cast<T *>(memory);
}

/// Loads the code object argv[1] and runs `kernel` on in[i] = 1000 + i; returns out.
inline std::vector<int> run(int argc, char **argv, unsigned groups, unsigned threads, size_t elements) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CODE-OBJECT\n", argv[0]);
    std::exit(2);
  }
  MUST(hsa_init());
  const hsa_agent_t gpu = gpuAgent();
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  hsa_code_object_reader_t reader{};
  hsa_executable_t executable{};
  MUST(hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), &reader));
  MUST(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
  MUST(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr));
  MUST(hsa_executable_freeze(executable, nullptr));
  hsa_executable_symbol_t symbol{};
  MUST(hsa_executable_get_symbol_by_name(executable, "kernel.kd", &gpu, &symbol));
  uint64_t object = 0;
  uint32_t groupBytes = 0, privateBytes = 0, kernargBytes = 0;
  MUST(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
  MUST(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &groupBytes));
  MUST(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &privateBytes));
  MUST(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &kernargBytes));

  int *in = allocate<int>(gpu, elements), *out = allocate<int>(gpu, elements);
  for (size_t i = 0; i < elements; ++i)
    in[i] = int(1000 + i), out[i] = 0;
  char *kernarg = allocate<char>(gpu, kernargBytes < 256 ? 256 : kernargBytes);
  std::memset(kernarg, 0, kernargBytes);
  std::memcpy(kernarg, &in, 8);
  std::memcpy(kernarg + 8, &out, 8);

  hsa_queue_t *queue = nullptr;
  const auto failed = [](hsa_status_t status, hsa_queue_t *, void *) {
    std::fprintf(stderr, "the queue failed: status %#x\n", unsigned(status));
    std::exit(4);
  };
  MUST(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, failed, nullptr, UINT32_MAX, UINT32_MAX, &queue));
  hsa_signal_t done{};
  MUST(hsa_signal_create(1, 0, nullptr, &done));
  const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
  auto *packet = static_cast<hsa_kernel_dispatch_packet_t *>(queue->base_address) + index % queue->size;
  packet->workgroup_size_x = uint16_t(threads);
  packet->workgroup_size_y = packet->workgroup_size_z = 1;
  packet->grid_size_x = groups * threads;
  packet->grid_size_y = packet->grid_size_z = 1;
  packet->group_segment_size = groupBytes;
  packet->private_segment_size = privateBytes;
  packet->kernel_object = object;
  packet->kernarg_address = kernarg;
  packet->completion_signal = done;
  const uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                          HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE |
                          1u << (16 + HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
  __atomic_store_n(reinterpret_cast<uint32_t *>(packet), header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, hsa_signal_value_t(index));
  hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
  std::vector<int> result(out, out + elements);
  MUST(hsa_queue_destroy(queue));
  MUST(hsa_executable_destroy(executable));
  MUST(hsa_shut_down());
  return result;
}

/// Exit status of the program. A racy build may compute anything.
template <class Expected> int compare(const std::vector<int> &values, Expected expected) {
  size_t wrong = 0;
  for (size_t i = 0; i < values.size(); ++i)
    wrong += values[i] != expected(int(i));
  if (wrong == 0)
    std::puts("result: ok");
  else
    std::printf("result: %zu elements are wrong\n", wrong);
  return kFixed && wrong != 0 ? 1 : 0;
}

} // namespace direct
#endif

#endif // WAVESAN_TEST_E2E_DIRECT_H
