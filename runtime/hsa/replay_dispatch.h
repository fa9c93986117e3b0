// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel replay of one dispatch packet: the window, the snapshot, and the packet of each pass.
#ifndef WAVESAN_HSA_REPLAY_DISPATCH_H
#define WAVESAN_HSA_REPLAY_DISPATCH_H

#include "queue_interceptor.h"

#include <functional>

namespace wavesan::hsa {

class Tool;

/// Publishes packets of 64 bytes on the queue's hardware queue, on this thread.
using PacketWriter = std::function<void(const void *packets, uint64_t count)>;

/// Offers the dispatch to the subscriber of kernel replay. True: it has been executed, all packets in front of it had
/// been published, and the program's completion signal is complete. False: the caller publishes the packet as usual.
/// Does nothing, and returns false, without a subscriber, for the runtime's own kernels, and inside of another replay.
/// `dispatch` is the number reserved for it; 0 asks for one and puts it there if any callback was called.
/// Call without holding the agent's window.
bool replayDispatch(Tool &tool, QueueState &queue, const hsa_kernel_dispatch_packet_t &packet, uint64_t &dispatch,
                    const PacketWriter &write);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_REPLAY_DISPATCH_H
