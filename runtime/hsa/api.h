// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The HSA runtime as the tool calls it: the function table of OnLoad, copied before anything is replaced in it.
//
// Calls through this copy do not come back to the tool's own interceptors. Immutable after take(), so thread-safe.
#ifndef WAVESAN_HSA_API_H
#define WAVESAN_HSA_API_H

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ext_amd.h>

#include <optional>
#include <string>

namespace wavesan::hsa {

struct Api {
  CoreApiTable core{};
  AmdExtTable amd{};

  /// Copies the tables. Returns nothing, and one line in `error`, when the runtime's tables are not those that this
  /// library was compiled for or lack a function that the tool needs.
  static std::optional<Api> take(const HsaApiTable *table, std::string &error);

  /// The runtime's text for a status, e.g. "HSA_STATUS_ERROR_OUT_OF_RESOURCES: ...".
  std::string statusText(hsa_status_t status) const;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_API_H
