// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HSA system queries, extensions, status strings and profiling.
#include "agents.h"
#include "api_table.h"
#include "event_count.h"
#include "loader_extension.h"
#include "process.h"
#include "query_value.h"
#include "queue.h"
#include "signals.h"

#include <cstring>

namespace wavesan::agent::impl {
namespace {

struct StatusText {
  uint32_t status;
  const char *text;
};
constexpr StatusText kStatusTexts[] = {
    {HSA_STATUS_SUCCESS, "HSA_STATUS_SUCCESS: The function has been executed successfully."},
    {HSA_STATUS_INFO_BREAK, "HSA_STATUS_INFO_BREAK: An iteration was ended by the application."},
    {HSA_STATUS_ERROR, "HSA_STATUS_ERROR: A generic error has occurred."},
    {HSA_STATUS_ERROR_INVALID_ARGUMENT, "HSA_STATUS_ERROR_INVALID_ARGUMENT: An argument is invalid."},
    {HSA_STATUS_ERROR_INVALID_QUEUE_CREATION, "HSA_STATUS_ERROR_INVALID_QUEUE_CREATION: The queue cannot be created."},
    {HSA_STATUS_ERROR_INVALID_ALLOCATION, "HSA_STATUS_ERROR_INVALID_ALLOCATION: The allocation is not valid."},
    {HSA_STATUS_ERROR_INVALID_AGENT, "HSA_STATUS_ERROR_INVALID_AGENT: The agent is invalid."},
    {HSA_STATUS_ERROR_INVALID_REGION, "HSA_STATUS_ERROR_INVALID_REGION: The memory region is invalid."},
    {HSA_STATUS_ERROR_INVALID_SIGNAL, "HSA_STATUS_ERROR_INVALID_SIGNAL: The signal is invalid."},
    {HSA_STATUS_ERROR_INVALID_QUEUE, "HSA_STATUS_ERROR_INVALID_QUEUE: The queue is invalid."},
    {HSA_STATUS_ERROR_OUT_OF_RESOURCES, "HSA_STATUS_ERROR_OUT_OF_RESOURCES: A resource is exhausted."},
    {HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "HSA_STATUS_ERROR_INVALID_PACKET_FORMAT: The AQL packet is malformed."},
    {HSA_STATUS_ERROR_RESOURCE_FREE, "HSA_STATUS_ERROR_RESOURCE_FREE: A resource cannot be released."},
    {HSA_STATUS_ERROR_NOT_INITIALIZED, "HSA_STATUS_ERROR_NOT_INITIALIZED: The runtime is not initialized."},
    {HSA_STATUS_ERROR_REFCOUNT_OVERFLOW, "HSA_STATUS_ERROR_REFCOUNT_OVERFLOW: Too many initializations."},
    {HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
     "HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS: The arguments do not fit together, or the GPU cannot satisfy them."},
    {HSA_STATUS_ERROR_INVALID_INDEX, "HSA_STATUS_ERROR_INVALID_INDEX: The index is invalid."},
    {HSA_STATUS_ERROR_INVALID_ISA, "HSA_STATUS_ERROR_INVALID_ISA: The instruction set architecture is invalid."},
    {HSA_STATUS_ERROR_INVALID_ISA_NAME, "HSA_STATUS_ERROR_INVALID_ISA_NAME: The ISA name is invalid."},
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "HSA_STATUS_ERROR_INVALID_CODE_OBJECT: The code object is invalid."},
    {HSA_STATUS_ERROR_INVALID_EXECUTABLE, "HSA_STATUS_ERROR_INVALID_EXECUTABLE: The executable is invalid."},
    {HSA_STATUS_ERROR_FROZEN_EXECUTABLE, "HSA_STATUS_ERROR_FROZEN_EXECUTABLE: The executable is frozen."},
    {HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, "HSA_STATUS_ERROR_INVALID_SYMBOL_NAME: There is no symbol of this name."},
    {HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED,
     "HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED: The variable is already defined."},
    {HSA_STATUS_ERROR_VARIABLE_UNDEFINED, "HSA_STATUS_ERROR_VARIABLE_UNDEFINED: A variable is not defined."},
    {HSA_STATUS_ERROR_EXCEPTION, "HSA_STATUS_ERROR_EXCEPTION: A kernel ended with an exception."},
    {HSA_STATUS_ERROR_INVALID_CODE_SYMBOL, "HSA_STATUS_ERROR_INVALID_CODE_SYMBOL: The code symbol is invalid."},
    {HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL,
     "HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL: The executable symbol is invalid."},
    {HSA_STATUS_ERROR_INVALID_FILE, "HSA_STATUS_ERROR_INVALID_FILE: The file is invalid."},
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER,
     "HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER: The code object reader is invalid."},
    {HSA_STATUS_ERROR_INVALID_CACHE, "HSA_STATUS_ERROR_INVALID_CACHE: The cache is invalid."},
    {HSA_STATUS_ERROR_INVALID_WAVEFRONT, "HSA_STATUS_ERROR_INVALID_WAVEFRONT: The wavefront is invalid."},
    {HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP, "HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP: The signal group is invalid."},
    {HSA_STATUS_ERROR_INVALID_RUNTIME_STATE,
     "HSA_STATUS_ERROR_INVALID_RUNTIME_STATE: The runtime is not in the right state."},
    {HSA_STATUS_ERROR_FATAL, "HSA_STATUS_ERROR_FATAL: The queue is in an error state."},
    {HSA_STATUS_ERROR_INVALID_MEMORY_POOL, "HSA_STATUS_ERROR_INVALID_MEMORY_POOL: The memory pool is invalid."},
    {HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION,
     "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: A kernel used an address outside of every aperture."},
    {HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION,
     "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: A kernel used an instruction that cannot be executed."},
    {HSA_STATUS_ERROR_MEMORY_FAULT, "HSA_STATUS_ERROR_MEMORY_FAULT: A kernel touched memory that it may not."},
    {HSA_STATUS_CU_MASK_REDUCED, "HSA_STATUS_CU_MASK_REDUCED: The compute unit mask was reduced."},
};

constexpr struct {
  uint16_t extension;
  const char *name;
} kExtensionNames[] = {
    {HSA_EXTENSION_FINALIZER, "HSA_EXTENSION_FINALIZER"},
    {HSA_EXTENSION_IMAGES, "HSA_EXTENSION_IMAGES"},
    {HSA_EXTENSION_PERFORMANCE_COUNTERS, "HSA_EXTENSION_PERFORMANCE_COUNTERS"},
    {HSA_EXTENSION_PROFILING_EVENTS, "HSA_EXTENSION_PROFILING_EVENTS"},
    {HSA_EXTENSION_AMD_PROFILER, "HSA_EXTENSION_AMD_PROFILER"},
    {HSA_EXTENSION_AMD_LOADER, "HSA_EXTENSION_AMD_LOADER"},
    {HSA_EXTENSION_AMD_AQLPROFILE, "HSA_EXTENSION_AMD_AQLPROFILE"},
};

} // namespace

hsa_status_t hsa_status_string(hsa_status_t status, const char **text) {
  if (!text)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const StatusText &s : kStatusTexts)
    if (s.status == uint32_t(status)) {
      *text = s.text;
      return HSA_STATUS_SUCCESS;
    }
  *text = nullptr;
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value) {
  if (!isInitialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!value)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (uint32_t(attribute)) {
  case HSA_SYSTEM_INFO_VERSION_MAJOR:
  case HSA_SYSTEM_INFO_VERSION_MINOR:
    return put(value, uint16_t(1));
  case HSA_SYSTEM_INFO_TIMESTAMP:
    return put(value, nowNs());
  case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
    return put(value, uint64_t(1'000'000'000));
  case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
    return put(value, UINT64_MAX);
  case HSA_SYSTEM_INFO_ENDIANNESS:
    return put(value, HSA_ENDIANNESS_LITTLE);
  case HSA_SYSTEM_INFO_MACHINE_MODEL:
    return put(value, HSA_MACHINE_MODEL_LARGE);
  case HSA_SYSTEM_INFO_EXTENSIONS: {
    uint8_t bits[128] = {};
    for (unsigned extension : {HSA_EXTENSION_IMAGES, HSA_EXTENSION_AMD_LOADER})
      bits[extension / 8] |= 1u << (extension % 8);
    std::memcpy(value, bits, sizeof(bits));
    return HSA_STATUS_SUCCESS;
  }
  case HSA_AMD_SYSTEM_INFO_BUILD_VERSION:
    return put(value, "WaveSan CPU agent");
  case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED:
  case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
    return put(value, false);
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_extension_get_name(uint16_t extension, const char **name) {
  if (!name)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const auto &e : kExtensionNames)
    if (e.extension == extension) {
      *name = e.name;
      return HSA_STATUS_SUCCESS;
    }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major, uint16_t *minor, bool *result) {
  if (!minor || !result)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = extension == HSA_EXTENSION_AMD_LOADER && major == 1;
  *minor = *result ? kLoaderMinorVersion : 0;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor, bool *result) {
  uint16_t supported;
  const hsa_status_t status = impl::hsa_system_major_extension_supported(extension, major, &supported, result);
  if (status == HSA_STATUS_SUCCESS)
    *result = *result && minor <= supported;
  return status;
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t size, void *table) {
  if (!table || size == 0)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (extension != HSA_EXTENSION_AMD_LOADER || major != 1)
    return HSA_STATUS_ERROR;
  copyLoaderTable(table, size);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor, void *table) {
  if (!table)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (extension != HSA_EXTENSION_AMD_LOADER || major != 1 || minor > kLoaderMinorVersion)
    return HSA_STATUS_ERROR;
  copyLoaderTable(table, loaderTableSize(minor));
  return HSA_STATUS_SUCCESS;
}

// Timestamps are always taken, in nanoseconds of the system clock.

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int) {
  return findQueue(queue) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

hsa_status_t hsa_amd_profiling_async_copy_enable(bool) { return HSA_STATUS_SUCCESS; }

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t *time) {
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!time)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!isLiveSignal(signal))
    return HSA_STATUS_ERROR_INVALID_SIGNAL;
  *time = {signalRecord(signal)->start_ts, signalRecord(signal)->end_ts};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time) {
  if (!time)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!isLiveSignal(signal))
    return HSA_STATUS_ERROR_INVALID_SIGNAL;
  *time = {signalRecord(signal)->start_ts, signalRecord(signal)->end_ts};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t tick, uint64_t *time) {
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!time)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *time = tick;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void *) {
  // System events are memory faults of the GPU; here they are errors of the queue that ran the kernel.
  return callback ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

} // namespace wavesan::agent::impl
