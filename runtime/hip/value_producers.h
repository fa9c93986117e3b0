// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which hipStreamWriteValue a hipStreamWaitValue depends on: the latest write to that address whose value lets the wait
// pass. A wait that is enqueued before the write (which HIP allows), and one for a value that the host or a kernel
// writes, is not resolved.
#ifndef WAVESAN_HIP_VALUE_PRODUCERS_H
#define WAVESAN_HIP_VALUE_PRODUCERS_H

#include "event_producers.h"

#include <mutex>

namespace wavesan::hip {

/// Thread-safe. Remembers at most kMaxAddresses addresses; when there are more, it forgets them all and starts again.
class ValueProducers {
public:
  static constexpr size_t kMaxAddresses = 1 << 14;

  void write(const void *address, uint64_t value, const Producer &producer) {
    std::lock_guard lock(Mutex);
    if (Writes.size() >= kMaxAddresses)
      Writes.clear();
    Writes[address] = {value, producer};
  }

  ResolvedWait resolve(const void *address, uint64_t value, uint64_t condition, uint64_t mask) const {
    std::lock_guard lock(Mutex);
    ResolvedWait wait;
    wait.state = WaitState::BeforeAttach;
    auto found = Writes.find(address);
    if (found != Writes.end() && passes(found->second.value & mask, value & mask, condition, mask)) {
      wait.state = WaitState::Resolved;
      wait.producer = found->second.producer;
    }
    return wait;
  }

  void clearAll() {
    std::lock_guard lock(Mutex);
    Writes.clear();
  }

private:
  struct Write {
    uint64_t value;
    Producer producer;
  };

  /// HIP's conditions, by number: greater or equal, equal, and, nor.
  static bool passes(uint64_t memory, uint64_t value, uint64_t condition, uint64_t mask) {
    switch (condition) {
    case 0:
      return memory >= value;
    case 1:
      return memory == value;
    case 2:
      return (memory & value) != 0;
    case 3:
      return (~(memory | value) & mask) != 0;
    }
    return false;
  }

  mutable std::mutex Mutex;
  std::unordered_map<const void *, Write> Writes;
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_VALUE_PRODUCERS_H
