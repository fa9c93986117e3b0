// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replay_dispatch.h"

#include "replay_packet.h"
#include "replay_service.h"
#include "tool.h"
#include "watched_dispatch.h"

#include <algorithm>
#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

namespace wavesan::hsa {

namespace {

wavesan_replay_dispatch_info_t infoOf(const QueueState &queue, const Kernel &kernel,
                                      const hsa_kernel_dispatch_packet_t &packet, uint64_t dispatch) {
  static std::atomic<uint64_t> correlations{0};
  wavesan_replay_dispatch_info_t info{};
  info.size = sizeof(info);
  info.dispatch_id = dispatch;
  info.queue_id = queue.number;
  info.agent = queue.agent.handle;
  info.thread_id = uint64_t(syscall(SYS_gettid));
  info.correlation_id = correlations.fetch_add(1, std::memory_order_relaxed) + 1;
  info.kernel_name = kernel.name.c_str();
  const uint32_t grid[3] = {packet.grid_size_x, packet.grid_size_y, packet.grid_size_z};
  const uint32_t group[3] = {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z};
  std::copy_n(grid, 3, info.grid_size);
  std::copy_n(group, 3, info.workgroup_size);
  info.group_segment_bytes = packet.group_segment_size;
  info.private_segment_bytes = packet.private_segment_size;
  return info;
}

} // namespace

bool replayDispatch(Tool &tool, QueueState &queue, const hsa_kernel_dispatch_packet_t &packet, uint64_t &dispatch,
                    const PacketWriter &write) {
  ReplayService &service = ReplayService::instance();
  const std::optional<wavesan_replay_subscription_t> subscription = service.subscription();
  if ((!subscription && !tool.watchesDispatches()) || insideReplay() || !tool.active() || tool.forkedAway())
    return false;
  const std::shared_ptr<const Kernel> kernel = tool.kernels.find(packet.kernel_object);
  if (!kernel || kernel->internal)
    return false;
  if (!subscription && !wantsWatching(tool, *kernel))
    return false;
  if (dispatch == 0)
    dispatch = tool.nextDispatchNumber();
  if (!subscription)
    return watchDispatch(tool, queue, kernel, packet, dispatch, write);
  const wavesan_replay_dispatch_info_t info = infoOf(queue, *kernel, packet, dispatch);
  PacketHost host(tool, queue, kernel, packet, dispatch, write);
  const ReplayLimits limits{tool.options.replay_max_passes, std::chrono::seconds(tool.options.replay_max_seconds)};
  const ReplayOutcome outcome = runReplay(*subscription, info, service.activeContexts(), limits, host);
  if (tool.options.verbosity >= 1)
    tool.findings.message("kernel replay: dispatch " + std::to_string(dispatch) + ", " + kernel->display + ": " +
                          (outcome.declined ? std::string("runs once, ") + outcome.declined
                                            : std::to_string(outcome.passes) + " passes"));
  if (outcome.declined)
    return false;
  host.completeForProgram();
  return true;
}

} // namespace wavesan::hsa
