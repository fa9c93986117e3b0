// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AQL queues. The public hsa_queue_t is the head of an amd_queue_t, as on hardware.
//
// A PacketProcessor is a thread that consumes one ring in order. A packet starts when the one before it has
// completed, which is stronger than AQL demands without the barrier bit and legal. A plain queue's processor reads the
// ring that the program writes; an intercept queue (intercept_queue.h) has a second ring behind its handlers.
//
// When a packet fails, one line goes to stderr, the queue's error callback is called on a thread of its own, and the
// queue is in error state: the completion signals of that packet and of all later ones become kFailedSignalValue and
// nothing is executed any more. Nobody waits for ever, and nobody takes a failure for a result.
#ifndef WAVESAN_CPU_AGENT_QUEUE_H
#define WAVESAN_CPU_AGENT_QUEUE_H

#include "event_count.h"
#include "hsa_headers.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace wavesan::agent {

/// One slot of a ring. The header is the first 16 bits of every packet type.
struct alignas(64) AqlPacket {
  uint16_t header;
  uint8_t rest[62];

  int type() const { return (header >> HSA_PACKET_HEADER_TYPE) & ((1 << HSA_PACKET_HEADER_WIDTH_TYPE) - 1); }
};
static_assert(sizeof(AqlPacket) == sizeof(hsa_kernel_dispatch_packet_t));

inline constexpr uint16_t kInvalidHeader = HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE;

using QueueErrorCallback = void (*)(hsa_status_t, hsa_queue_t *, void *);

/// What every queue needs to know at creation.
struct QueueDescription {
  hsa_agent_t agent;
  uint32_t size; ///< packets, a power of two
  hsa_queue_type32_t type;
  QueueErrorCallback errorCallback; ///< may be null
  void *errorData;
};

/// Initialises `record` (indices 0, all slots invalid) with a new ring. False when memory is exhausted.
bool createRing(amd_queue_t &record, const QueueDescription &description);
void destroyRing(amd_queue_t &record);
inline AqlPacket *ringSlot(const amd_queue_t &record, uint64_t index) {
  return static_cast<AqlPacket *>(record.hsa_queue.base_address) + (index & (record.hsa_queue.size - 1));
}

/// Consumes a ring on its own thread. wake(), stop(), pause() and isParked() may be called from any thread.
class PacketProcessor {
public:
  /// `ring` is consumed; `publicQueue` is what callbacks and kernels see. `consumed` is called after each slot that
  /// has been freed. All must outlive the processor.
  PacketProcessor(amd_queue_t &ring, hsa_queue_t *publicQueue, const QueueDescription &description,
                  std::function<void()> consumed);
  ~PacketProcessor(); ///< stops and joins

  void wake() { Doorbell.notify(); }
  /// Ends the running packet with an error and takes no further one.
  void stop();
  /// Takes no further packet after the running one; `cancel` also ends that one.
  void pause(bool cancel);
  bool isParked() const { return Parked.load(std::memory_order_acquire); }

  /// Idle: no packet can be taken. Waiting: a barrier packet waits for a signal.
  enum class State { Idle, Waiting, Executing };
  State state() const;
  /// Grows with every packet that has been executed.
  uint64_t packetsExecuted() const { return __atomic_load_n(&Ring.read_dispatch_id, __ATOMIC_ACQUIRE); }

private:
  void run();
  bool isPacketReady() const;
  bool takePacket(AqlPacket &packet, uint64_t &index);
  void execute(const AqlPacket &packet, uint64_t index);
  void executeDispatch(const hsa_kernel_dispatch_packet_t &packet, uint64_t index);
  void executeBarrier(const hsa_barrier_and_packet_t &packet, bool all);
  void executeVendor(const hsa_amd_barrier_value_packet_t &packet);
  void fail(hsa_status_t status, const std::string &message, hsa_signal_t completion, uint64_t startNs);
  bool isInterrupted() const { return Stopped || Paused; }

  amd_queue_t &Ring;
  hsa_queue_t *const PublicQueue;
  const QueueDescription Description;
  const std::function<void()> Consumed;
  EventCount Doorbell;
  std::atomic<bool> Stopped{false}, Paused{false}, Parked{false}, Cancel{false};
  std::atomic<State> Current{State::Idle};
  bool Failed = false; ///< error state; only the processor's thread uses it
  std::thread Thread;
};

/// A queue of the program. Its amd_queue_t is what the program holds a pointer to.
class Queue : public amd_queue_t {
public:
  explicit Queue(const QueueDescription &description);
  virtual ~Queue();
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;

  /// The doorbell was written: packets up to some index are in the ring.
  virtual void ring(uint64_t index) = 0;
  virtual PacketProcessor &processor() = 0;

  bool valid() const { return hsa_queue.base_address != nullptr && hsa_queue.doorbell_signal.handle != 0; }
};

class PlainQueue final : public Queue {
public:
  explicit PlainQueue(const QueueDescription &description)
      : Queue(description), Processor(*this, &hsa_queue, description, [] {}) {}
  void ring(uint64_t) override { Processor.wake(); }
  PacketProcessor &processor() override { return Processor; }

private:
  PacketProcessor Processor;
};

/// Checks the arguments of queue creation as the HSA specification demands.
hsa_status_t checkQueueArguments(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, const void *out);
/// Publishes the queue; the registry owns it until destroyQueue().
hsa_queue_t *registerQueue(std::unique_ptr<Queue> queue);
/// Null unless `queue` is a live queue.
Queue *findQueue(const hsa_queue_t *queue);
/// False unless `queue` is a live queue. Ends its running packet.
bool destroyQueue(hsa_queue_t *queue);
/// A store to a doorbell signal. Ignores queues that no longer exist.
void ringDoorbell(amd_queue_t *queue, uint64_t index);
/// Waits at the end of the process until all packets in all queues are executed, as far as they can be: no longer for
/// barriers that wait for signals which nobody changes, nor for a kernel that has run for `patienceNs` since.
void finishAllQueues(uint64_t patienceNs);
/// Brings all queues to rest: waits up to `graceNs` for running packets, then cancels them.
void parkAllQueues(uint64_t graceNs);

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_QUEUE_H
