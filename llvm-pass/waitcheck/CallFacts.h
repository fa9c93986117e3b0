// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What functions of one object tell each other about what is pending.
#ifndef WAVESAN_WAITCHECK_CALLFACTS_H
#define WAVESAN_WAITCHECK_CALLFACTS_H

#include "Model.h"

#include <array>

namespace wavesan::waitcheck {

/// Counters as bits 1 << Counter.
using CounterSet = uint16_t;
inline constexpr CounterSet allCounters = (1u << numCounters) - 1;

/// The kinds of item that concern LDS. They have no register, so a function can hand them on to its caller.
inline constexpr std::array<ItemKind, 3> ldsKinds = {ItemKind::LdsWrite, ItemKind::LdsCopy, ItemKind::FlatLdsWrite};

/// What a call does to what is pending in the caller.
struct CallFacts {
  static_assert(numOrderClasses <= 32);
  CallFacts(CounterSet proves = allCounters) : proves(proves) {}

  CounterSet proves;                ///< counters whose operations of the caller are complete behind the call
  std::array<uint32_t, 3> leaves{}; ///< by ldsKinds: classes, as bits, of LDS operations that the callee leaves pending

  void add(const CallFacts &other) {
    proves &= other.proves;
    for (size_t k = 0; k < leaves.size(); ++k)
      leaves[k] |= other.leaves[k];
  }
  bool operator==(const CallFacts &) const = default;
};

/// What callers may have pending when they call, by counter.
struct EntryFacts {
  CounterSet registers = 0; ///< results, and sources not yet read
  CounterSet ldsWrites = 0;
  CounterSet ldsCopies = 0;

  /// Of callers that are not known: the calling convention lets them leave anything.
  static EntryFacts anything() { return {allCounters, allCounters, allCounters}; }
  void add(const EntryFacts &other, CounterSet counters = allCounters) {
    registers |= other.registers & counters;
    ldsWrites |= other.ldsWrites & counters;
    ldsCopies |= other.ldsCopies & counters;
  }
  bool operator==(const EntryFacts &) const = default;
};

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_CALLFACTS_H
