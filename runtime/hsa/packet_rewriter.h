// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the dispatch packet of a kernel into that of its twin.
#ifndef WAVESAN_HSA_PACKET_REWRITER_H
#define WAVESAN_HSA_PACKET_REWRITER_H

#include "queue_interceptor.h"

namespace wavesan::hsa {

class Tool;

/// Rewrites `packet` (a kernel dispatch that has not been published yet) and registers it with the drain. Where the
/// dispatch cannot be checked the packet stays as it is, and the findings count it with its reason. Never throws.
void rewritePacket(Tool &tool, const QueueState &queue, hsa_kernel_dispatch_packet_t &packet);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_PACKET_REWRITER_H
