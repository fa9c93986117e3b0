// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The HSA runtime of this machine, AMD's or the CPU agent, loaded late.
#ifndef WAVESAN_REPLAY_HSA_RUNTIME_H
#define WAVESAN_REPLAY_HSA_RUNTIME_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <string>

namespace wavesan::replay {

#define WAVESAN_REPLAY_FUNCTIONS(F)                                                                                    \
  F(hsa_init)                                                                                                          \
  F(hsa_shut_down)                                                                                                     \
  F(hsa_status_string)                                                                                                 \
  F(hsa_iterate_agents)                                                                                                \
  F(hsa_agent_get_info)                                                                                                \
  F(hsa_queue_create)                                                                                                  \
  F(hsa_queue_destroy)                                                                                                 \
  F(hsa_queue_add_write_index_screlease)                                                                               \
  F(hsa_signal_create)                                                                                                 \
  F(hsa_signal_store_screlease)                                                                                        \
  F(hsa_signal_wait_scacquire)                                                                                         \
  F(hsa_memory_copy)                                                                                                   \
  F(hsa_code_object_reader_create_from_memory)                                                                         \
  F(hsa_executable_create_alt)                                                                                         \
  F(hsa_executable_load_agent_code_object)                                                                             \
  F(hsa_executable_freeze)                                                                                             \
  F(hsa_executable_get_symbol_by_name)                                                                                 \
  F(hsa_executable_symbol_get_info)                                                                                    \
  F(hsa_amd_agent_iterate_memory_pools)                                                                                \
  F(hsa_amd_memory_pool_get_info)                                                                                      \
  F(hsa_amd_memory_pool_allocate)                                                                                      \
  F(hsa_amd_agents_allow_access)                                                                                       \
  F(hsa_amd_memory_lock)

struct HsaRuntime {
#define WAVESAN_REPLAY_FUNCTION(Name) decltype(&::Name) Name = nullptr;
  WAVESAN_REPLAY_FUNCTIONS(WAVESAN_REPLAY_FUNCTION)
#undef WAVESAN_REPLAY_FUNCTION
  bool isCpuAgent = false;
  hsa_agent_t gpu{}, host{};

  /// Loads the runtime as any program would, and initialises it. False and one line in `error`.
  bool open(std::string &error);
  std::string text(hsa_status_t status) const;
};

} // namespace wavesan::replay

#endif // WAVESAN_REPLAY_HSA_RUNTIME_H
