// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The streams of a process.
#include "stream_table.h"

namespace wavesan::hip {

const char *name(StreamKind kind) {
  switch (kind) {
  case StreamKind::Created:
    return "created";
  case StreamKind::LegacyDefault:
    return "legacy_default";
  case StreamKind::PerThreadDefault:
    return "per_thread_default";
  case StreamKind::BeforeAttach:
    return "before_attach";
  }
  return "?";
}

StreamKey streamKey(Stream handle, bool zeroIsPerThread, int device, uint32_t thread) {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number == kPerThreadStreamHandle || (number == 0 && zeroIsPerThread))
    return {StreamKind::PerThreadDefault, uint64_t(device), thread};
  if (number == kLegacyStreamHandle || number == 0)
    return {StreamKind::LegacyDefault, uint64_t(device), 0};
  return {StreamKind::Created, number, 0};
}

StreamTable::Use StreamTable::use(const StreamKey &key, bool command) {
  Use use;
  std::lock_guard lock(Mutex);
  auto found = Streams.find(key);
  if (found == Streams.end()) {
    if (Streams.size() >= MaxStreams) {
      ++LostCount;
      return use;
    }
    Entry entry;
    const bool isDefault = key.kind != StreamKind::Created;
    entry.info = {NextId + 1, isDefault ? key.kind : StreamKind::BeforeAttach,
                  isDefault ? int(key.handle) : kUnknownDevice, true, key.thread};
    found = Streams.emplace(key, entry).first;
    ++NextId;
    use.fresh = entry.info;
  }
  Entry &entry = found->second;
  entry.position += command;
  use.id = entry.info.id;
  use.clock = {entry.info.id, entry.position};
  use.capture = entry.capture;
  use.last = entry.last;
  return use;
}

StreamInfo StreamTable::create(Stream stream, int device, bool blocking) {
  const StreamKey key = {StreamKind::Created, reinterpret_cast<uintptr_t>(stream), 0};
  std::lock_guard lock(Mutex);
  Streams.erase(key); // its end was not seen
  Entry entry;
  entry.info = {NextId + 1, StreamKind::Created, device, blocking, 0};
  if (Streams.size() >= MaxStreams) {
    ++LostCount;
    entry.info.id = 0;
    return entry.info;
  }
  Streams.emplace(key, entry);
  ++NextId;
  return entry.info;
}

void StreamTable::setLast(const StreamKey &key, const Producer &producer) {
  std::lock_guard lock(Mutex);
  auto found = Streams.find(key);
  // Calls of several threads may end in another order than they began in.
  if (found != Streams.end() && found->second.info.id == producer.clock.stream &&
      (!found->second.last || found->second.last->clock.position < producer.clock.position))
    found->second.last = producer;
}

StreamTable::Forgotten StreamTable::take(const StreamKey &key) {
  Forgotten forgotten;
  if (key.kind != StreamKind::Created)
    return forgotten; // HIP refuses to destroy those
  std::lock_guard lock(Mutex);
  forgotten.Node = Streams.extract(key);
  return forgotten;
}

void StreamTable::restore(Forgotten &&forgotten) {
  if (!forgotten.Node)
    return;
  std::lock_guard lock(Mutex);
  Streams.insert(std::move(forgotten.Node));
}

void StreamTable::forgetThread(uint32_t thread) {
  std::lock_guard lock(Mutex);
  std::erase_if(Streams, [&](const auto &entry) {
    return entry.first.kind == StreamKind::PerThreadDefault && entry.first.thread == thread;
  });
}

void StreamTable::beginCapture(const StreamKey &key) {
  std::lock_guard lock(Mutex);
  auto found = Streams.find(key);
  if (found == Streams.end())
    return;
  Captures.insert(NextCapture + 1);
  found->second.capture = ++NextCapture;
}

void StreamTable::joinCapture(const StreamKey &key, uint64_t capture) {
  std::lock_guard lock(Mutex);
  auto found = Streams.find(key);
  if (found != Streams.end() && Captures.contains(capture))
    found->second.capture = capture;
}

void StreamTable::endCapture(const StreamKey &key) {
  std::lock_guard lock(Mutex);
  auto found = Streams.find(key);
  if (found == Streams.end() || found->second.capture == 0)
    return;
  const uint64_t capture = found->second.capture;
  Captures.erase(capture);
  for (auto &[_, entry] : Streams)
    if (entry.capture == capture)
      entry.capture = 0;
}

void StreamTable::clearAll() {
  std::lock_guard lock(Mutex);
  Streams.clear();
  Captures.clear();
}

uint64_t StreamTable::lost() const {
  std::lock_guard lock(Mutex);
  return LostCount;
}

size_t StreamTable::streamCount() const {
  std::lock_guard lock(Mutex);
  return Streams.size();
}

} // namespace wavesan::hip
