// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "watched_dispatch.h"

#include "replay_packet.h"
#include "tool.h"

#include "wavesan/abi/option_units.h"

#include <chrono>
#include <iterator>

namespace wavesan::hsa {

bool wantsWatching(const Tool &tool, const Kernel &kernel) {
  return tool.capsules.wants(kernel) || tool.confirmer.wants(kernel) || tool.further.wants(kernel);
}

bool watchDispatch(Tool &tool, QueueState &queue, const QueuedDispatch &queued, const PacketWriter &write) {
  const std::shared_ptr<const Kernel> &kernel = queued.kernel;
  const uint64_t dispatch = queued.number;
  const bool records = tool.capsules.wants(*kernel);
  bool confirms = tool.confirmer.wants(*kernel), further = tool.further.wants(*kernel);
  const auto declined = [&](const std::string &why) {
    if (records)
      tool.capsules.declined(tool.findings, *kernel, dispatch, why);
    if (confirms)
      tool.findings.notConfirmed(dispatch, why);
    if (further)
      tool.findings.noFurtherPasses(dispatch, why);
  };
  if (kernel->waitsForHost() && (confirms || further)) { // a second pass would wait for ever
    if (confirms)
      tool.findings.notConfirmed(dispatch, kDeclineHostCall);
    if (further)
      tool.findings.noFurtherPasses(dispatch, kDeclineHostCall);
    confirms = further = false;
    if (!records)
      return false;
  }
  std::vector<QueuedDispatch> one{queued};
  PacketHost host(tool, queue, one, write);
  if (records)
    host.saveEverything();
  MemoryStep step;
  const char *why = host.open(step);
  if (!why)
    why = host.save(step);
  if (why) {
    declined(why);
    return false;
  }
  std::optional<capsule::Capsule> capsule;
  if (records)
    capsule = tool.capsules.begin(tool, queue, *kernel, queued.packet, dispatch, host.memory());
  tool.findings.watch(dispatch, further);
  host.limitPass(abi::secondsOf(tool.options.replay_drain_seconds));
  const PassResult result = host.pass(0, 1u << WAVESAN_CONTEXT_RACE_CHECK);
  const uint64_t outside = further ? tool.findings.outsideBudget(dispatch) : 0;
  std::vector<DispatchRace> races = tool.findings.takeWatched(dispatch);
  if (host.overdue()) {
    declined(kDeclineOverdue);
    return true;
  }
  host.limitPass({});
  if (outside) {
    std::vector<DispatchRace> more = tool.further.run(tool, host, *kernel, dispatch);
    races.insert(races.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  if (result.contexts >> WAVESAN_CONTEXT_RACE_CHECK & 1) {
    if (capsule)
      tool.capsules.end(tool.findings, *kernel, std::move(*capsule), host.memory(), races);
    if (confirms)
      tool.confirmer.confirm(tool, host, *kernel, races, dispatch);
  } else {
    declined("no_twin");
  }
  host.completeForProgram();
  return true;
}

} // namespace wavesan::hsa
