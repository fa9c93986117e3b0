// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "api.h"

#include <cstring>

namespace wavesan::hsa {

std::optional<Api> Api::take(const HsaApiTable *table, std::string &error) {
  if (!table || !table->core_ || !table->amd_ext_) {
    error = "the HSA runtime passed no API table";
    return std::nullopt;
  }
  // minor_id is the size of a table. The core table is prefix-compatible; the AMD table is not (functions were inserted
  // between releases), so another size means that other functions lie at the offsets this library knows.
  uint32_t coreBytes = table->core_->version.minor_id, amdBytes = table->amd_ext_->version.minor_id;
  if (table->core_->version.major_id != HSA_CORE_API_TABLE_MAJOR_VERSION || coreBytes < sizeof(CoreApiTable) ||
      table->amd_ext_->version.major_id != HSA_AMD_EXT_API_TABLE_MAJOR_VERSION || amdBytes != sizeof(AmdExtTable)) {
    error = "this libwavesan-hsa.so was built for another ROCm version (API tables of " +
            std::to_string(sizeof(CoreApiTable)) + " and " + std::to_string(sizeof(AmdExtTable)) +
            " bytes, the runtime has " + std::to_string(coreBytes) + " and " + std::to_string(amdBytes) +
            "): build WaveSan with this ROCm's headers";
    return std::nullopt;
  }
  Api api;
  std::memcpy(&api.core, table->core_, sizeof(api.core));
  std::memcpy(&api.amd, table->amd_ext_, sizeof(api.amd));

  const char *missing = nullptr;
#define NEED(part, name)                                                                                               \
  if (!api.part.name##_fn)                                                                                             \
    missing = #name;
  NEED(core, hsa_iterate_agents)
  NEED(core, hsa_agent_get_info)
  NEED(core, hsa_queue_create)
  NEED(core, hsa_queue_destroy)
  NEED(core, hsa_signal_create)
  NEED(core, hsa_signal_destroy)
  NEED(core, hsa_signal_load_scacquire)
  NEED(core, hsa_signal_store_screlease)
  NEED(core, hsa_signal_store_relaxed)
  NEED(core, hsa_signal_subtract_screlease)
  NEED(core, hsa_signal_wait_scacquire)
  NEED(core, hsa_code_object_reader_create_from_memory)
  NEED(core, hsa_code_object_reader_create_from_file)
  NEED(core, hsa_code_object_reader_destroy)
  NEED(core, hsa_executable_load_agent_code_object)
  NEED(core, hsa_executable_freeze)
  NEED(core, hsa_executable_destroy)
  NEED(core, hsa_executable_get_symbol_by_name)
  NEED(core, hsa_executable_symbol_get_info)
  NEED(amd, hsa_amd_queue_intercept_create)
  NEED(amd, hsa_amd_queue_intercept_register)
  NEED(amd, hsa_amd_profiling_set_profiler_enabled)
  NEED(amd, hsa_amd_agent_iterate_memory_pools)
  NEED(amd, hsa_amd_memory_pool_get_info)
  NEED(amd, hsa_amd_memory_pool_allocate)
  NEED(amd, hsa_amd_memory_pool_free)
  NEED(amd, hsa_amd_agents_allow_access)
#undef NEED
  if (missing) {
    error = std::string("the HSA runtime has no ") + missing;
    return std::nullopt;
  }
  return api;
}

std::string Api::statusText(hsa_status_t status) const {
  const char *text = nullptr;
  if (core.hsa_status_string_fn && core.hsa_status_string_fn(status, &text) == HSA_STATUS_SUCCESS && text)
    return text;
  return "HSA status " + std::to_string(int(status));
}

} // namespace wavesan::hsa
