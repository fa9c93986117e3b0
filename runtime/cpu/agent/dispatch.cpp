// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dispatch.h"

#include "agents.h"
#include "blit_kernels.h"
#include "executable.h"
#include "fault_handler.h"
#include "host_lock.h"
#include "memory.h"
#include "native_hooks_link.h"
#include "process.h"
#include "replay_interface.h"

#include "../order/write_notes.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <thread>

namespace wavesan::agent {
namespace {

DispatchResult failure(hsa_status_t status, const std::string &kernel, const std::string &what) {
  return {status, "kernel " + kernel + ": " + what};
}

/// What hardware would not start.
DispatchResult checkPacket(const hsa_kernel_dispatch_packet_t &p, const Symbol &kernel) {
  const std::string name(kernel.kernelName());
  const unsigned dimensions = (p.setup >> HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS) & 3;
  const uint64_t workItems = uint64_t(p.workgroup_size_x) * p.workgroup_size_y * p.workgroup_size_z;
  if (dimensions == 0 || p.grid_size_x == 0 || p.grid_size_y == 0 || p.grid_size_z == 0)
    return failure(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, name, "the grid is empty");
  if (workItems == 0 || workItems > kMaxWorkgroupSize)
    return failure(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, name,
                   "workgroups of " + std::to_string(workItems) + " work-items; 1 to 1024 are possible");
  if (p.group_segment_size > kGroupSegmentBytes)
    return failure(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, name,
                   std::to_string(p.group_segment_size) + " bytes of LDS per workgroup; the GPU has 65536");
  if (p.group_segment_size < kernel.descriptor.groupSegmentFixedSize)
    return failure(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, name,
                   "the packet gives it " + std::to_string(p.group_segment_size) + " bytes of LDS; it needs " +
                       std::to_string(kernel.descriptor.groupSegmentFixedSize));
  if (kernel.descriptor.kernargSize != 0 && !p.kernarg_address)
    return failure(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, name, "the packet has no kernel arguments");
  return {};
}

hsa_status_t statusOf(cpu::Outcome::Kind kind) {
  switch (kind) {
  case cpu::Outcome::Success:
    return HSA_STATUS_SUCCESS;
  case cpu::Outcome::UnsupportedInstruction:
    return hsa_status_t(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
  case cpu::Outcome::MemoryFault:
    return hsa_status_t(HSA_STATUS_ERROR_MEMORY_FAULT);
  case cpu::Outcome::InvalidLaunch:
    return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
  case cpu::Outcome::Trap:
  case cpu::Outcome::Deadlock:
  case cpu::Outcome::Cancelled:
    break;
  }
  return HSA_STATUS_ERROR_EXCEPTION;
}

/// Memory that a dispatch may try things in, for as long as it runs: the program promises to leave it alone, and it is
/// all there.
bool isForTrials(uint64_t address, uint64_t bytes) {
  bool good = false;
  allocations().with(reinterpret_cast<const void *>(address), [&](const Allocation &a) {
    const auto begin = reinterpret_cast<uint64_t>(a.base);
    good = isGpu(a.agent) && a.globalFlags == HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED &&
           a.type == HSA_EXT_POINTER_TYPE_HSA && address >= begin && address + bytes <= begin + a.size;
  });
  return good;
}

DispatchResult runOnEngine(const hsa_kernel_dispatch_packet_t &packet, const KernelReference &kernel,
                           hsa_queue_t *queue, uint64_t dispatchId, const std::atomic<bool> &cancel) {
  const std::string name(kernel.symbol->kernelName());
  if (kernel.object->ir().empty())
    return {HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
            "kernel " + name + " carries no WaveSan IR: compile it with `wavesan cc`"};
  std::string error;
  cpu::Program *program = kernel.object->program(error);
  if (!program)
    return failure(HSA_STATUS_ERROR_INVALID_CODE_OBJECT, name, error);
  if (!program->hasKernel(name))
    return {HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
            "kernel " + name + " is missing in the WaveSan IR of its code object: compile it with `wavesan cc`"};
  if (!materializeLocks())
    return failure(HSA_STATUS_ERROR_OUT_OF_RESOURCES, name, "registered host memory cannot be mapped");
  const std::string_view linkageName = kernel.symbol->kernelName();
  cpu::Launch launch{
      .kernel = linkageName,
      .packet = &packet,
      .kernarg = static_cast<const uint8_t *>(packet.kernarg_address),
      .kernargBytes = kernel.symbol->descriptor.kernargSize,
      .grid = {packet.grid_size_x, packet.grid_size_y, packet.grid_size_z},
      .workgroup = {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z},
      .fixedLdsBytes = kernel.symbol->descriptor.groupSegmentFixedSize,
      .groupSegmentBytes = packet.group_segment_size,
      .seed = options().seed,
  };
  launch.queue = reinterpret_cast<uint64_t>(queue);
  launch.dispatchId = dispatchId;
  launch.hooks = nativeHooks();
  launch.cancel = &cancel;
  launch.threads = options().threads ? options().threads : std::max(std::thread::hardware_concurrency(), 1u);
  const std::string activity = "kernel " + name;
  launch.aroundThread = [&activity](const std::function<void()> &work) {
    FaultScope scope(activity.c_str());
    work();
  };
  launch.trialMemory = isForTrials;
  const cpu::WriteNotes notes;
  launch.notes = notes.wanted() ? &notes : nullptr;
  launch.stuckLimit = options().stuck_limit;
  launch.watchAfterMs = uint64_t(options().watchdog_seconds) * 1000;
  launch.standing = [](const std::string &text) {
    std::fprintf(stderr, "wavesan: %s\n  (option watchdog_seconds)\n", text.c_str());
  };
  cpu::ForcedOrder order{};
  if (const std::optional<abi::Schedule> schedule = currentSchedule()) {
    launch.seed = schedule->seed;
    launch.perturb = true;
    const auto side = [](const abi::Schedule::Side &from) {
      return cpu::ForcedOrder::Side{from.site, {from.workgroup[0], from.workgroup[1], from.workgroup[2]}, from.wave};
    };
    using Preference = cpu::ForcedOrder::Preference;
    order = {side(schedule->first), side(schedule->second),
             schedule->lds,         schedule->begin,
             schedule->bytes,       schedule->preferFirst ? Preference::First : Preference::Second};
    launch.forced = schedule->forced ? &order : nullptr;
  }
  cpu::Outcome outcome = program->run(launch);
  if (launch.forced && outcome.orderMade)
    noteOrderMade();
  return {statusOf(outcome.kind), std::move(outcome.message)};
}

} // namespace

DispatchResult runDispatch(const hsa_kernel_dispatch_packet_t &packet, hsa_queue_t *queue, uint64_t dispatchId,
                           const std::atomic<bool> &cancel) {
  const KernelReference kernel = findKernel(packet.kernel_object);
  if (!kernel.symbol)
    return {HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "a packet names a kernel that is not loaded"};
  if (DispatchResult bad = checkPacket(packet, *kernel.symbol); bad.status != HSA_STATUS_SUCCESS)
    return bad;
  if (options().verbosity >= 2)
    std::fprintf(stderr, "wavesan: CPU agent: dispatch %llu of %s, grid %u x %u x %u, workgroup %u x %u x %u, LDS %u\n",
                 static_cast<unsigned long long>(dispatchId), kernel.symbol->name.c_str(), packet.grid_size_x,
                 packet.grid_size_y, packet.grid_size_z, packet.workgroup_size_x, packet.workgroup_size_y,
                 packet.workgroup_size_z, packet.group_segment_size);
  const std::string activity = "kernel " + std::string(kernel.symbol->kernelName());
  FaultScope scope(activity.c_str());
  try {
    if (isHipRuntimeKernel(kernel.symbol->kernelName()) && kernel.object->ir().empty())
      return runBlit(packet, kernel, cancel);
    return runOnEngine(packet, kernel, queue, dispatchId, cancel);
  } catch (const std::exception &e) { // out of memory, at worst: said here, without any
    const std::string_view name = kernel.symbol->kernelName();
    std::fprintf(stderr, "wavesan: kernel %.*s: %s\n", int(name.size()), name.data(), e.what());
    return {HSA_STATUS_ERROR_OUT_OF_RESOURCES, {}};
  }
}

} // namespace wavesan::agent
