// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and the one rule that the formats share.
#include "trace_sink.h"

namespace wavesan::hip {

const char *name(Category category) {
  switch (category) {
  case Category::Stream:
    return "stream";
  case Category::Event:
    return "event";
  case Category::Synchronise:
    return "synchronise";
  case Category::Capture:
    return "capture";
  case Category::Graph:
    return "graph";
  case Category::Launch:
    return "launch";
  case Category::HostFunction:
    return "host_function";
  case Category::Copy:
    return "copy";
  case Category::Set:
    return "set";
  case Category::Allocate:
    return "allocate";
  case Category::Free:
    return "free";
  case Category::Memory:
    return "memory";
  case Category::Device:
    return "device";
  }
  return "?";
}

const char *name(WaitKind kind) {
  switch (kind) {
  case WaitKind::None:
    return "none";
  case WaitKind::StreamForEvent:
    return "stream_for_event";
  case WaitKind::HostForEvent:
    return "host_for_event";
  case WaitKind::HostForStream:
    return "host_for_stream";
  case WaitKind::HostForDevice:
    return "host_for_device";
  case WaitKind::StreamForValue:
    return "stream_for_value";
  }
  return "?";
}

const Producer *CallRecord::eventDependency() const {
  const Action action = infoOf(id).action;
  const bool waits = action == Action::StreamWaitEvent || action == Action::EventSynchronize;
  return waits && wait.state == WaitState::Resolved ? &wait.producer : nullptr;
}

} // namespace wavesan::hip
