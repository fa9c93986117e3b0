// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An HSA tool library for the tests: keeps the API table, counts its loads, overrides one function.
#include "hsa_headers.h"

#include <cstdio>
#include <cstdlib>

extern "C" {
[[gnu::visibility("default")]] HsaApiTable *ToolTable = nullptr;
[[gnu::visibility("default")]] int ToolLoads = 0, ToolUnloads = 0, ToolSignalCreations = 0;

[[gnu::visibility("default")]] hsa_signal_t *ToolWatchedSignal = nullptr; ///< its value is said at unload
static decltype(hsa_signal_create) *NextSignalCreate;
static hsa_status_t countSignalCreate(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
                                      hsa_signal_t *signal) {
  ++ToolSignalCreations;
  return NextSignalCreate(value, count, consumers, signal);
}

[[gnu::visibility("default")]] bool OnLoad(HsaApiTable *table, uint64_t runtimeVersion, uint64_t failedCount,
                                           const char *const *failedNames) {
  if (std::getenv("TABLE_TOOL_REFUSES"))
    return false;
  if (runtimeVersion != HSA_API_TABLE_MAJOR_VERSION || (failedCount && !failedNames[0]))
    return false;
  ToolTable = table;
  ++ToolLoads;
  NextSignalCreate = table->core_->hsa_signal_create_fn;
  table->core_->hsa_signal_create_fn = countSignalCreate;
  return true;
}

[[gnu::visibility("default")]] void OnUnload() {
  ++ToolUnloads;
  if (ToolWatchedSignal)
    std::fprintf(stderr, "table_tool: watched signal is %lld\n",
                 static_cast<long long>(ToolTable->core_->hsa_signal_load_scacquire_fn(*ToolWatchedSignal)));
  if (std::getenv("TABLE_TOOL_SPEAKS"))
    std::fprintf(stderr, "table_tool: unloaded %d\n", ToolUnloads);
}
}
