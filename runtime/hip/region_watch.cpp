// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The watch's commands as nodes of a region that is being recorded.
#include "stream_watch.h"

namespace wavesan::hip {

void StreamWatch::setRecorder(std::unique_ptr<RegionRecorder> recorder, std::function<void(RecordedRegion)> out) {
  Recorder = std::move(recorder);
  RegionOut = std::move(out);
}

template <class Change> void StreamWatch::changeRegions(Change change) noexcept {
  if (!Recorder)
    return;
  try {
    std::lock_guard lock(Mutex);
    change();
  } catch (...) {
    ++Failures;
  }
}

void StreamWatch::enterRegion(MarkerKind kind, uint32_t thread, const char *name) noexcept {
  changeRegions([&] { Recorder->enter(kind, thread, name ? name : ""); });
}

void StreamWatch::leaveRegion(MarkerKind kind, uint32_t thread) noexcept {
  changeRegions([&] { Recorder->leave(kind, thread); });
  if (Recorder)
    report(); // a region whose commands have all ended is complete
}

void StreamWatch::startRange(uint64_t range, const char *name) noexcept {
  changeRegions([&] { Recorder->start(range, name ? name : ""); });
}

void StreamWatch::stopRange(uint64_t range) noexcept {
  changeRegions([&] { Recorder->stop(range); });
  if (Recorder)
    report();
}

uint64_t StreamWatch::finishRegions() noexcept {
  std::vector<RecordedRegion> regions;
  uint64_t surplus = 0;
  changeRegions([&] {
    regions = Recorder->finish();
    surplus = Recorder->surplus();
  });
  try {
    for (RecordedRegion &region : regions)
      RegionOut(std::move(region));
  } catch (...) {
    ++Failures;
  }
  return surplus;
}

void StreamWatch::addToRegion(const WatchedCall &call, const CallRecord &record, const CallArguments &arguments,
                              const streams::Command &command, const CommandRanges &ranges) {
  const CallInfo &info = infoOf(record.id);
  streams::GraphNode node;
  node.function = node.kind = info.name;
  node.name = info.name;
  node.touchedKnown = ranges.complete;
  uint64_t dispatches = 0;
  switch (info.category) {
  case Category::Launch: {
    const LaunchArguments launch = launchArgumentsOf(record.id, arguments);
    std::copy(launch.shape.grid, launch.shape.grid + 3, node.grid);
    std::copy(launch.shape.workgroup, launch.shape.workgroup + 3, node.workgroup);
    node.kind = "kernel";
    node.name = streams::displayName(Graphs.kernelName(arguments.pointers[0]));
    node.groupBytes = launch.groupBytes;
    dispatches = 1;
    break;
  }
  case Category::Graph:
    node.kind = "graph";
    node.touchedKnown = call.graph && call.graph->graph().order && call.graph->graph().rangesComplete;
    dispatches = call.graph ? call.graph->graph().kernelNodes : 0;
    break;
  case Category::Copy:
    node.kind = "copy";
    break;
  case Category::Set:
    node.kind = "fill";
    break;
  case Category::Allocate:
    node.kind = "allocation";
    break;
  case Category::Free:
    node.kind = "free";
    break;
  case Category::HostFunction:
    node.kind = "host";
    break;
  default: // what events and values order is in the edges
    if (info.action == Action::Command)
      Recorder->skip(info.name);
    return;
  }
  uint64_t read = 0, written = 0;
  for (const streams::Range &range : ranges.ranges) {
    const bool writes = range.bits & abi::kAccessWrite;
    const void *&side = writes ? node.to : node.from;
    if (!side)
      side = reinterpret_cast<const void *>(range.begin);
    (writes ? written : read) += range.end - range.begin;
    if (range.begin != range.end)
      node.touched.push_back({range.begin, range.end, range.bits});
  }
  if (info.category == Category::Graph)
    node.to = node.from = nullptr;
  else
    node.bytes = std::max(read, written);
  Recorder->add(command.order, Order.floor(), std::move(node), call.launch, dispatches);
}

} // namespace wavesan::hip
