// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stream_races.h"

#include "race_builder.h"

#include <algorithm>
#include <dlfcn.h>

namespace wavesan::hsa {

namespace {

report::CommandSide::Kind kindOf(abi::CommandKind kind) {
  using To = report::CommandSide::Kind;
  switch (kind) {
  case abi::CommandKind::Kernel:
    return To::Kernel;
  case abi::CommandKind::Copy:
    return To::Copy;
  case abi::CommandKind::Set:
    return To::Set;
  case abi::CommandKind::Free:
    return To::Free;
  case abi::CommandKind::Allocation:
    return To::Allocation;
  case abi::CommandKind::Graph:
    return To::Graph;
  case abi::CommandKind::Host:
    return To::Host;
  case abi::CommandKind::HostFunction:
    return To::HostFunction;
  }
  return To::Kernel;
}

} // namespace

StreamDispatch::StreamDispatch(const abi::StreamCheck &check, uint64_t ticket, uint64_t kernel, uint64_t dispatch)
    : Check(check), Ticket(ticket), Kernel(kernel), Dispatch(dispatch) {
  take = taken;
}

void StreamDispatch::taken(abi::AccessSink *sink, const abi::DispatchAccesses *accesses) try {
  auto *self = static_cast<StreamDispatch *>(sink);
  self->Runs.insert(self->Runs.end(), accesses->runs, accesses->runs + accesses->runCount);
  self->Places.insert(self->Places.end(), accesses->places, accesses->places + accesses->placeCount);
  self->Lost += accesses->lost;
  self->Recorded = true;
} catch (const std::bad_alloc &) { // not recorded
}

void StreamDispatch::deliver() {
  if (Delivered)
    return;
  Delivered = true;
  const abi::DispatchAccesses accesses = {Runs.data(), Runs.size(), Places.data(), Places.size(), Lost};
  Check.deliver(Ticket, Kernel, Dispatch, Recorded ? &accesses : nullptr);
  Runs = {};
}

bool StreamRaces::connect() {
  using Entry = const abi::StreamCheck *();
  auto *entry = reinterpret_cast<Entry *>(dlsym(RTLD_DEFAULT, abi::kStreamCheckSymbol));
  const abi::StreamCheck *check = entry ? entry() : nullptr;
  if (!check || check->version != abi::kAbiVersion)
    return false;
  Check = check;
  const abi::StreamCheckTool tool = {
      this,
      [](void *self, const abi::StreamRace *race) {
        try {
          static_cast<StreamRaces *>(self)->report(*race);
        } catch (const std::bad_alloc &) {
        }
      },
      [](void *self, const char *kernel, void (*piece)(void *, uint32_t, uint32_t), void *to) {
        const auto found = static_cast<StreamRaces *>(self)->Loaded.findByName(kernel);
        if (!found || !found->twin)
          return false;
        for (const KernelArg &arg : found->twin->original.args)
          if (!arg.hidden())
            piece(to, arg.offset, arg.size);
        return true;
      },
      [](void *self) { static_cast<StreamRaces *>(self)->Memory.sawUntracked(); }};
  Check->attach(&tool);
  return true;
}

std::shared_ptr<StreamDispatch> StreamRaces::bind(const hsa_kernel_dispatch_packet_t &packet,
                                                  const std::shared_ptr<const Kernel> &kernel, uint64_t dispatch) {
  if (!Check)
    return nullptr;
  const uint32_t dimensions = packet.setup >> HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS & 3u;
  abi::DispatchShapeSeen shape = {{packet.grid_size_x, packet.grid_size_y, packet.grid_size_z},
                                  {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z}};
  for (uint32_t d = dimensions; d < 3; ++d)
    shape.grid[d] = shape.workgroup[d] = 1;
  const uint64_t tag = reinterpret_cast<uint64_t>(kernel.get());
  const uint64_t ticket =
      Check->bind(&shape, kernel ? kernel->name.c_str() : nullptr, packet.kernarg_address, tag, dispatch);
  if (!ticket)
    return nullptr;
  if (kernel) {
    std::lock_guard lock(Mutex);
    Kernels.insert(kernel);
  }
  return std::make_shared<StreamDispatch>(*Check, ticket, tag, dispatch);
}

void StreamRaces::report(const abi::StreamRace &found) {
  report::Race race;
  report::CommandPair &pair = race.commands.emplace();
  auto frames = [&](const abi::CallChain &chain) { return Lines.framesOf(chain.addresses, chain.count); };
  auto fill = [&](const abi::StreamCommand &from, report::CommandSide &side, report::Access &access) {
    side.kind = kindOf(from.kind);
    side.function = from.function;
    side.stream = from.stream;
    side.streamKind = from.kind == abi::CommandKind::Host ? ""
                      : from.defaultStream                ? "legacy_default"
                      : from.perThreadStream              ? "per_thread_default"
                                                          : "created";
    side.blocking = from.blocking;
    side.call = frames(from.call);
    side.streamMade = frames(from.streamMade);
    side.node = from.node;
    access.bits = from.bits;
    access.opcode = side.function;
    if (!from.kernel) {
      access.frames = from.kind == abi::CommandKind::HostFunction ? frames(from.access) : side.call;
      return;
    }
    const auto &kernel = *reinterpret_cast<const Kernel *>(from.kernel);
    side.kernel = kernel.display;
    side.dispatch = from.dispatch;
    if (kernel.object && kernel.object->instrumented() && from.site < kernel.object->sites().siteCount()) {
      access = siteAccess(kernel.object->sites(), from.site);
      access.bits = from.bits; // of a read-modify-write only one half may matter
    }
    if (race.kernel.empty()) {
      race.kernel = kernel.display;
      race.kernelMangled = kernel.name;
      race.dispatch = from.dispatch;
      race.waveSize = kernel.twin ? kernel.twin->twin.waveSize : 64;
    }
  };
  fill(found.current, pair.current, race.current);
  fill(found.previous, pair.previous, race.previous);
  pair.lateEvent = found.lateEvent;
  pair.lateRecord = frames(found.lateRecord);
  pair.earlyEvent = found.earlyEvent;
  pair.earlyRecord = frames(found.earlyRecord);
  pair.graphLaunch = frames(found.graphLaunch);
  pair.sameGraph = found.sameGraph;
  const bool host = found.current.kind == abi::CommandKind::Host;
  race.raceClass = host ? abi::RaceClass::HostRace : abi::RaceClass::StreamRace;
  race.space = abi::RaceSpace::Global;
  race.size = uint32_t(std::min<uint64_t>(found.bytes, UINT32_MAX));
  race.place = Memory.find(found.address, found.generation ? found.generation : UINT64_MAX);
  const bool currentWrites = found.current.bits & abi::kAccessWrite,
             previousWrites = found.previous.bits & abi::kAccessWrite;
  race.order = currentWrites && previousWrites ? report::Order::WriteAfterWrite
               : currentWrites                 ? report::Order::WriteAfterRead
                                               : report::Order::ReadAfterWrite;
  Found(std::move(race));
}

void StreamRaces::finish(report::Summary &summary) {
  if (!Check)
    return;
  abi::StreamCheckCounts c{};
  Check->finish(&c);
  Check->attach(nullptr);
  Check = nullptr;
  summary.commands += c.commands;
  summary.streams += c.streams;
  summary.hostAccesses += c.hostAccesses;
  summary.commandsUnordered += c.orderUnknown;
  summary.launchesUnbound += c.unboundLaunches;
  summary.dispatchesUnbound += c.unbound;
  summary.dispatchesNotRecorded += c.notRecorded;
  summary.copiesUnknown += c.rangesUnknown;
  summary.graphsPartly += c.graphCopies;
  summary.streamHistoryLost += c.lost;
  summary.atomicsOrder += c.atomicsOrder;
  summary.streamRepeats += c.repeats;
  summary.commandsUnfinished += c.unfinished;
  summary.hostFunctionsUnknown += c.hostFunctions;
}

} // namespace wavesan::hsa
