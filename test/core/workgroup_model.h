// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One workgroup for tests of the packed detector: plain arrays behind the Platform concept, and the bookkeeping that the
// device runtime does at fences, barriers and the end of a wave.
#ifndef WAVESAN_TEST_CORE_WORKGROUP_MODEL_H
#define WAVESAN_TEST_CORE_WORKGROUP_MODEL_H

#include "wavesan/core/lds_access.h"
#include "wavesan/reference/vector_clock_detector.h"

namespace wavesan::test {

using reference::AccessId;
using reference::RacePair;

struct Found {
  core::ConflictRange range;
  AccessId current;
};

class WorkgroupModel {
public:
  WorkgroupModel(uint32_t waves, uint32_t ldsBytes, uint32_t granuleLog2)
      : Waves(waves), Shadow{granuleLog2, ldsBytes}, Cells((ldsBytes >> granuleLog2) * core::kSlotsPerCell + 4) {}

  core::AccessResult access(AccessId id, uint32_t address, uint32_t size, bool write, bool atomic) {
    const abi::WaveRecord &w = State.waves[id.wave];
    core::Accessor a{id.wave, id.lane, id.site, core::slotGeneration(w.generation), w.epoch, write, atomic};
    core::MergingPlatform<Base> p(*this, id);
    return core::accessBytes(p, Shadow, a, address, size);
  }
  void complete(uint32_t wave) { ++State.waves[wave].generation; }
  void arrive(uint32_t wave) {
    abi::WaveRecord &w = State.waves[wave];
    w.barrierGeneration[(w.epoch + 1) % abi::kEpochBuffers] = core::barrierGenerationOf(w.generation);
  }
  void leave(uint32_t wave) {
    abi::WaveRecord &w = State.waves[wave];
    ++w.epoch;
    if (core::lostLiveRecord(w.evictedGeneration, w.barrierGeneration[w.epoch % abi::kEpochBuffers]))
      ++Overflow;
  }
  void end(uint32_t wave) { State.waves[wave].endEpoch = State.waves[wave].epoch + 1; }

  const uint32_t Waves;
  const core::Shadow Shadow;
  abi::WorkgroupState State{};
  std::vector<uint64_t> Cells;
  std::vector<Found> Conflicts;
  uint64_t Overflow = 0;

  std::set<uint32_t> racyBytes() const {
    std::set<uint32_t> bytes;
    for (const Found &f : Conflicts)
      for (uint32_t b = 0; b < f.range.size; ++b)
        bytes.insert(f.range.address + b);
    return bytes;
  }
  std::set<RacePair> pairs() const {
    std::set<RacePair> out;
    for (const Found &f : Conflicts) {
      AccessId p{f.range.previous.wave(), f.range.previous.lane(), f.range.previous.site()};
      out.insert(p < f.current ? RacePair{p, f.current} : RacePair{f.current, p});
    }
    return out;
  }

private:
  struct Base {
    Base(WorkgroupModel &model, AccessId current) : M(model), Current(current) {}
    WorkgroupModel &M;
    AccessId Current;
    uint64_t load(uint32_t cell, uint32_t slot) { return M.Cells.at(cell * core::kSlotsPerCell + slot); }
    bool compareExchange(uint32_t cell, uint32_t slot, uint64_t &expected, uint64_t desired) {
      uint64_t &word = M.Cells.at(cell * core::kSlotsPerCell + slot);
      if (word != expected) {
        expected = word;
        return false;
      }
      word = desired;
      return true;
    }
    void publishBeforeLook() {}
    uint32_t barrierGeneration(uint32_t epoch, uint32_t wave) {
      return M.State.waves[wave].barrierGeneration[epoch % abi::kEpochBuffers];
    }
    uint32_t endEpoch(uint32_t wave) { return M.State.waves[wave].endEpoch; }
    void evicted(uint32_t wave, uint32_t generation) {
      uint32_t &e = M.State.waves[wave].evictedGeneration;
      e = std::max(e, generation + 1);
    }
    void conflictRange(const core::ConflictRange &r) { M.Conflicts.push_back({r, Current}); }
  };
};

} // namespace wavesan::test

#endif // WAVESAN_TEST_CORE_WORKGROUP_MODEL_H
