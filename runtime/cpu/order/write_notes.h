// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which chunks of memory are written, for those who have asked (abi::WriteRecord), and what they held before.
//
// Whoever writes to memory for the program notes it first. The first note of a chunk copies it, and all others wait
// until that is done: so a copy is made while nobody writes there.
#ifndef WAVESAN_CPU_ORDER_WRITE_NOTES_H
#define WAVESAN_CPU_ORDER_WRITE_NOTES_H

#include "wavesan/abi/replay.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace wavesan::cpu {

/// Those who ask at the moment when it is made, for as long as it lives. Thread-safe.
class WriteNotes {
public:
  using Record = abi::WriteRecord;
  /// Addresses of which nobody needs to hear again.
  struct Known {
    uint64_t begin = 0, end = 0;
    bool holds(uint64_t address, uint64_t bytes) const { return address >= begin && address + bytes <= end; }
  };

  WriteNotes() {
    List &list = active();
    if (list.count.load(std::memory_order_acquire) == 0)
      return;
    std::lock_guard lock(list.mutex);
    Records = list.records;
    for (Record *record : Records)
      record->holders.fetch_add(1, std::memory_order_relaxed);
  }
  ~WriteNotes() {
    for (Record *record : Records)
      record->holders.fetch_sub(1, std::memory_order_release);
  }
  WriteNotes(const WriteNotes &) = delete;
  WriteNotes &operator=(const WriteNotes &) = delete;

  bool wanted() const { return !Records.empty(); }
  /// Before the bytes are written.
  Known note(uint64_t address, uint64_t bytes) const {
    Known known{0, UINT64_MAX};
    for (const Record *record : Records) {
      const Known here = note(*record, address, bytes);
      known = {std::max(known.begin, here.begin), std::min(known.end, here.end)};
    }
    return known;
  }
  void note(const void *address, uint64_t bytes) const {
    if (!Records.empty() && bytes)
      note(reinterpret_cast<uint64_t>(address), bytes);
  }

  static void add(Record *record) {
    List &list = active();
    std::lock_guard lock(list.mutex);
    list.records.push_back(record);
    list.count.store(list.records.size(), std::memory_order_release);
  }
  static void remove(Record *record) {
    List &list = active();
    std::lock_guard lock(list.mutex);
    std::erase(list.records, record);
    list.count.store(list.records.size(), std::memory_order_release);
  }
  /// Memory that goes away: nothing can be copied from there any more, and nobody will want it back.
  static void forget(uint64_t begin, uint64_t bytes) {
    const WriteNotes notes;
    for (const Record *record : notes.Records)
      eachChunk(*record, begin, bytes, [](const Record::Region &region, uint64_t chunk) {
        uint8_t untouched = Record::Untouched;
        region.state[chunk].compare_exchange_strong(untouched, Record::Touched, std::memory_order_acq_rel);
      });
  }

private:
  /// The first region that ends behind `address`.
  static const Record::Region *find(const Record &record, uint64_t address) {
    return std::partition_point(record.regions, record.regions + record.count,
                                [&](const Record::Region &r) { return r.begin + r.bytes <= address; });
  }

  /// `visit(region, chunk)` for all that the bytes lie in.
  template <class Visit> static void eachChunk(const Record &record, uint64_t address, uint64_t bytes, Visit visit) {
    const uint64_t end = address + bytes;
    for (const Record::Region *r = find(record, address); r != record.regions + record.count && r->begin < end; ++r) {
      const uint64_t first = std::max(address, r->begin) - r->begin,
                     last = std::min(end, r->begin + r->bytes) - r->begin;
      for (uint64_t chunk = first / Record::kChunk; chunk * Record::kChunk < last; ++chunk)
        visit(*r, chunk);
    }
  }

  static Known note(const Record &record, uint64_t address, uint64_t bytes) {
    eachChunk(record, address, bytes, [](const Record::Region &region, uint64_t chunk) { touch(region, chunk); });
    const uint64_t last = address + bytes - 1;
    const Record::Region *r = find(record, last);
    if (r != record.regions + record.count && r->begin <= last) {
      const uint64_t begin = r->begin + (last - r->begin) / Record::kChunk * Record::kChunk;
      return {begin, std::min(begin + Record::kChunk, r->begin + r->bytes)};
    }
    // Between two regions.
    return {r == record.regions ? 0 : r[-1].begin + r[-1].bytes,
            r == record.regions + record.count ? UINT64_MAX : r->begin};
  }

  static void touch(const Record::Region &region, uint64_t chunk) {
    std::atomic<uint8_t> &state = region.state[chunk];
    uint8_t now = state.load(std::memory_order_acquire);
    if (now == Record::Touched)
      return;
    if (now == Record::Untouched && state.compare_exchange_strong(now, Record::Saving, std::memory_order_acquire)) {
      const uint64_t at = chunk * Record::kChunk;
      if (region.copy)
        std::memcpy(region.copy + at, reinterpret_cast<const void *>(region.begin + at),
                    std::min(Record::kChunk, region.bytes - at));
      state.store(Record::Touched, std::memory_order_release);
      return;
    }
    while (state.load(std::memory_order_acquire) != Record::Touched)
      std::this_thread::yield();
  }

  struct List {
    std::mutex mutex;
    std::vector<Record *> records;
    std::atomic<size_t> count{0};
  };
  static List &active() {
    static List &list = *new List; // dispatches run until the process ends
    return list;
  }
  std::vector<Record *> Records;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_WRITE_NOTES_H
