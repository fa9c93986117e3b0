// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intercept queues, as AMD's runtime has them: the program writes packets into one ring; ringing the doorbell calls
// the registered handlers on the ringing thread, once per packet in ring order; what they hand to the packet writer
// goes into a second ring, which the packet processor consumes.
#ifndef WAVESAN_CPU_AGENT_INTERCEPT_QUEUE_H
#define WAVESAN_CPU_AGENT_INTERCEPT_QUEUE_H

#include "queue.h"

#include <deque>
#include <mutex>
#include <vector>

namespace wavesan::agent {

class InterceptQueue final : public Queue {
public:
  explicit InterceptQueue(const QueueDescription &description);
  ~InterceptQueue() override;

  /// The handler registered last is called first. Not while packets are in flight.
  void addHandler(hsa_amd_queue_intercept_handler handler, void *data);
  void ring(uint64_t index) override;
  PacketProcessor &processor() override { return *Processor; }

private:
  struct Handler {
    hsa_amd_queue_intercept_handler function;
    void *data;
  };

  static void writePackets(const void *packets, uint64_t count);
  void passOn(size_t level, const void *packets, uint64_t count, uint64_t packetIndex);
  void submit(const void *packets, uint64_t count);
  bool pushToRing(const AqlPacket &packet);
  void refill();

  std::mutex HandlerMutex;       ///< one doorbell at a time
  std::vector<Handler> Handlers; ///< in order of registration
  uint64_t NextPacket = 0;       ///< first packet that the handlers have not seen

  amd_queue_t Inner{};  ///< the ring behind the handlers
  std::mutex RingMutex; ///< guards writing to Inner, Overflow and Handled
  /// Packets that found no place in the ring. The program's own ring is not freed while there are any, which bounds
  /// them by what handlers make of one ring.
  std::deque<AqlPacket> Overflow;
  uint64_t Handled = 0; ///< packets of the program's ring that have been passed on
  std::unique_ptr<PacketProcessor> Processor;
};

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_INTERCEPT_QUEUE_H
