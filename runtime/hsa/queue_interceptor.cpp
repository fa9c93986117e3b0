// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queue_interceptor.h"

#include "own_packets.h"
#include "packet_rewriter.h"
#include "replay_dispatch.h"
#include "replay_graph.h"
#include "replay_loop.h"
#include "replay_range.h"
#include "replay_service.h"
#include "tool.h"

#include <algorithm>
#include <cstring>

namespace wavesan::hsa {

namespace {

/// How long destroying a queue waits for results of its dispatches. They have completed already in a correct program.
constexpr std::chrono::seconds kDestroyLimit(1);

/// Size and alignment of every AQL packet.
struct alignas(64) Packet {
  uint8_t bytes[64];
};

hsa_kernel_dispatch_packet_t *asDispatch(Packet &packet) {
  auto *dispatch = reinterpret_cast<hsa_kernel_dispatch_packet_t *>(&packet);
  const unsigned type = dispatch->header >> HSA_PACKET_HEADER_TYPE & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
  return type == HSA_PACKET_TYPE_KERNEL_DISPATCH ? dispatch : nullptr;
}

/// The same where dispatches may be replayed: each dispatch is offered, what is not replayed is published inside the
/// agent's window, and a fence follows.
void onPacketsBesideReplays(Tool &tool, QueueState &queue, const uint8_t *packets, uint64_t count,
                            hsa_amd_queue_intercept_packet_writer writer) {
  AgentWindow &window = tool.windows.of(queue.agent);
  std::vector<Packet> ready;
  ready.reserve(2 * count + 1);
  auto publish = [&] {
    if (ready.empty())
      return;
    // Barriers touch no memory, and a callback of the subscriber may wait for one that another thread of the language
    // runtime submits.
    if (std::none_of(ready.begin(), ready.end(), [](Packet &packet) { return asDispatch(packet) != nullptr; })) {
      writer(ready.data(), ready.size());
      ready.clear();
      return;
    }
    AgentWindow::Shared lock = window.share();
    hsa_barrier_and_packet_t fence;
    if (queue.fences.next(tool.api, fence))
      std::memcpy(&ready.emplace_back(), &fence, sizeof(fence));
    writer(ready.data(), ready.size());
    ready.clear();
  };
  const PacketWriter write = [&](const void *data, uint64_t n) { writer(data, n); };
  auto offer = [&](QueuedDispatch dispatch) {
    publish(); // what stands in front of it
    if (replayDispatch(tool, queue, dispatch, write))
      return;
    hsa_barrier_and_packet_t behind;
    PassOptions pass;
    pass.stream = dispatch.bound ? &dispatch.stream : nullptr;
    const bool rewritten = rewritePacket(tool, queue, dispatch.packet, behind, dispatch.number, pass);
    std::memcpy(&ready.emplace_back(), &dispatch.packet, sizeof(Packet));
    if (rewritten)
      std::memcpy(&ready.emplace_back(), &behind, sizeof(behind));
  };
  for (uint64_t i = 0; i < count; ++i) {
    Packet packet;
    std::memcpy(&packet, packets + i * sizeof(Packet), sizeof(Packet));
    ReplayRange::Step step = ReplayRange::instance().onPacket(tool, queue, &packet);
    if (step.runs)
      publish();
    if (!step.runs || !replayRange(tool, queue, step.dispatches, write))
      for (QueuedDispatch &held : step.dispatches)
        offer(std::move(held));
    if (step.keeps)
      continue;
    if (const hsa_kernel_dispatch_packet_t *dispatch = asDispatch(packet))
      offer({.packet = *dispatch});
    else
      ready.push_back(packet);
  }
  publish();
}

/// Called by the runtime on the thread that submits, with the packets written so far.
void onPackets(const void *packets, uint64_t count, uint64_t index, void *data,
               hsa_amd_queue_intercept_packet_writer writer) {
  Tool *tool = Tool::current();
  auto &queue = *static_cast<QueueState *>(data);
  try {
    if (ReplayService::instance().everSubscribed() && !insideReplay()) {
      onPacketsBesideReplays(*tool, queue, static_cast<const uint8_t *>(packets), count, writer);
      return;
    }
    std::vector<Packet> copies;
    copies.reserve(2 * count + 1);
    // What comes from inside of a replay, callbacks or passes of a graph, is seen by windows, too.
    hsa_barrier_and_packet_t fence;
    const bool fenced = ReplayService::instance().everSubscribed() && queue.fences.next(tool->api, fence);
    // No allocation, hence no exception, once a packet has been rewritten.
    for (uint64_t i = 0; i < count; ++i) {
      Packet &packet = copies.emplace_back();
      // The runtime's packets need not be aligned.
      std::memcpy(&packet, static_cast<const uint8_t *>(packets) + i * sizeof(Packet), sizeof(Packet));
      auto *dispatch = reinterpret_cast<hsa_kernel_dispatch_packet_t *>(&packet);
      unsigned type = dispatch->header >> HSA_PACKET_HEADER_TYPE & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
      hsa_barrier_and_packet_t behind;
      const bool own = !insideReplay() || takeOwnPacket(queue.handle, index + i);
      if (type != HSA_PACKET_TYPE_KERNEL_DISPATCH)
        continue;
      if (!own) // another thread's, which has not come to the window: it must not be undone
        tool->windows.of(queue.agent).letIn();
      const GraphPass *pass = own ? currentGraphPass() : nullptr;
      if (!pass)
        noteWorkInside();
      if (pass ? pass->checks && rewritePacket(*tool, queue, *dispatch, behind, 0, pass->options)
               : rewritePacket(*tool, queue, *dispatch, behind))
        std::memcpy(&copies.emplace_back(), &behind, sizeof(behind));
      else if (!fenced)
        queue.fences.noteUnfenced(); // the drain knows of the others
    }
    if (fenced)
      std::memcpy(&copies.emplace_back(), &fence, sizeof(fence));
    writer(copies.data(), copies.size());
    return;
  } catch (const std::exception &e) {
    // Only what comes before the loop can fail here; rewritePacket() handles its own failures. Nothing has been written
    // yet.
    tool->findings.error(std::string("packets run unchecked: ") + e.what());
  }
  writer(packets, count);
}

/// In front of the program's error callback, which often ends the process: saves what has been found so far.
void onQueueError(hsa_status_t status, hsa_queue_t *queue, void *data) {
  Tool *tool = Tool::current();
  auto *state = static_cast<QueueState *>(data);
  if (status != HSA_STATUS_SUCCESS)
    tool->drain.salvage(state->number);
  if (state->errorCallback)
    state->errorCallback(status, queue, state->errorData);
}

hsa_status_t queueCreate(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                         void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data, uint32_t privateSegmentSize,
                         uint32_t groupSegmentSize, hsa_queue_t **queue) {
  Tool &tool = *Tool::current();
  const Api &api = tool.api;
  auto plain = [&] {
    return api.core.hsa_queue_create_fn(agent, size, type, callback, data, privateSegmentSize, groupSegmentSize, queue);
  };
  if (!tool.active() || !queue)
    return plain();
  QueueState *state = tool.queues->create(agent, type == HSA_QUEUE_TYPE_COOPERATIVE);
  state->errorCallback = callback;
  state->errorData = data;
  tool.windows.of(agent).addQueue(&state->fences);
  hsa_status_t status = api.amd.hsa_amd_queue_intercept_create_fn(agent, size, type, onQueueError, state,
                                                                  privateSegmentSize, groupSegmentSize, queue);
  if (status == HSA_STATUS_SUCCESS) {
    // Time stamps, as HIP asks for them on its queues; they are passed on to the program's signals.
    api.amd.hsa_amd_profiling_set_profiler_enabled_fn(*queue, 1);
    status = api.amd.hsa_amd_queue_intercept_register_fn(*queue, onPackets, state);
    if (status == HSA_STATUS_SUCCESS) {
      tool.queues->bind(*queue, state);
      return status;
    }
    api.core.hsa_queue_destroy_fn(*queue);
  }
  std::string why = api.statusText(status);
  status = plain();
  if (status == HSA_STATUS_SUCCESS) // otherwise the program sees the failure it would have seen without the tool
    tool.findings.error("a queue cannot be intercepted (" + why + "): its dispatches are not checked");
  return status;
}

hsa_status_t queueDestroy(hsa_queue_t *queue) {
  Tool &tool = *Tool::current();
  QueueState *state = tool.queues->unbind(queue);
  if (state)
    ReplayRange::instance().queueGoes(*state);
  if (state)
    tool.drain.waitIdle(state->number, kDestroyLimit);
  if (state)
    tool.windows.of(state->agent).removeQueue(&state->fences);
  hsa_status_t status = tool.api.core.hsa_queue_destroy_fn(queue);
  if (state && status == HSA_STATUS_SUCCESS) {
    tool.drain.abandon(state->number);
    tool.resources.forgetQueue(state->number);
  }
  return status;
}

template <class Visit> void forEachReplacement(Visit visit) {
  visit(&CoreApiTable::hsa_queue_create_fn, queueCreate);
  visit(&CoreApiTable::hsa_queue_destroy_fn, queueDestroy);
}

} // namespace

QueueState *QueueRegistry::create(hsa_agent_t agent, bool cooperative) {
  std::lock_guard lock(Mutex);
  All.push_back(std::make_unique<QueueState>());
  All.back()->number = All.size();
  All.back()->agent = agent;
  All.back()->cooperative = cooperative;
  return All.back().get();
}

void QueueRegistry::bind(hsa_queue_t *queue, QueueState *state) {
  std::lock_guard lock(Mutex);
  state->handle = queue;
  Bound[queue] = state;
}

QueueState *QueueRegistry::unbind(const hsa_queue_t *queue) {
  std::lock_guard lock(Mutex);
  auto it = Bound.find(queue);
  if (it == Bound.end())
    return nullptr;
  QueueState *state = it->second;
  Bound.erase(it);
  return state;
}

void installQueueInterceptors(CoreApiTable &core) {
  installWriteIndexInterceptors(core);
  forEachReplacement([&](auto member, auto *replacement) { core.*member = replacement; });
}

void removeQueueInterceptors(CoreApiTable &core, const CoreApiTable &original) {
  removeWriteIndexInterceptors(core, original);
  forEachReplacement([&](auto member, auto *replacement) {
    if (core.*member == replacement)
      core.*member = original.*member;
  });
}

} // namespace wavesan::hsa
