// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call's arguments by type, each kind in order.
#ifndef WAVESAN_HIP_CALL_ARGUMENTS_H
#define WAVESAN_HIP_CALL_ARGUMENTS_H

#include "call_table.h"

#include <type_traits>

namespace wavesan::hip {

struct CallArguments {
  static constexpr int kMaxNumbers = 8, kMaxEvents = 2, kMaxPointers = 6, kMaxDims = 2;

  Stream stream = nullptr;
  bool hasStream = false;
  Event events[kMaxEvents] = {};
  Stream *newStream = nullptr;
  Event *newEvent = nullptr;
  const void *pointer = nullptr; ///< the first that is not null
  const void *pointers[kMaxPointers] = {};
  uint64_t numbers[kMaxNumbers] = {};
  Dim3 dims[kMaxDims] = {};
  Extent extent = {};
  PitchedPtr pitched = {};
  int eventCount = 0, numberCount = 0, pointerCount = 0, dimCount = 0;

  void add(Stream s) {
    stream = s;
    hasStream = true;
  }
  void add(Event e) {
    if (eventCount < kMaxEvents)
      events[eventCount++] = e;
  }
  void add(Stream *s) { newStream = s; }
  void add(Event *e) { newEvent = e; }
  void add(const void *p) {
    pointer = pointer ? pointer : p;
    if (pointerCount < kMaxPointers)
      pointers[pointerCount++] = p;
  }
  void add(const Dim3 &d) {
    if (dimCount < kMaxDims)
      dims[dimCount++] = d;
  }
  void add(const Extent &e) { extent = e; }
  void add(const PitchedPtr &p) { pitched = p; }
  template <class T>
    requires std::is_integral_v<T>
  void add(T value) {
    if (numberCount < kMaxNumbers)
      numbers[numberCount++] = uint64_t(value);
  }
  void add(const IpcHandle &) {}
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_CALL_ARGUMENTS_H
