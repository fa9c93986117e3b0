// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "packet_rewriter.h"

#include "access_trace.h"
#include "shadow_plan.h"
#include "tool.h"

#include "wavesan/abi/option_units.h"

#include <algorithm>
#include <cstring>

namespace wavesan::hsa {

namespace {

/// The twin reads a context that the host has just written into reused memory, and the host reads the race table
/// after the completion signal. HIP omits the fences between dispatches of one stream, so both are raised to system
/// scope. Stronger fences change no result of a correct program; barrier bit and type stay.
uint16_t withSystemFences(uint16_t header) {
  constexpr unsigned kAcquire = HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE,
                     kRelease = HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  return uint16_t(header | HSA_FENCE_SCOPE_SYSTEM << kAcquire | HSA_FENCE_SCOPE_SYSTEM << kRelease);
}
static_assert(HSA_FENCE_SCOPE_SYSTEM == 2 && HSA_FENCE_SCOPE_AGENT == 1);

DispatchShape shapeOf(const hsa_kernel_dispatch_packet_t &packet) {
  DispatchShape shape;
  shape.dimensions = packet.setup >> HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS & 3u;
  const uint32_t grid[3] = {packet.grid_size_x, packet.grid_size_y, packet.grid_size_z};
  const uint32_t group[3] = {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z};
  for (uint32_t d = 0; d < 3; ++d) {
    shape.grid[d] = d < shape.dimensions ? grid[d] : 1;
    shape.workgroup[d] = d < shape.dimensions ? group[d] : 1;
  }
  return shape;
}

/// Empty when the packet has been rewritten, else why not.
std::string rewriteForTwin(Tool &tool, const QueueState &queue, const std::shared_ptr<const Kernel> &kernel,
                           uint64_t dispatch, std::shared_ptr<StreamDispatch> stream, const PassOptions &pass,
                           hsa_kernel_dispatch_packet_t &packet, hsa_barrier_and_packet_t &behind) {
  std::string error;
  std::shared_ptr<const AgentInfo> agent = tool.agents.find(queue.agent, error);
  if (!agent)
    return error;
  const TwinInfo &info = *kernel->twin;
  const KernargPlan &kernarg = *info.kernarg;
  if (kernarg.sourceBytes() != 0 && !packet.kernarg_address)
    return "the packet has no kernel arguments";

  DispatchShape shape = shapeOf(packet);
  ShadowRequest request = shadowRequest(queue, *kernel, *agent, packet);
  const uint64_t budget =
      tool.options.shadow_budget_mb ? abi::bytesOfMebibytes(tool.options.shadow_budget_mb) : agent->freeBytes / 4;
  request.budgetBytes = budget;
  request.ordersThroughLds = info.ordersThroughLds && (!tool.cpuAgent || tool.options.hooks == "device");
  ShadowPlan plan = planShadow(request);
  if (!plan.problem.empty())
    return plan.problem;
  shape.dynamicLdsBytes = plan.dynamicBytes;

  PendingDispatch pending;
  pending.kernel = kernel;
  pending.dispatch = dispatch;
  pending.queue = queue.number;
  pending.quiet = pass.quiet;
  pending.part = pass.part;
  pending.programSignal = packet.completion_signal;
  const uint32_t kernargBytes = std::max(kernarg.bytes(), kernel->twinKernargBytes);
  if (!tool.resources.take(*agent, plan, kernargBytes, budget, pending.memory, error))
    return error;

  abi::DispatchContext &context = *pending.memory.context;
  context.dispatchId = dispatch;
  context.accessSink = stream ? stream->sink() : 0;
  if (pass.trace)
    context.accessSink = pass.trace->sink(context.accessSink);
  pending.stream = std::move(stream);
  context.granuleLog2 = info.granuleLog2;
  context.waveSize = info.twin.waveSize;
  context.flags = (tool.options.wave_order == "language" ? abi::kContextLanguageOrder : 0u) |
                  (info.countsLdsWaits ? abi::kContextCountsLdsWaits : 0u) |
                  (plan.cellsInLds ? abi::kContextCellsInLds : 0u);
  context.shadowBudget = budget;
  std::copy_n(shape.grid, 3, context.gridSize);
  std::copy_n(shape.workgroup, 3, context.workgroupSize);
  if (!tool.cpuAgent || tool.options.hooks == "device")
    tool.resources.addGlobal(*agent, queue.number, tool.memory.liveBytes(), budget, pass.window, pending.memory);
  if (pass.delays) {
    *pending.memory.delays = *pass.delays;
    context.delays = reinterpret_cast<uint64_t>(pending.memory.delays);
    pending.delays = pass.delays;
  }
  context.touchMap = pass.touchMap;
  auto *block = static_cast<uint8_t *>(pending.memory.kernarg.address);
  std::memset(block, 0, kernargBytes);
  kernarg.fill(static_cast<const uint8_t *>(packet.kernarg_address), block, reinterpret_cast<uint64_t>(&context),
               shape);

  // The drain must know the dispatch before the device does.
  if (!tool.drain.submit(pending)) {
    tool.resources.give(pending.memory);
    return "too many checked dispatches are pending, or the system gives no thread";
  }
  packet.header = withSystemFences(packet.header);
  packet.kernel_object = kernel->twinObject;
  packet.kernarg_address = block;
  packet.group_segment_size = plan.groupBytes;
  // The program may have asked for more scratch than the kernel's fixed size (recursion, alloca): keep that surplus.
  uint32_t surplus = packet.private_segment_size > kernel->originalPrivateBytes
                         ? packet.private_segment_size - kernel->originalPrivateBytes
                         : 0;
  packet.private_segment_size = std::max(packet.private_segment_size, kernel->twinPrivateBytes + surplus);
  packet.completion_signal = pending.memory.signal;
  // Whatever the program puts behind the dispatch, a barrier that it waits for included, happens after the results are
  // safe: the program may end right then, by any means.
  behind = {};
  behind.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE;
  behind.dep_signal[0] = pending.memory.drained;
  behind.completion_signal = pending.memory.passed;
  if (tool.options.verbosity >= 1)
    tool.findings.message("dispatch " + std::to_string(dispatch) + ": " + kernel->display + ", group segment " +
                          std::to_string(plan.groupBytes) + " bytes, shadow " +
                          (plan.slotCount ? std::to_string(plan.slotCount) + " slots of " +
                                                std::to_string(plan.slotBytes) + " bytes in global memory"
                                          : std::string("in LDS")));
  return {};
}

} // namespace

ShadowRequest shadowRequest(const QueueState &queue, const Kernel &kernel, const AgentInfo &agent,
                            const hsa_kernel_dispatch_packet_t &packet) {
  const DispatchShape shape = shapeOf(packet);
  ShadowRequest request;
  request.originalGroupBytes = kernel.originalGroupBytes;
  request.twinGroupBytes = kernel.twinGroupBytes;
  request.packetGroupBytes = packet.group_segment_size;
  request.granuleLog2 = kernel.twin->granuleLog2;
  request.waveSize = kernel.twin->twin.waveSize;
  std::copy_n(shape.grid, 3, request.grid);
  std::copy_n(shape.workgroup, 3, request.workgroup);
  request.agentLdsBytes = agent.ldsBytes;
  request.computeUnits = agent.computeUnits;
  request.wavesPerComputeUnit = agent.wavesPerComputeUnit;
  request.cooperative = queue.cooperative;
  return request;
}

bool rewritePacket(Tool &tool, const QueueState &queue, hsa_kernel_dispatch_packet_t &packet,
                   hsa_barrier_and_packet_t &behind, uint64_t dispatch, const PassOptions &pass) try {
  std::shared_ptr<const Kernel> kernel = tool.kernels.find(packet.kernel_object);
  if (kernel && kernel->internal)
    return false;
  const std::string name = kernel ? kernel->display : "of unknown name";
  if (tool.forkedAway()) {
    tool.sayForkedAway();
    return false;
  }
  if (!tool.active()) {
    tool.findings.lateDispatch(name);
    return false;
  }
  if (pass.counts)
    tool.findings.dispatchSeen();
  if (dispatch == 0)
    dispatch = tool.nextDispatchNumber();
  std::shared_ptr<StreamDispatch> stream;
  if (pass.stream)
    stream = *pass.stream;
  else if (!pass.quiet)
    stream = tool.streams.bind(packet, kernel, dispatch);
  if (kernel && kernel->filtered) {
    if (pass.counts)
      tool.findings.unchecked(name, kFilteredReason);
    return false;
  }
  if (!kernel || (!kernel->twin && kernel->problem.empty())) {
    if (pass.counts)
      tool.findings.noTwin(name);
    return false;
  }
  std::string problem = kernel->problem;
  if (problem.empty())
    problem = rewriteForTwin(tool, queue, kernel, dispatch, std::move(stream), pass, packet, behind);
  if (!problem.empty() && pass.counts)
    tool.findings.unchecked(name, problem);
  return problem.empty();
} catch (const std::exception &e) {
  // Raised before the packet was changed: the last steps of rewriteForTwin() only copy values.
  tool.findings.error(std::string("a dispatch runs unchecked: ") + e.what());
  return false;
}

} // namespace wavesan::hsa
