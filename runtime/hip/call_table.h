// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of each interposed function, generated from hip_calls.def.
#ifndef WAVESAN_HIP_CALL_TABLE_H
#define WAVESAN_HIP_CALL_TABLE_H

#include "hip_types.h"

#include <string_view>

namespace wavesan::hip {

/// For people: the category of a slice in a trace.
enum class Category : uint8_t {
  Stream,
  Event,
  Synchronise,
  Capture,
  Graph,
  Launch,
  HostFunction,
  Copy,
  Set,
  Allocate,
  Free,
  Memory,
  Device
};
const char *name(Category);

/// What a call means for streams and events. "First" arguments are meant by type.
enum class Action : uint8_t {
  None,
  Command,          ///< puts work into the stream argument, or into the default stream where there is none
  LaunchWithEvents, ///< a Command that records its event arguments, too
  StreamCreate,     ///< the first Stream* receives a stream; flags: first number
  StreamDestroy,
  EventCreate, ///< the first Event* receives an event
  EventDestroy,
  EventRecord,
  StreamWaitEvent,
  EventSynchronize,
  EventQuery,
  StreamSynchronize,
  StreamQuery,
  DeviceSynchronize,
  WaitValue,  ///< numbers: value, flags, mask
  WriteValue, ///< numbers: value, flags
  BeginCapture,
  EndCapture,
  GraphRecord, ///< a graph will record the event argument
  ShareEvent,  ///< other processes may record the event from here on
  OpenEvent,   ///< the first Event* receives an event of another process
  SetDevice,   ///< first number: the device
  ChangeContext,
  DeviceReset
};

/// Whether the call puts something into a stream.
constexpr bool isCommand(Action action) {
  switch (action) {
  case Action::Command:
  case Action::LaunchWithEvents:
  case Action::EventRecord:
  case Action::StreamWaitEvent:
  case Action::WaitValue:
  case Action::WriteValue:
    return true;
  default:
    return false;
  }
}

enum class CallId : uint16_t {
#define WAVESAN_HIP_ENTRY(Name, Symbol, Category, Action, ...) Name,
#include "hip_calls.def"
#undef WAVESAN_HIP_ENTRY
  Count
};

struct CallInfo {
  const char *name;   ///< as programs write it
  const char *symbol; ///< as the dynamic linker knows it
  Category category;
  Action action;

  /// Whether stream 0 means the calling thread's default stream.
  constexpr bool perThread() const { return std::string_view(name).ends_with("_spt"); }
};

inline constexpr CallInfo kCalls[] = {
#define WAVESAN_HIP_ENTRY(Name, Symbol, CategoryName, ActionName, ...)                                                 \
  {#Name, #Symbol, Category::CategoryName, Action::ActionName},
#include "hip_calls.def"
#undef WAVESAN_HIP_ENTRY
};
inline constexpr size_t kCallCount = size_t(CallId::Count);
static_assert(sizeof kCalls / sizeof *kCalls == kCallCount);

constexpr const CallInfo &infoOf(CallId id) { return kCalls[size_t(id)]; }

} // namespace wavesan::hip

#endif // WAVESAN_HIP_CALL_TABLE_H
