// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stream_order.h"

namespace wavesan::streams {

StreamOrder::Stream &StreamOrder::at(StreamId stream) { return Streams[stream]; }

void StreamOrder::addStream(StreamId stream, StreamType type, int device) {
  Stream &s = at(stream);
  s.type = type;
  s.device = device;
}

void StreamOrder::endStream(StreamId stream) {
  if (auto found = Streams.find(stream); found != Streams.end())
    found->second.ended = true;
}

Clock StreamOrder::joined(const Clock &a, const Clock &b) {
  if (!b || b->empty() || a == b)
    return a;
  if (!a || a->empty())
    return b;
  if (a->contains(*b))
    return a;
  if (b->contains(*a))
    return b;
  auto all = std::make_shared<KnownCommands>(*a);
  all->join(*b);
  return all;
}

Clock StreamOrder::after(const Submitted &command) {
  auto all = command.before ? std::make_shared<KnownCommands>(*command.before) : std::make_shared<KnownCommands>();
  all->add(command.at);
  return all;
}

Clock StreamOrder::contentsOf(StreamId id, const Stream &stream) {
  if (stream.position == 0)
    return stream.before;
  auto all = stream.before ? std::make_shared<KnownCommands>(*stream.before) : std::make_shared<KnownCommands>();
  all->add({id, stream.position});
  return all;
}

Submitted StreamOrder::submit(StreamId stream) {
  Stream &s = at(stream);
  if (s.type == StreamType::Unknown && !(s.before && s.before->unknown()))
    streamWaitsForUnknown(stream); // whether it waits for the default stream is not known
  if (s.hostSeen != HostVersion) {
    s.before = joined(s.before, Host);
    s.hostSeen = HostVersion;
  }
  if (s.type == StreamType::LegacyDefault || s.type == StreamType::Blocking) {
    for (auto &[id, other] : Streams) {
      const bool implicit = s.type == StreamType::LegacyDefault ? other.type == StreamType::Blocking
                                                                : other.type == StreamType::LegacyDefault;
      if (id == stream || !implicit || !sameDevice(s, other))
        continue;
      // Most often the other one holds nothing new.
      const bool known = other.position == 0 || (s.before && s.before->lastOf(id) == other.position);
      if (!known || (other.before && other.before->unknown()))
        s.before = joined(s.before, contentsOf(id, other));
    }
  }
  return {++Numbers, {stream, ++s.position}, s.before};
}

void StreamOrder::streamWaits(StreamId stream, const Clock &known) {
  Stream &s = at(stream);
  s.before = joined(s.before, known);
}

void StreamOrder::streamWaitsForUnknown(StreamId stream) {
  Stream &s = at(stream);
  auto more = s.before ? std::make_shared<KnownCommands>(*s.before) : std::make_shared<KnownCommands>();
  more->setUnknown();
  s.before = std::move(more);
}

Clock StreamOrder::contentsOfStream(StreamId stream) {
  const Stream &s = at(stream);
  Clock all = contentsOf(stream, s);
  if (s.type == StreamType::LegacyDefault) // waiting for it means waiting for those that it waits for
    for (const auto &[id, other] : Streams)
      if (other.type == StreamType::Blocking && sameDevice(s, other))
        all = joined(all, contentsOf(id, other));
  return all;
}

Clock StreamOrder::contentsOfDevice(int device) const {
  Clock all;
  for (const auto &[id, s] : Streams)
    if (s.device == device || s.device == kAnyDevice || device == kAnyDevice)
      all = joined(all, contentsOf(id, s));
  return all;
}

Clock StreamOrder::contentsOfAll() const { return contentsOfDevice(kAnyDevice); }

void StreamOrder::hostWaits(const Clock &known) {
  if (!known || known->empty() || (Host && Host->contains(*known)))
    return;
  Host = joined(Host, known);
  ++HostVersion;
  raiseFloor();
}

void StreamOrder::hostWaitsForUnknown() {
  auto more = Host ? std::make_shared<KnownCommands>(*Host) : std::make_shared<KnownCommands>();
  more->setUnknown();
  Host = std::move(more);
  ++HostVersion;
}

/// When the host has waited for everything, no clock needs to say so, and nothing is unknown any more.
void StreamOrder::raiseFloor() {
  for (const auto &[id, s] : Streams)
    if (s.position != 0 && !(Host && Host->knows({id, s.position})))
      return;
  Floor = Numbers;
  Host = nullptr;
  ++HostVersion;
  std::erase_if(Streams, [](const auto &entry) { return entry.second.ended; });
  for (auto &[_, s] : Streams) {
    s.before = nullptr;
    s.hostSeen = HostVersion;
  }
}

} // namespace wavesan::streams
