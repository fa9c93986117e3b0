// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region_recorder.h"

#include "sync_places.h"

#include <algorithm>

namespace wavesan::hip {

using streams::GraphNode;
using streams::Submitted;

RegionRecorder::RegionRecorder(std::string region, uint64_t maxRegions, size_t maxBytes, size_t maxNodes)
    : Wanted(std::move(region)), MaxRegions(maxRegions), MaxBytes(maxBytes), MaxNodes(maxNodes) {
  if (Wanted == kAll)
    begins(kAll);
}

/// Whether it is a region that is wanted. Then it has begun, unless there were enough.
bool RegionRecorder::begins(const std::string &name) {
  if (Wanted == kFirst ? Regions != 0 : Wanted != name)
    return false;
  if (++Depth > 1)
    return true;
  if (MaxRegions && Regions >= MaxRegions) {
    ++Surplus;
    return true;
  }
  Current = std::make_shared<Region>();
  Current->name = name;
  Current->number = ++Regions;
  return true;
}

void RegionRecorder::ends() {
  if (--Depth != 0 || !Current)
    return;
  Ended.push_back(std::move(Current));
  Current = nullptr;
}

void RegionRecorder::enter(MarkerKind kind, uint32_t thread, const std::string &name) {
  if (Wanted != kAll)
    Entered[{kind, thread}].push_back(begins(name));
}

void RegionRecorder::leave(MarkerKind kind, uint32_t thread) {
  auto found = Entered.find({kind, thread});
  if (found == Entered.end())
    return;
  const bool counts = found->second.back();
  found->second.pop_back();
  if (found->second.empty())
    Entered.erase(found);
  if (counts)
    ends();
}

void RegionRecorder::start(uint64_t range, const std::string &name) {
  if (Wanted != kAll)
    Ranges[range] = begins(name);
}

void RegionRecorder::stop(uint64_t range) {
  auto found = Ranges.find(range);
  if (found == Ranges.end())
    return;
  const bool counts = found->second;
  Ranges.erase(found);
  if (counts)
    ends();
}

void RegionRecorder::beginLaunch(Ticket launch) { Launches[launch].region = Current; }

void RegionRecorder::bound(Ticket launch) {
  if (auto found = Launches.find(launch); found != Launches.end())
    ++found->second.bound;
}

void RegionRecorder::delivered(Ticket launch, const abi::DispatchAccesses *accesses) {
  auto found = Launches.find(launch);
  if (found == Launches.end())
    return;
  Launch &l = found->second;
  ++l.delivered;
  l.unknown = l.unknown || !accesses || accesses->lost != 0;
  if (accesses) {
    std::vector<streams::TouchedBytes> more = l.touched;
    streams::addTouched(more, accesses->runs, accesses->runCount);
    const size_t bytes = more.size() * sizeof more[0] + accesses->placeCount * sizeof(abi::SyncPlace),
                 before = l.touched.size() * sizeof more[0];
    if (Bytes + bytes - before > MaxBytes) {
      l.unknown = true;
    } else {
      Bytes += bytes - before;
      l.touched = std::move(more);
      l.places.insert(l.places.end(), accesses->places, accesses->places + accesses->placeCount);
    }
  }
  complete(launch, l);
}

/// If all of it is there.
void RegionRecorder::complete(Ticket launch, Launch &l) {
  if (!l.submitted || l.delivered < l.bound)
    return;
  GraphNode &node = l.region->commands[l.command].node;
  node.touchedKnown = node.touchedKnown && !l.unknown && l.bound >= l.expected;
  node.seenInRun = true;
  node.touched.insert(node.touched.end(), l.touched.begin(), l.touched.end());
  node.places = std::move(l.places);
  streams::sortByAddress(node.places);
  --l.region->open;
  Launches.erase(launch);
}

void RegionRecorder::add(const Submitted &order, uint64_t floor, GraphNode node, Ticket launch, uint64_t dispatches) {
  auto found = Launches.find(launch);
  if (Current->commands.size() >= MaxNodes) {
    skip("commands behind the first " + std::to_string(MaxNodes));
    if (found != Launches.end())
      Launches.erase(found);
    return;
  }
  node.orderKnown = !order.unknown();
  if (found == Launches.end())
    node.touchedKnown = node.touchedKnown && dispatches == 0;
  Current->commands.push_back({order, floor, std::move(node)});
  if (found == Launches.end())
    return;
  Launch &l = found->second;
  l.region = Current; // it may have begun during the call
  l.command = Current->commands.size() - 1;
  l.submitted = true;
  l.expected = dispatches;
  ++l.region->open;
  complete(launch, l);
}

void RegionRecorder::skip(const std::string &what) { ++Current->skipped[what]; }

RecordedRegion RegionRecorder::finished(Region &region, bool openEnd) {
  RecordedRegion out;
  out.name = region.name;
  out.number = region.number;
  out.openEnd = openEnd;
  out.skipped = std::move(region.skipped);
  std::map<streams::StreamId, std::vector<size_t>> byStream; ///< commands, in order
  std::map<streams::StreamId, uint64_t> numbers;
  for (size_t n = 0; n < region.commands.size(); ++n) {
    Recorded &own = region.commands[n];
    std::vector<size_t> before; ///< of each stream the last one that it follows
    for (const auto &[stream, commands] : byStream) {
      const uint64_t known = stream == own.order.at.stream ? own.order.at.position
                             : own.order.before            ? own.order.before->lastOf(stream)
                                                           : 0;
      const auto end = std::partition_point(commands.begin(), commands.end(), [&](size_t c) {
        const Submitted &earlier = region.commands[c].order;
        return earlier.number <= own.floor || earlier.at.position <= known;
      });
      if (end != commands.begin())
        before.push_back(*std::prev(end));
    }
    auto follows = [&](const Recorded &later, const Submitted &earlier) {
      return earlier.number <= later.floor || (later.order.before && later.order.before->knows(earlier.at));
    };
    for (const size_t b : before) {
      const Submitted &earlier = region.commands[b].order;
      const bool implied = std::any_of(before.begin(), before.end(), [&](size_t other) {
        return other != b && follows(region.commands[other], earlier);
      });
      if (!implied)
        own.node.dependencies.push_back(b + 1);
    }
    std::sort(own.node.dependencies.begin(), own.node.dependencies.end());
    byStream[own.order.at.stream].push_back(n);
    own.node.id = n + 1;
    own.node.stream = numbers.try_emplace(own.order.at.stream, numbers.size()).first->second;
    out.nodes.push_back(std::move(own.node));
  }
  out.streams = numbers.size();
  return out;
}

std::vector<RecordedRegion> RegionRecorder::take() {
  std::vector<RecordedRegion> out;
  while (!Ended.empty() && Ended.front()->open == 0) {
    out.push_back(finished(*Ended.front(), false));
    Ended.erase(Ended.begin());
  }
  if (Ended.empty() && !Current)
    Bytes = 0;
  return out;
}

std::vector<RecordedRegion> RegionRecorder::finish() {
  std::vector<RecordedRegion> out;
  for (const RegionPtr &region : Ended)
    out.push_back(finished(*region, false));
  if (Current)
    out.push_back(finished(*Current, Wanted != kAll));
  Ended.clear();
  Current = nullptr;
  Launches.clear();
  return out;
}

} // namespace wavesan::hip
