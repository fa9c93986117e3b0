// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which packets a thread inside of a replay has put into queues itself. When it rings a doorbell, the queue's handler
// gets all packets in front of it, too, and other threads may have put some of them there: these are no part of the
// replay.
#ifndef WAVESAN_HSA_OWN_PACKETS_H
#define WAVESAN_HSA_OWN_PACKETS_H

#include "api.h"

#include <cstdint>

namespace wavesan::hsa {

/// A replay begins on this thread.
void forgetOwnPackets();
/// Of packets that come to the handler of `queue` on a thread that is inside of a replay: this thread has reserved
/// their places, and since the replay began. To be asked once for each packet.
bool takeOwnPacket(const hsa_queue_t *queue, uint64_t index);

void installWriteIndexInterceptors(CoreApiTable &core);
void removeWriteIndexInterceptors(CoreApiTable &core, const CoreApiTable &original);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_OWN_PACKETS_H
