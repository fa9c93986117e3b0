// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Putting a conflict into the dispatch's RaceTable: one entry per ordered pair of sites and class, the rest is a count.
// Freestanding.
#ifndef WAVESAN_CORE_RACE_TABLE_H
#define WAVESAN_CORE_RACE_TABLE_H

#include "wavesan/abi/dispatch.h"

namespace wavesan::core {

/// In 32 bits: a GPU multiplies 64 of them in several steps.
constexpr uint32_t hashKey(uint64_t key) {
  const uint32_t mixed = (uint32_t(key) ^ uint32_t(key >> 32) * 5u) * 0x9e3779b1u;
  return mixed ^ mixed >> 15;
}

/// Adds one conflict. `Memory` provides, for words of the table: uint64_t load64(uint64_t *),
/// uint64_t compareExchange64(uint64_t *, uint64_t expected, uint64_t desired) (returns the old value),
/// void add32(uint32_t *, uint32_t) and void storeRelease32(uint32_t *, uint32_t), all at a scope that includes the
/// host. Returns false if there was no place (the caller counts it as dropped). Thread-safe.
template <class Memory> inline bool addRace(Memory &m, abi::RaceTable *table, const abi::RaceRecord &race) {
  auto *records = reinterpret_cast<abi::RaceRecord *>(table + 1);
  const uint32_t mask = table->capacity - 1;
  uint32_t at = hashKey(race.key) & mask;
  for (uint32_t probe = 0; probe < abi::kMaxProbes && probe < table->capacity; ++probe, at = (at + 1) & mask) {
    abi::RaceRecord *r = records + at;
    uint64_t key = m.load64(&r->key);
    if (key == 0) {
      key = m.compareExchange64(&r->key, 0, race.key);
      if (key == 0) {
        m.add32(&table->used, 1);
        r->raceClass = race.raceClass;
        r->space = race.space;
        r->address = race.address;
        r->size = race.size;
        r->variableOffset = race.variableOffset;
        for (uint32_t i = 0; i < 3; ++i)
          r->workgroup[i] = race.workgroup[i], r->previousWorkgroup[i] = race.previousWorkgroup[i];
        r->epoch = race.epoch;
        r->neededScope = race.neededScope;
        r->current = race.current;
        r->previous = race.previous;
        m.add32(&r->count, 1);
        m.storeRelease32(&r->ready, 1);
        return true;
      }
    }
    if (key == race.key) {
      m.add32(&r->count, 1);
      return true;
    }
  }
  return false;
}

/// The entry of a key, or null. `Memory`: as above.
template <class Memory> inline abi::RaceRecord *findRace(Memory &m, abi::RaceTable *table, uint64_t key) {
  auto *records = reinterpret_cast<abi::RaceRecord *>(table + 1);
  const uint32_t mask = table->capacity - 1;
  uint32_t at = hashKey(key) & mask;
  for (uint32_t probe = 0; probe < abi::kMaxProbes && probe < table->capacity; ++probe, at = (at + 1) & mask) {
    const uint64_t found = m.load64(&records[at].key);
    if (found == key)
      return records + at;
    if (found == 0)
      break;
  }
  return nullptr;
}

} // namespace wavesan::core

#endif // WAVESAN_CORE_RACE_TABLE_H
