// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel dispatch: from an AQL packet to the engine, or to a native blit.
#ifndef WAVESAN_CPU_AGENT_DISPATCH_H
#define WAVESAN_CPU_AGENT_DISPATCH_H

#include "hsa_headers.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace wavesan::agent {

/// On failure `status` is what the queue's error callback gets, `message` is one line for people; empty: it has been printed.
struct DispatchResult {
  hsa_status_t status = HSA_STATUS_SUCCESS;
  std::string message;
};

/// Runs one dispatch to its end on the calling thread. `cancel` set from another thread ends it soon, with an error.
DispatchResult runDispatch(const hsa_kernel_dispatch_packet_t &packet, hsa_queue_t *queue, uint64_t dispatchId,
                           const std::atomic<bool> &cancel);

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_DISPATCH_H
