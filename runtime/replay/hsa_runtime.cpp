// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hsa_runtime.h"

#include "wavesan/abi/replay.h"

#include <dlfcn.h>

namespace wavesan::replay {

namespace {
constexpr char kLibrary[] = "libhsa-runtime64.so.1";
} // namespace

bool HsaRuntime::open(std::string &error) {
  void *library = dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const char *why = dlerror();
    error = std::string("no HSA runtime: ") + (why ? why : kLibrary);
    return false;
  }
#define WAVESAN_REPLAY_FUNCTION(Name)                                                                                  \
  Name = reinterpret_cast<decltype(Name)>(dlsym(library, #Name));                                                      \
  if (!Name) {                                                                                                         \
    error = std::string(kLibrary) + " lacks " #Name;                                                                   \
    return false;                                                                                                      \
  }
  WAVESAN_REPLAY_FUNCTIONS(WAVESAN_REPLAY_FUNCTION)
#undef WAVESAN_REPLAY_FUNCTION
  isCpuAgent = dlsym(library, abi::kCpuAgentSymbol) != nullptr;
  if (hsa_status_t status = hsa_init(); status != HSA_STATUS_SUCCESS) {
    error = "the HSA runtime does not start: " + text(status);
    return false;
  }
  hsa_iterate_agents(
      [](hsa_agent_t agent, void *data) {
        auto &self = *static_cast<HsaRuntime *>(data);
        hsa_device_type_t type{};
        if (self.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS)
          return HSA_STATUS_SUCCESS;
        if (type == HSA_DEVICE_TYPE_GPU && !self.gpu.handle)
          self.gpu = agent;
        if (type == HSA_DEVICE_TYPE_CPU && !self.host.handle)
          self.host = agent;
        return HSA_STATUS_SUCCESS;
      },
      this);
  if (gpu.handle && host.handle)
    return true;
  error = "the HSA runtime has no GPU";
  return false;
}

std::string HsaRuntime::text(hsa_status_t status) const {
  const char *words = nullptr;
  if (hsa_status_string(status, &words) == HSA_STATUS_SUCCESS && words)
    return words;
  return "status " + std::to_string(status);
}

} // namespace wavesan::replay
