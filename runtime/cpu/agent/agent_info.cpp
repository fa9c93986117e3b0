// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HSA agent, ISA and cache queries.
#include "agents.h"
#include "api_table.h"
#include "process.h"
#include "query_value.h"

#include <cstring>
#include <unistd.h>

namespace wavesan::agent {

std::string gpuIsaName() { return std::string("amdgcn-amd-amdhsa--") + gpuTarget().name + gpuTarget().features; }

namespace impl {
namespace {

hsa_status_t putText(void *value, const std::string &text, size_t capacity) {
  std::memset(value, 0, capacity);
  std::memcpy(value, text.data(), std::min(text.size(), capacity - 1));
  return HSA_STATUS_SUCCESS;
}
template <class T, size_t N> hsa_status_t putArray(void *value, const T (&v)[N]) {
  std::memcpy(value, v, sizeof(v));
  return HSA_STATUS_SUCCESS;
}

std::string hostCpuName() {
  static const std::string &name = *new std::string([] {
    std::string found = "Host CPU";
    if (FILE *f = std::fopen("/proc/cpuinfo", "re")) {
      char line[512];
      while (std::fgets(line, sizeof(line), f))
        if (std::strncmp(line, "model name", 10) == 0)
          if (const char *colon = std::strchr(line, ':')) {
            found = colon + 2;
            found.erase(found.find_last_not_of('\n') + 1);
            break;
          }
      std::fclose(f);
    }
    return found;
  }());
  return name;
}

/// Queries that only make sense for a GPU; the CPU answers 0, as AMD's runtime does.
hsa_status_t gpuOnly(void *value, bool gpu, uint32_t answer) { return put(value, gpu ? answer : 0u); }

hsa_status_t imageInfo(uint32_t attribute, bool gpu, void *value) {
  // HIP asks for these limits to find the pitch of hipMallocPitch; images themselves are not supported.
  constexpr uint32_t extent = 16384, depth = 8192;
  switch (attribute) {
  case HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS:
  case HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS:
    return gpuOnly(value, gpu, extent);
  case HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS:
    return gpuOnly(value, gpu, 1u << 30);
  case HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS:
  case HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS:
  case HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS:
  case HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS: {
    const uint32_t limits[] = {gpu ? extent : 0, gpu ? extent : 0};
    return putArray(value, limits);
  }
  case HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS: {
    const uint32_t limits[] = {gpu ? extent : 0, gpu ? extent : 0, gpu ? depth : 0};
    return putArray(value, limits);
  }
  case HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS:
    return gpuOnly(value, gpu, depth);
  case HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES:
    return gpuOnly(value, gpu, 128);
  case HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES:
    return gpuOnly(value, gpu, 64);
  case HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS:
    return gpuOnly(value, gpu, 16);
  case HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT:
    return gpuOnly(value, gpu, 256);
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t amdInfo(uint32_t attribute, bool gpu, void *value) {
  switch (attribute) {
  case HSA_AMD_AGENT_INFO_CHIP_ID:
    return gpuOnly(value, gpu, gpuTarget().chipId);
  case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
    return put(value, uint32_t(64));
  case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
  case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT:
    return put(value, gpu ? kComputeUnits : uint32_t(sysconf(_SC_NPROCESSORS_ONLN)));
  case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
    return put(value, uint32_t(1700));
  case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
    return gpuOnly(value, gpu, 1);
  case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS:
    return put(value, uint32_t(gpu ? 4 : 1));
  case HSA_AMD_AGENT_INFO_BDFID:
    return gpuOnly(value, gpu, 0x300);
  case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
    return gpuOnly(value, gpu, 4096);
  case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
    return gpuOnly(value, gpu, 1600);
  case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
    return putText(value, gpu ? std::string(gpuTarget().name) + " on the CPU (WaveSan)" : hostCpuName(), 64);
  case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
    return gpuOnly(value, gpu, 32);
  case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
    return gpuOnly(value, gpu, 4);
  case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
    return gpuOnly(value, gpu, 1);
  case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
    return gpuOnly(value, gpu, 1);
  case HSA_AMD_AGENT_INFO_HDP_FLUSH:
    return put(value, hsa_amd_hdp_flush_t{});
  case HSA_AMD_AGENT_INFO_DOMAIN:
    return put(value, uint32_t(0));
  case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
    return put(value, gpu);
  case HSA_AMD_AGENT_INFO_UUID:
    return putText(value, gpu ? "GPU-5761766553616e00" : "CPU-XX", 21);
  case HSA_AMD_AGENT_INFO_ASIC_REVISION:
    return gpuOnly(value, gpu, 1);
  case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
    return put(value, false);
  default:
    return imageInfo(attribute, gpu, value);
  }
}

} // namespace

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void *), void *data) {
  if (!isInitialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!callback)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const hsa_status_t status = callback(kCpuAgent, data);
  return status != HSA_STATUS_SUCCESS ? status : callback(kGpuAgent, data);
}

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value) {
  if (!isInitialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!value)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const bool gpu = isGpu(agent);
  switch (uint32_t(attribute)) {
  case HSA_AGENT_INFO_NAME:
    return putText(value, gpu ? gpuTarget().name : hostCpuName(), 64);
  case HSA_AGENT_INFO_VENDOR_NAME:
    return putText(value, gpu ? "AMD" : "CPU", 64);
  case HSA_AGENT_INFO_FEATURE:
    return put(value, hsa_agent_feature_t(gpu ? HSA_AGENT_FEATURE_KERNEL_DISPATCH : 0));
  case HSA_AGENT_INFO_MACHINE_MODEL:
    return put(value, HSA_MACHINE_MODEL_LARGE);
  case HSA_AGENT_INFO_PROFILE:
    // FULL would tell HIP that it may replace copies by memcpy on the calling thread.
    return put(value, gpu ? HSA_PROFILE_BASE : HSA_PROFILE_FULL);
  case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
  case HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
    return put(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
  case HSA_AGENT_INFO_FAST_F16_OPERATION:
    return put(value, gpu);
  case HSA_AGENT_INFO_WAVEFRONT_SIZE:
    return gpuOnly(value, gpu, gpuTarget().waveSize);
  case HSA_AGENT_INFO_WORKGROUP_MAX_DIM: {
    const uint16_t limit = gpu ? kMaxWorkgroupSize : 0;
    const uint16_t limits[] = {limit, limit, limit};
    return putArray(value, limits);
  }
  case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
    return gpuOnly(value, gpu, kMaxWorkgroupSize);
  case HSA_AGENT_INFO_GRID_MAX_DIM:
    return put(value, gpu ? hsa_dim3_t{UINT32_MAX, UINT32_MAX, UINT32_MAX} : hsa_dim3_t{0, 0, 0});
  case HSA_AGENT_INFO_GRID_MAX_SIZE:
    return gpuOnly(value, gpu, UINT32_MAX);
  case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
    return gpuOnly(value, gpu, 32);
  case HSA_AGENT_INFO_QUEUES_MAX:
    return gpuOnly(value, gpu, 128);
  case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
    return gpuOnly(value, gpu, kMinQueuePackets);
  case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
    return gpuOnly(value, gpu, kMaxQueuePackets);
  case HSA_AGENT_INFO_QUEUE_TYPE:
    return put(value, HSA_QUEUE_TYPE_MULTI);
  case HSA_AGENT_INFO_NODE:
    return gpuOnly(value, gpu, 1);
  case HSA_AGENT_INFO_DEVICE:
    return put(value, gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU);
  case HSA_AGENT_INFO_CACHE_SIZE: {
    const uint32_t sizes[] = {gpu ? 16384u : 32768u, gpu ? 8u << 20 : 0u, 0, 0};
    return putArray(value, sizes);
  }
  case HSA_AGENT_INFO_ISA:
    return put(value, gpu ? kGpuIsa : hsa_isa_t{0});
  case HSA_AGENT_INFO_EXTENSIONS: {
    uint8_t bits[128] = {};
    if (gpu) // without the image bit HIP computes a pitch alignment of 0
      bits[HSA_EXTENSION_IMAGES / 8] |= 1u << (HSA_EXTENSION_IMAGES % 8);
    return putArray(value, bits);
  }
  case HSA_AGENT_INFO_VERSION_MAJOR:
  case HSA_AGENT_INFO_VERSION_MINOR:
    return put(value, uint16_t(1));
  default:
    return amdInfo(uint32_t(attribute), gpu, value);
  }
}

hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t, uint16_t, bool *result) {
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!result)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = isGpu(agent) && extension == HSA_EXTENSION_IMAGES;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t, uint16_t *minor,
                                                 bool *result) {
  if (!minor)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *minor = 0;
  return impl::hsa_agent_extension_supported(extension, agent, 1, 0, result);
}

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t agent, hsa_status_t (*callback)(hsa_cache_t, void *), void *) {
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  return callback ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT; // none are described
}

hsa_status_t hsa_cache_get_info(hsa_cache_t, hsa_cache_info_t, void *) { return HSA_STATUS_ERROR_INVALID_CACHE; }

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*callback)(hsa_isa_t, void *), void *data) {
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!callback)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return isGpu(agent) ? callback(kGpuIsa, data) : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_from_name(const char *name, hsa_isa_t *isa) {
  if (!name || !isa)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const std::string bare = std::string("amdgcn-amd-amdhsa--") + gpuTarget().name;
  if (name != gpuIsaName() && name != bare)
    return HSA_STATUS_ERROR_INVALID_ISA_NAME;
  *isa = kGpuIsa;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value) {
  if (isa.handle != kGpuIsa.handle)
    return HSA_STATUS_ERROR_INVALID_ISA;
  if (!value)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const std::string name = gpuIsaName();
  switch (uint32_t(attribute)) {
  case HSA_ISA_INFO_NAME_LENGTH:
    return put(value, uint32_t(name.size() + 1));
  case HSA_ISA_INFO_NAME:
    std::memcpy(value, name.c_str(), name.size() + 1);
    return HSA_STATUS_SUCCESS;
  case HSA_ISA_INFO_MACHINE_MODELS: {
    const bool models[] = {false, true}; // small, large
    return putArray(value, models);
  }
  case HSA_ISA_INFO_PROFILES: {
    const bool profiles[] = {true, false}; // base, full
    return putArray(value, profiles);
  }
  case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
  case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES: {
    const bool modes[] = {false, false, true}; // default, zero, near
    return putArray(value, modes);
  }
  case HSA_ISA_INFO_FAST_F16_OPERATION:
    return put(value, true);
  case HSA_ISA_INFO_WORKGROUP_MAX_DIM: {
    const uint16_t limits[] = {kMaxWorkgroupSize, kMaxWorkgroupSize, kMaxWorkgroupSize};
    return putArray(value, limits);
  }
  case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
    return put(value, kMaxWorkgroupSize);
  case HSA_ISA_INFO_GRID_MAX_DIM:
    return put(value, hsa_dim3_t{UINT32_MAX, UINT32_MAX, UINT32_MAX});
  case HSA_ISA_INFO_GRID_MAX_SIZE:
    return put(value, UINT64_MAX);
  case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
    return put(value, uint32_t(32));
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index, void *value) {
  if (index != 0)
    return HSA_STATUS_ERROR_INVALID_INDEX;
  if (uint32_t(attribute) == HSA_ISA_INFO_CALL_CONVENTION_COUNT)
    return value ? put(value, uint32_t(1)) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (uint32_t(attribute) == HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE)
    return value ? put(value, gpuTarget().waveSize) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return impl::hsa_isa_get_info_alt(isa, attribute, value);
}

hsa_status_t hsa_isa_compatible(hsa_isa_t codeObjectIsa, hsa_isa_t agentIsa, bool *result) {
  if (codeObjectIsa.handle != kGpuIsa.handle || agentIsa.handle != kGpuIsa.handle)
    return HSA_STATUS_ERROR_INVALID_ISA;
  if (!result)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = true;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t isa, hsa_status_t (*callback)(hsa_wavefront_t, void *), void *data) {
  if (isa.handle != kGpuIsa.handle)
    return HSA_STATUS_ERROR_INVALID_ISA;
  return callback ? callback(kGpuWavefront, data) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute, void *value) {
  if (wavefront.handle != kGpuWavefront.handle)
    return HSA_STATUS_ERROR_INVALID_WAVEFRONT;
  if (!value || attribute != HSA_WAVEFRONT_INFO_SIZE)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return put(value, gpuTarget().waveSize);
}

} // namespace impl
} // namespace wavesan::agent

// Not in any table, so it is exported as it is.
extern "C" [[gnu::visibility("default")]] hsa_status_t
hsa_amd_image_get_info_max_dim(hsa_agent_t agent, hsa_agent_info_t attribute, void *value) {
  return wavesan::agent::impl::hsa_agent_get_info(agent, attribute, value);
}
