// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queue.h"

#include "agents.h"
#include "copies.h"
#include "fault_handler.h"
#include "signals.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace wavesan::agent {
namespace {

/// Live queues by their public pointer. Shared with whoever is ringing a doorbell: the packet may be executed, and its
/// callback destroy the queue, before the ringing thread is done.
struct QueueRegistry {
  std::shared_mutex mutex;
  std::unordered_map<const hsa_queue_t *, std::shared_ptr<Queue>> queues;
};

QueueRegistry &registry() {
  static QueueRegistry &r = *new QueueRegistry; // queues outlive static destructors
  return r;
}

std::atomic<uint64_t> NextQueueId{1};

} // namespace

bool createRing(amd_queue_t &record, const QueueDescription &description) {
  std::memset(static_cast<void *>(&record), 0, sizeof(record));
  hsa_queue_t &q = record.hsa_queue;
  q.type = description.type;
  q.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
  q.size = description.size;
  q.id = NextQueueId++;
  record.queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
  record.read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_t, read_dispatch_id);
  void *slots = std::aligned_alloc(4096, std::max<size_t>(4096, size_t(description.size) * sizeof(AqlPacket)));
  if (!slots)
    return false;
  std::memset(slots, 0, size_t(description.size) * sizeof(AqlPacket));
  q.base_address = slots;
  for (uint32_t i = 0; i < description.size; ++i)
    ringSlot(record, i)->header = kInvalidHeader;
  return true;
}

void destroyRing(amd_queue_t &record) {
  std::free(record.hsa_queue.base_address);
  record.hsa_queue.base_address = nullptr;
}

Queue::Queue(const QueueDescription &description) {
  if (createRing(*this, description))
    hsa_queue.doorbell_signal = createDoorbell(this);
}

Queue::~Queue() {
  destroySignal(hsa_queue.doorbell_signal);
  destroyRing(*this);
}

hsa_status_t checkQueueArguments(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, const void *out) {
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!isGpu(agent))
    return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
  if (!out || size == 0 || (size & (size - 1)) != 0 || size > kMaxQueuePackets)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (type != HSA_QUEUE_TYPE_MULTI && type != HSA_QUEUE_TYPE_SINGLE && type != HSA_QUEUE_TYPE_COOPERATIVE)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return HSA_STATUS_SUCCESS;
}

hsa_queue_t *registerQueue(std::unique_ptr<Queue> queue) {
  hsa_queue_t *handle = &queue->hsa_queue;
  std::unique_lock lock(registry().mutex);
  registry().queues.emplace(handle, std::move(queue));
  return handle;
}

Queue *findQueue(const hsa_queue_t *queue) {
  std::shared_lock lock(registry().mutex);
  auto it = registry().queues.find(queue);
  return it == registry().queues.end() ? nullptr : it->second.get();
}

bool destroyQueue(hsa_queue_t *queue) {
  std::shared_ptr<Queue> doomed;
  {
    std::unique_lock lock(registry().mutex);
    auto it = registry().queues.find(queue);
    if (it == registry().queues.end())
      return false;
    doomed = std::move(it->second);
    registry().queues.erase(it);
  }
  doomed->processor().stop();
  return true; // the destructor joins the thread outside of the registry's lock
}

void ringDoorbell(amd_queue_t *queue, uint64_t index) {
  if (!queue)
    return;
  std::shared_ptr<Queue> live;
  {
    std::shared_lock lock(registry().mutex);
    if (auto it = registry().queues.find(&queue->hsa_queue); it != registry().queues.end())
      live = it->second;
  }
  if (live)
    live->ring(index);
}

void finishAllQueues(uint64_t patienceNs) {
  // A waiting barrier may be about to go on: a tool completes signals from its own thread, in its own time.
  constexpr uint64_t settleNs = 50'000'000;
  uint64_t lastChange = nowNs(), lastExecuted = 0;
  bool lastWaiting = false;
  for (;;) {
    bool executing = false, waiting = false;
    uint64_t executed = 0;
    {
      std::shared_lock lock(registry().mutex);
      for (auto &[handle, queue] : registry().queues) {
        const PacketProcessor::State state = queue->processor().state();
        executing |= state == PacketProcessor::State::Executing;
        waiting |= state == PacketProcessor::State::Waiting;
        executed += queue->processor().packetsExecuted();
      }
    }
    executing |= isCopying();
    if ((!executing && !waiting) || hasThreadStopped())
      return;
    const uint64_t now = nowNs();
    if (executed != lastExecuted || (waiting && !executing) != lastWaiting) {
      lastExecuted = executed;
      lastWaiting = waiting && !executing;
      lastChange = now;
    }
    if (now - lastChange > (lastWaiting ? settleNs : patienceNs))
      return;
    timespec ts{0, 200'000};
    nanosleep(&ts, nullptr);
  }
}

void parkAllQueues(uint64_t graceNs) {
  const uint64_t end = nowNs() + graceNs;
  for (bool cancel : {false, true}) {
    const uint64_t limit = cancel ? end + graceNs : end;
    bool allParked = true;
    {
      std::shared_lock lock(registry().mutex);
      for (auto &[handle, queue] : registry().queues)
        queue->processor().pause(cancel);
    }
    do {
      allParked = true;
      {
        std::shared_lock lock(registry().mutex);
        for (auto &[handle, queue] : registry().queues)
          allParked &= queue->processor().isParked();
      }
      if (allParked || hasThreadStopped())
        return;
      timespec ts{0, 200'000};
      nanosleep(&ts, nullptr);
    } while (nowNs() < limit);
  }
}

} // namespace wavesan::agent
