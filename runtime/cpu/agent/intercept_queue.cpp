// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "intercept_queue.h"

#include "signals.h"

#include <cstdio>
#include <cstring>

namespace wavesan::agent {
namespace {

/// Where the calling thread is in a chain of handlers. The packet writer has no argument that would say so.
struct HandlerFrame {
  InterceptQueue *queue = nullptr;
  size_t level = 0; ///< handlers with a smaller number are still to be called
  uint64_t packetIndex = 0;
};
thread_local HandlerFrame CurrentFrame;

} // namespace

InterceptQueue::InterceptQueue(const QueueDescription &description) : Queue(description) {
  if (!valid() || !createRing(Inner, description)) {
    destroyRing(*this); // valid() is false from here on
    return;
  }
  Processor = std::make_unique<PacketProcessor>(Inner, &hsa_queue, description, [this] { refill(); });
}

InterceptQueue::~InterceptQueue() {
  Processor.reset();
  destroyRing(Inner);
}

void InterceptQueue::addHandler(hsa_amd_queue_intercept_handler handler, void *data) {
  std::lock_guard lock(HandlerMutex);
  Handlers.push_back({handler, data});
}

void InterceptQueue::ring(uint64_t index) {
  if (CurrentFrame.queue) {
    // A handler that rings a doorbell would wait for itself; let another thread do it, as AMD's runtime does.
    callAsync([queue = static_cast<amd_queue_t *>(this), index] { ringDoorbell(queue, index); });
    return;
  }
  std::lock_guard lock(HandlerMutex);
  const uint64_t written = __atomic_load_n(&write_dispatch_id, __ATOMIC_ACQUIRE);
  const uint64_t end = std::min<uint64_t>(written, NextPacket + hsa_queue.size);
  for (; NextPacket < end; ++NextPacket) {
    AqlPacket *slot = ringSlot(*this, NextPacket);
    if ((__atomic_load_n(&slot->header, __ATOMIC_ACQUIRE) & 0xff) == kInvalidHeader)
      break;
    CurrentFrame.queue = this;
    passOn(Handlers.size(), slot, 1, NextPacket);
    CurrentFrame.queue = nullptr;
    __atomic_store_n(&slot->header, kInvalidHeader, __ATOMIC_RELEASE);
    std::lock_guard ringLock(RingMutex);
    Handled = NextPacket + 1;
    if (Overflow.empty())
      __atomic_store_n(&read_dispatch_id, Handled, __ATOMIC_RELEASE);
  }
}

void InterceptQueue::passOn(size_t level, const void *packets, uint64_t count, uint64_t packetIndex) {
  if (level == 0)
    return submit(packets, count);
  const HandlerFrame saved = CurrentFrame;
  CurrentFrame.level = level - 1;
  CurrentFrame.packetIndex = packetIndex;
  const Handler &handler = Handlers[level - 1];
  handler.function(packets, count, packetIndex, handler.data, writePackets);
  CurrentFrame = saved;
}

void InterceptQueue::writePackets(const void *packets, uint64_t count) {
  const HandlerFrame frame = CurrentFrame;
  if (!frame.queue) {
    std::fprintf(stderr,
                 "wavesan: a tool called the packet writer outside of its intercept handler; %llu packets of "
                 "the program are lost\n",
                 static_cast<unsigned long long>(count));
    return;
  }
  frame.queue->passOn(frame.level, packets, count, frame.packetIndex);
}

void InterceptQueue::submit(const void *packets, uint64_t count) {
  {
    std::lock_guard lock(RingMutex);
    for (uint64_t i = 0; i < count; ++i) {
      AqlPacket packet; // copied: what a tool passes on need not be aligned as the ring's slots are
      std::memcpy(&packet, static_cast<const char *>(packets) + i * sizeof(packet), sizeof(packet));
      if (!Overflow.empty() || !pushToRing(packet))
        Overflow.push_back(packet);
    }
  }
  Processor->wake();
}

bool InterceptQueue::pushToRing(const AqlPacket &packet) {
  const uint64_t write = Inner.write_dispatch_id;
  if (write - __atomic_load_n(&Inner.read_dispatch_id, __ATOMIC_ACQUIRE) >= Inner.hsa_queue.size)
    return false;
  AqlPacket *slot = ringSlot(Inner, write);
  std::memcpy(slot->rest, packet.rest, sizeof(slot->rest));
  __atomic_store_n(&slot->header, packet.header, __ATOMIC_RELEASE);
  __atomic_store_n(&Inner.write_dispatch_id, write + 1, __ATOMIC_RELEASE);
  return true;
}

void InterceptQueue::refill() {
  std::lock_guard lock(RingMutex);
  if (Overflow.empty())
    return;
  while (!Overflow.empty() && pushToRing(Overflow.front()))
    Overflow.pop_front();
  if (Overflow.empty())
    __atomic_store_n(&read_dispatch_id, Handled, __ATOMIC_RELEASE);
}

} // namespace wavesan::agent
