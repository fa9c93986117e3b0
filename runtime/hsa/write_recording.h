// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which chunks of a snapshot's memory have been written: noted by the CPU agent, through which everything goes there.
#ifndef WAVESAN_HSA_WRITE_RECORDING_H
#define WAVESAN_HSA_WRITE_RECORDING_H

#include "memory_map.h"

#include "wavesan/abi/replay.h"

#include <atomic>
#include <memory>
#include <vector>

namespace wavesan::hsa {

/// Not thread-safe, but for what the agent does with it.
class WriteRecording {
public:
  using Record = abi::WriteRecord;
  explicit WriteRecording(const abi::CpuAgent &agent) : Agent(agent) {}
  ~WriteRecording(); ///< it must not be in use
  WriteRecording(const WriteRecording &) = delete;
  WriteRecording &operator=(const WriteRecording &) = delete;

  /// The states of its chunks, for as long as this lives. `copy`: as that of the record. In the order of addresses;
  /// before start().
  std::atomic<uint8_t> *add(uint64_t begin, uint64_t bytes, uint8_t *copy);
  void start();
  /// Nobody new gets it.
  void stop();
  /// After stop(): a dispatch or a copy that began before may still write, and make copies.
  bool inUse() const { return What.holders.load(std::memory_order_acquire) != 0; }

private:
  const abi::CpuAgent &Agent;
  Record What;
  std::vector<Record::Region> Regions;
  std::vector<std::unique_ptr<std::atomic<uint8_t>[]>> States;
  bool Started = false;
};

/// Of each of `ranges`: whether all that reaches its memory comes by its address alone. `live`: all ranges there are.
/// Host memory that is registered has two addresses, and may lie in an allocation.
std::vector<bool> reachedByOneAddress(const std::vector<MemoryMap::LiveRange> &ranges,
                                      const std::vector<MemoryMap::LiveRange> &live);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_WRITE_RECORDING_H
