// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent_schedule.h"

#include <dlfcn.h>

namespace wavesan::hsa {

const abi::CpuAgent *findCpuAgent(const Api &api) {
  Dl_info where{};
  if (!dladdr(reinterpret_cast<const void *>(api.core.hsa_init_fn), &where) || !where.dli_fname)
    return nullptr;
  void *library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  auto *get = library ? reinterpret_cast<const abi::CpuAgent *(*)()>(dlsym(library, abi::kCpuAgentSymbol)) : nullptr;
  const abi::CpuAgent *agent = get ? get() : nullptr;
  return agent && agent->version == abi::kAbiVersion ? agent : nullptr;
}

} // namespace wavesan::hsa
