// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PacketProcessor: takes packets off a ring and executes them.
#include "dispatch.h"
#include "queue.h"
#include "signals.h"

#include <cstdio>
#include <cstring>
#include <system_error>

namespace wavesan::agent {

/// Packets are memory: anything may stand where a signal should.
static bool doesNotExist(hsa_signal_t s) { return s.handle != 0 && !isSignal(s); }

PacketProcessor::PacketProcessor(amd_queue_t &ring, hsa_queue_t *publicQueue, const QueueDescription &description,
                                 std::function<void()> consumed)
    : Ring(ring), PublicQueue(publicQueue), Description(description), Consumed(std::move(consumed)) {
  if (ring.hsa_queue.base_address)
    Thread = std::thread([this] { run(); });
}

PacketProcessor::~PacketProcessor() {
  stop();
  if (!Thread.joinable())
    return;
  if (Thread.get_id() == std::this_thread::get_id())
    Thread.detach(); // cannot happen through the API: no callback runs on this thread
  else
    Thread.join();
}

void PacketProcessor::stop() {
  Stopped = true;
  Cancel = true;
  Doorbell.notify();
  signalEvents().notify();
}

void PacketProcessor::pause(bool cancel) {
  Paused = true;
  if (cancel)
    Cancel = true;
  Doorbell.notify();
  signalEvents().notify();
}

bool PacketProcessor::isPacketReady() const {
  const uint64_t index = __atomic_load_n(&Ring.read_dispatch_id, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&Ring.write_dispatch_id, __ATOMIC_ACQUIRE) > index &&
         (__atomic_load_n(&ringSlot(Ring, index)->header, __ATOMIC_ACQUIRE) & 0xff) != kInvalidHeader;
}

PacketProcessor::State PacketProcessor::state() const {
  const State current = Current.load(std::memory_order_acquire);
  return current == State::Idle && isPacketReady() ? State::Executing : current;
}

bool PacketProcessor::takePacket(AqlPacket &packet, uint64_t &index) {
  Doorbell.wait([&] { return isInterrupted() || isPacketReady(); });
  if (isInterrupted())
    return false;
  Current.store(State::Executing, std::memory_order_release); // before the packet is no longer seen to be ready
  index = Ring.read_dispatch_id;
  AqlPacket *slot = ringSlot(Ring, index);
  std::memcpy(static_cast<void *>(&packet), slot, sizeof(packet));
  __atomic_store_n(&slot->header, kInvalidHeader, __ATOMIC_RELEASE);
  return true;
}

void PacketProcessor::run() {
  AqlPacket packet;
  uint64_t index;
  for (;;) {
    if (takePacket(packet, index)) {
      execute(packet, index);
      // The slot becomes free only now: llvm.amdgcn.dispatch.ptr and tools may look at the packet while it runs.
      __atomic_store_n(&Ring.read_dispatch_id, index + 1, __ATOMIC_RELEASE);
      Consumed();
      Current.store(State::Idle, std::memory_order_release);
    }
    if (Stopped)
      return;
    if (Paused) {
      Parked.store(true, std::memory_order_release);
      Doorbell.wait([&] { return Stopped.load(); });
      return;
    }
  }
}

void PacketProcessor::execute(const AqlPacket &packet, uint64_t index) {
  const void *bytes = &packet;
  // At the same place in packets of all types.
  const hsa_signal_t completion = static_cast<const hsa_kernel_dispatch_packet_t *>(bytes)->completion_signal;
  if (Failed)
    return failSignal(completion, nowNs(), nowNs());
  if (doesNotExist(completion))
    return fail(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
                "the completion signal of a packet of type " + std::to_string(packet.type()) + " does not exist", {0},
                nowNs());
  switch (packet.type()) {
  case HSA_PACKET_TYPE_KERNEL_DISPATCH:
    return executeDispatch(*static_cast<const hsa_kernel_dispatch_packet_t *>(bytes), index);
  case HSA_PACKET_TYPE_BARRIER_AND:
    return executeBarrier(*static_cast<const hsa_barrier_and_packet_t *>(bytes), true);
  case HSA_PACKET_TYPE_BARRIER_OR:
    return executeBarrier(*static_cast<const hsa_barrier_and_packet_t *>(bytes), false);
  case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
    return executeVendor(*static_cast<const hsa_amd_barrier_value_packet_t *>(bytes));
  default:
    fail(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
         "a queue was given a packet of type " + std::to_string(packet.type()) + ", which the CPU agent cannot execute",
         completion, nowNs());
  }
}

void PacketProcessor::executeDispatch(const hsa_kernel_dispatch_packet_t &packet, uint64_t index) {
  const uint64_t start = nowNs();
  DispatchResult result = runDispatch(packet, PublicQueue, index, Cancel);
  if (result.status == HSA_STATUS_SUCCESS)
    return completeSignal(packet.completion_signal, start, nowNs());
  if (isInterrupted()) // cancelled from outside: not an error of the program
    return failSignal(packet.completion_signal, start, nowNs());
  fail(result.status, result.message, packet.completion_signal, start);
}

void PacketProcessor::executeBarrier(const hsa_barrier_and_packet_t &packet, bool all) {
  const uint64_t start = nowNs();
  bool failedDependency = false;
  for (hsa_signal_t dependency : packet.dep_signal)
    if (doesNotExist(dependency))
      return fail(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "a barrier packet waits for a signal that does not exist",
                  packet.completion_signal, start);
  Current.store(State::Waiting, std::memory_order_release);
  signalEvents().wait(
      [&] {
        bool any = false, every = true, waitsForNothing = true;
        failedDependency = false;
        for (hsa_signal_t dependency : packet.dep_signal) {
          if (!dependency.handle)
            continue;
          waitsForNothing = false;
          const int64_t value = signalValue(dependency);
          failedDependency |= value < 0;
          any |= value == 0;
          every &= value == 0;
        }
        return waitsForNothing || (all ? every || failedDependency : any || failedDependency) || isInterrupted();
      },
      kForever, kSignalPollNs);
  if (isInterrupted())
    return failSignal(packet.completion_signal, start, nowNs());
  if (failedDependency)
    return fail(HSA_STATUS_ERROR, "a barrier packet depends on a command that failed", packet.completion_signal, start);
  completeSignal(packet.completion_signal, start, nowNs());
}

void PacketProcessor::executeVendor(const hsa_amd_barrier_value_packet_t &packet) {
  const uint64_t start = nowNs();
  if (packet.header.AmdFormat != HSA_AMD_PACKET_TYPE_BARRIER_VALUE)
    return fail(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
                "vendor packets of format " + std::to_string(packet.header.AmdFormat) +
                    " are not supported by the CPU agent",
                packet.completion_signal, start);
  if (doesNotExist(packet.signal))
    return fail(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "a barrier packet waits for a signal that does not exist",
                packet.completion_signal, start);
  Current.store(State::Waiting, std::memory_order_release);
  if (packet.signal.handle)
    signalEvents().wait(
        [&] {
          return isInterrupted() ||
                 signalConditionHolds(packet.cond, signalValue(packet.signal) & packet.mask, packet.value);
        },
        kForever, kSignalPollNs);
  if (isInterrupted())
    return failSignal(packet.completion_signal, start, nowNs());
  completeSignal(packet.completion_signal, start, nowNs());
}

void PacketProcessor::fail(hsa_status_t status, const std::string &message, hsa_signal_t completion, uint64_t startNs) {
  if (!message.empty()) // else it has been said
    std::fprintf(stderr, "wavesan: %s\n", message.c_str());
  Failed = true;
  if (Description.errorCallback) {
    // The callback comes first: HIP's aborts the process, and must do so before a waiter sees the packet completed.
    // It has a thread of its own, since it may destroy this queue, and since the handler thread may itself be waiting
    // for this packet.
    auto done = std::make_shared<std::atomic<bool>>(false);
    try {
      std::thread([done, status, queue = PublicQueue, description = Description] {
        description.errorCallback(status, queue, description.errorData);
        done->store(true);
        signalEvents().notify();
      }).detach();
    } catch (const std::system_error &) { // here, then: an error that nobody hears of would be worse
      Description.errorCallback(status, PublicQueue, Description.errorData);
      done->store(true);
    }
    signalEvents().wait([&] { return done->load() || isInterrupted(); });
  }
  failSignal(completion, startNs, nowNs());
}

} // namespace wavesan::agent
