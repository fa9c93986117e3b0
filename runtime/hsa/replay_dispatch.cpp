// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_dispatch.h"

#include "own_packets.h"
#include "replay_packet.h"
#include "replay_range.h"
#include "replay_service.h"
#include "tool.h"
#include "watched_dispatch.h"

#include "wavesan/abi/option_units.h"

#include <algorithm>
#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

namespace wavesan::hsa {

namespace {

wavesan_replay_dispatch_info_t infoOf(const QueueState &queue, const QueuedDispatch &dispatch) {
  const hsa_kernel_dispatch_packet_t &packet = dispatch.packet;
  static std::atomic<uint64_t> correlations{0};
  wavesan_replay_dispatch_info_t info{};
  info.size = sizeof(info);
  info.dispatch_id = dispatch.number;
  info.queue_id = queue.number;
  info.agent = queue.agent.handle;
  info.thread_id = uint64_t(syscall(SYS_gettid));
  info.correlation_id = correlations.fetch_add(1, std::memory_order_relaxed) + 1;
  info.kernel_name = dispatch.kernel ? dispatch.kernel->name.c_str() : "";
  const uint32_t grid[3] = {packet.grid_size_x, packet.grid_size_y, packet.grid_size_z};
  const uint32_t group[3] = {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z};
  std::copy_n(grid, 3, info.grid_size);
  std::copy_n(group, 3, info.workgroup_size);
  info.group_segment_bytes = packet.group_segment_size;
  info.private_segment_bytes = packet.private_segment_size;
  return info;
}

ReplayLimits limitsOf(const Tool &tool) {
  return {tool.options.replay_max_passes, abi::secondsOf(tool.options.replay_max_seconds)};
}

void say(Tool &tool, const std::string &what, const ReplayOutcome &outcome) {
  if (tool.options.verbosity >= 1)
    tool.findings.message("kernel replay: " + what + ": " +
                          (outcome.declined ? std::string("runs once, ") + outcome.declined
                                            : std::to_string(outcome.passes) + " passes"));
}

} // namespace

bool replayDispatch(Tool &tool, QueueState &queue, QueuedDispatch &dispatch, const PacketWriter &write) {
  ReplayService &service = ReplayService::instance();
  const std::optional<wavesan_replay_subscription_t> subscription = service.subscription();
  if ((!subscription && !tool.watchesDispatches()) || insideReplay() || !tool.active() || tool.forkedAway())
    return false;
  if (!dispatch.kernel)
    dispatch.kernel = tool.kernels.find(dispatch.packet.kernel_object);
  if (!dispatch.kernel || dispatch.kernel->internal)
    return false;
  if (!subscription && !wantsWatching(tool, *dispatch.kernel))
    return false;
  if (dispatch.number == 0)
    dispatch.number = tool.nextDispatchNumber();
  if (!subscription)
    return watchDispatch(tool, queue, dispatch, write);
  const wavesan_replay_dispatch_info_t info = infoOf(queue, dispatch);
  forgetOwnPackets();
  std::vector<QueuedDispatch> one{dispatch};
  PacketHost host(tool, queue, one, write);
  host.limitPass(abi::secondsOf(tool.options.replay_drain_seconds));
  const ReplayOutcome outcome = runReplay(*subscription, info, service.activeContexts(), limitsOf(tool), host);
  say(tool, "dispatch " + std::to_string(dispatch.number) + ", " + dispatch.kernel->display, outcome);
  if (outcome.declined)
    return false;
  if (!host.overdue())
    host.completeForProgram();
  return true;
}

bool replayRange(Tool &tool, QueueState &queue, std::vector<QueuedDispatch> &range, const PacketWriter &write) {
  ReplayService &service = ReplayService::instance();
  const std::optional<wavesan_replay_subscription_t> subscription = service.subscription();
  ReplayOutcome outcome;
  if (!subscription || insideReplay() || !tool.active() || tool.forkedAway()) {
    outcome.declined = kDeclineNoPassCount; // nobody asks for passes any more
    ReplayRange::instance().ran(outcome);
    return false;
  }
  wavesan_replay_dispatch_info_t info = infoOf(queue, range.front());
  info.kernel_name = "(range)";
  for (uint32_t axis = 0; axis < 3; ++axis)
    info.grid_size[axis] = info.workgroup_size[axis] = 0;
  info.group_segment_bytes = info.private_segment_bytes = 0;
  {
    forgetOwnPackets();
    PacketHost host(tool, queue, range, write);
    host.limitPass(abi::secondsOf(tool.options.replay_drain_seconds));
    outcome = runReplay(*subscription, info, service.activeContexts(), limitsOf(tool), host);
    say(tool, "range of " + std::to_string(range.size()) + " dispatches", outcome);
    if (!outcome.declined && !host.overdue())
      host.completeForProgram();
  }
  ReplayRange::instance().ran(outcome);
  return !outcome.declined;
}

} // namespace wavesan::hsa
