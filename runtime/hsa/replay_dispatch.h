// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel replay of one dispatch packet: the window, the snapshot, and the packet of each pass.
#ifndef WAVESAN_HSA_REPLAY_DISPATCH_H
#define WAVESAN_HSA_REPLAY_DISPATCH_H

#include "kernel_table.h"
#include "queue_interceptor.h"

#include <functional>
#include <memory>
#include <vector>

namespace wavesan::hsa {

class StreamDispatch;
class Tool;

/// Publishes packets of 64 bytes on the queue's hardware queue, on this thread.
using PacketWriter = std::function<void(const void *packets, uint64_t count)>;

/// A dispatch that has not been published yet.
struct QueuedDispatch {
  hsa_kernel_dispatch_packet_t packet{};
  std::shared_ptr<const Kernel> kernel{}; ///< null: not looked for yet, or unknown
  uint64_t number = 0;                    ///< 0: none reserved for it
  bool bound = false;                     ///< `stream` is what it belongs to; else that is to be found out
  std::shared_ptr<StreamDispatch> stream{};
};

/// Offers the dispatch to the subscriber of kernel replay. True: it has been executed, all packets in front of it had
/// been published, and the program's completion signal is complete. False: the caller publishes the packet as usual.
/// Does nothing, and returns false, without a subscriber, for the runtime's own kernels, and inside of another replay.
/// A dispatch without a number gets one if any callback was called. Call without holding the agent's window.
bool replayDispatch(Tool &tool, QueueState &queue, QueuedDispatch &dispatch, const PacketWriter &write);

/// The same of a range, whose dispatches have numbers; it tells ReplayRange what became of it. They are the only ones
/// of their queue that are not published.
bool replayRange(Tool &tool, QueueState &queue, std::vector<QueuedDispatch> &range, const PacketWriter &write);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_REPLAY_DISPATCH_H
