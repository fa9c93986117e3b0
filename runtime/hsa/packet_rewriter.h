// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the dispatch packet of a kernel into that of its twin.
#ifndef WAVESAN_HSA_PACKET_REWRITER_H
#define WAVESAN_HSA_PACKET_REWRITER_H

#include "agent_info.h"
#include "kernel_table.h"
#include "queue_interceptor.h"
#include "shadow_plan.h"

#include "wavesan/abi/delays.h"
#include "wavesan/abi/replay.h"

#include <memory>

namespace wavesan::hsa {

class AccessTrace;
class StreamDispatch;
class Tool;

/// What is different for the passes of a replay.
struct PassOptions {
  bool counts = true; ///< false: a later pass, which is no dispatch of the program
  bool quiet = false; ///< nothing that it finds is reported or counted
  bool part = false;  ///< it checks another part of memory than the pass before it: only new races count
  AccessTrace *trace = nullptr;
  std::shared_ptr<abi::Delays> delays{}; ///< of its waves by the device runtime; null: none. PendingDispatch::delays
  uint64_t touchMap = 0;                 ///< abi::TouchMap of the memory that its waves may write; 0: none
  const abi::ShadowWindow *window = nullptr; ///< what the device runtime records of global memory; null: all
  /// What the dispatch has been bound to already, or null. Null pointer: it is to be bound now.
  const std::shared_ptr<StreamDispatch> *stream = nullptr;
};

/// What the shadow of a dispatch depends on, budget apart. The kernel has a twin.
ShadowRequest shadowRequest(const QueueState &queue, const Kernel &kernel, const AgentInfo &agent,
                            const hsa_kernel_dispatch_packet_t &packet);

/// Rewrites `packet` (a kernel dispatch that has not been published yet) and registers it with the drain. Where the
/// dispatch cannot be checked the packet stays as it is, and the findings count it with its reason. Returns true if it
/// was rewritten: then `behind` must follow it in the queue. Never throws. `dispatch`: its number, 0: the next one.
bool rewritePacket(Tool &tool, const QueueState &queue, hsa_kernel_dispatch_packet_t &packet,
                   hsa_barrier_and_packet_t &behind, uint64_t dispatch = 0, const PassOptions &pass = {});

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_PACKET_REWRITER_H
