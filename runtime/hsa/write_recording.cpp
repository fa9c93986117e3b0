// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "write_recording.h"

#include <algorithm>

namespace wavesan::hsa {

WriteRecording::~WriteRecording() { stop(); }

std::atomic<uint8_t> *WriteRecording::add(uint64_t begin, uint64_t bytes, uint8_t *copy) {
  const uint64_t chunks = (bytes + Record::kChunk - 1) / Record::kChunk;
  std::atomic<uint8_t> *states = States.emplace_back(std::make_unique<std::atomic<uint8_t>[]>(chunks)).get();
  Regions.push_back({begin, bytes, copy, states});
  return states;
}

void WriteRecording::start() {
  What.regions = Regions.data();
  What.count = Regions.size();
  Agent.addWriteRecord(&What);
  Started = true;
}

void WriteRecording::stop() {
  if (Started)
    Agent.removeWriteRecord(&What);
  Started = false;
}

std::vector<bool> reachedByOneAddress(const std::vector<MemoryMap::LiveRange> &ranges,
                                      const std::vector<MemoryMap::LiveRange> &live) {
  struct Span {
    uint64_t begin, end;
    bool shared;
  };
  std::vector<Span> spans;
  for (const MemoryMap::LiveRange &range : live) {
    const bool registered = range.kind == MemoryMap::Kind::RegisteredHost;
    spans.push_back({range.begin, range.begin + range.bytes, registered});
    if (registered)
      spans.push_back({range.host, range.host + range.bytes, true});
  }
  std::sort(spans.begin(), spans.end(), [](const Span &a, const Span &b) { return a.begin < b.begin; });
  // Of those that begin in front of a span the one that reaches furthest: any other that reaches into it shares memory
  // with that one, and has been found.
  Span *furthest = nullptr;
  for (Span &span : spans) {
    if (furthest && span.begin < furthest->end)
      span.shared = furthest->shared = true;
    if (!furthest || span.end > furthest->end)
      furthest = &span;
  }
  std::vector<bool> alone;
  for (const MemoryMap::LiveRange &range : ranges) {
    const auto at = std::lower_bound(spans.begin(), spans.end(), range.begin,
                                     [](const Span &span, uint64_t begin) { return span.begin < begin; });
    alone.push_back(range.kind != MemoryMap::Kind::RegisteredHost && at != spans.end() && at->begin == range.begin &&
                    at->end == range.begin + range.bytes && !at->shared);
  }
  return alone;
}

} // namespace wavesan::hsa
