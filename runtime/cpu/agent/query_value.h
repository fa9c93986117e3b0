// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers to HSA queries: the caller's buffer is typed by the attribute, and may be unaligned.
#ifndef WAVESAN_CPU_AGENT_QUERY_VALUE_H
#define WAVESAN_CPU_AGENT_QUERY_VALUE_H

#include "hsa_headers.h"

#include <cstring>

namespace wavesan::agent {

/// Writes `v` to the caller's buffer.
template <class T> hsa_status_t put(void *value, T v) {
  std::memcpy(value, &v, sizeof(v));
  return HSA_STATUS_SUCCESS;
}

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_QUERY_VALUE_H
