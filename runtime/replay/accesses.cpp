// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accesses.h"

#include "wavesan/abi/stream_check.h"

#include <fstream>
#include <mutex>
#include <vector>

namespace wavesan::replay {

namespace {

struct Taken {
  std::mutex mutex;
  std::vector<abi::AccessRun> runs;
  std::vector<abi::SyncPlace> places;
  uint64_t delivered = 0, lost = 0;
};
Taken &taken() {
  static auto *const instance = new Taken; // the tool may deliver until the end
  return *instance;
}

void deliver(uint64_t, uint64_t, uint64_t, const abi::DispatchAccesses *accesses) try {
  Taken &t = taken();
  std::lock_guard lock(t.mutex);
  ++t.delivered;
  if (!accesses) {
    ++t.lost;
    return;
  }
  t.lost += accesses->lost;
  t.runs.insert(t.runs.end(), accesses->runs, accesses->runs + accesses->runCount);
  t.places.insert(t.places.end(), accesses->places, accesses->places + accesses->placeCount);
} catch (const std::bad_alloc &) {
  ++taken().lost;
}

const abi::StreamCheck kCheck = {
    abi::kAbiVersion,
    [](const abi::StreamCheckTool *) {},
    [](const abi::DispatchShapeSeen *, const char *, const void *, uint64_t, uint64_t) { return uint64_t(1); },
    deliver,
    [](const void *, const void *, uint64_t) {}, // the recorded addresses are those that the kernel uses
    [](abi::StreamCheckCounts *) {},
    [](uint64_t, uint64_t) { return true; }, // HIP is not here
};

} // namespace

bool writeAccesses(const std::string &path, uint64_t base, uint64_t bytes, uint64_t recordedBase) {
  const auto recorded = [&](uint64_t address) {
    return address - base < bytes ? address - base + recordedBase : address;
  };
  Taken &t = taken();
  std::lock_guard lock(t.mutex);
  std::ofstream file(path);
  for (const abi::AccessRun &run : t.runs)
    file << "r " << recorded(run.begin) << ' ' << recorded(run.begin) + (run.end - run.begin) << ' '
         << unsigned(run.bits) << '\n';
  for (const abi::SyncPlace &place : t.places)
    file << "p " << recorded(place.address) << ' ' << place.releases << ' ' << place.acquires << '\n';
  file << (t.delivered == 1 && t.lost == 0 ? "known" : "unknown") << std::endl;
  return bool(file);
}

} // namespace wavesan::replay

/// The HSA tool looks for it (abi/stream_check.h), where the option check_streams asks for that.
extern "C" __attribute__((visibility("default"))) const wavesan::abi::StreamCheck *wavesan_stream_check() {
  return &wavesan::replay::kCheck;
}
