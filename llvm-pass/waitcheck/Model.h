// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vocabulary of the wait checker.
//
// An AMD wave starts a memory operation with one instruction and learns of its completion only through a counter: the counter goes up at
// issue, down at completion, and a wait instruction stops the wave until the counter is at or below a number. The checker keeps, for
// every program point, the set of things that may still be incomplete there. One such thing is an Item (PendingState.h):
//
//   resource    a register (or half of one), a pending LDS write, a pending copy into LDS, a locked source, ...
//   order class events of one class complete in the order in which they were issued (if the class is ordered at all), and every class
//               counts on exactly one counter of the generation (Generations.h)
//   age         how many younger events of the same order group there are on every path; the minimum over the paths
//
// wait(counter, N) proves an item of an ordered class complete iff N <= age: were it incomplete, so were its `age` younger fellows, and
// the counter would be at least age + 1. An item of an unordered class keeps age 0, so only N = 0 clears it. Other classes on the same
// counter only make the counter larger, so the rule holds for mixed counters too (the "provable prefix").
#ifndef WAVESAN_WAITCHECK_MODEL_H
#define WAVESAN_WAITCHECK_MODEL_H

#include <cstdint>
#include <string_view>

namespace wavesan::waitcheck {

/// The hardware's counters. Load, Ds and Store stand for vmcnt/loadcnt, lgkmcnt/dscnt and vscnt/storecnt.
enum class Counter : uint8_t { Load, Ds, Exp, Store, Sample, Bvh, Km, Async, Tensor, X, Count };
inline constexpr unsigned numCounters = static_cast<unsigned>(Counter::Count);

/// Events of one order class complete in issue order, unless the class is unordered.
enum class OrderClass : uint8_t {
  VMem,       ///< vector loads, returning atomics (and, on gfx9, stores)
  FlatVMem,   ///< gfx9 FLAT on the vector counter: unordered
  VStore,     ///< vector stores and atomics without result, where they have a counter of their own
  Sample,     ///< image samples
  Bvh,        ///< ray intersections
  Lds,        ///< DS instructions
  FlatLds,    ///< gfx9 FLAT on the LDS counter: unordered
  Gds,        ///< global data share and global wave sync
  Scalar,     ///< scalar memory, messages: unordered
  ExportMrt,  ///< exports to render targets, source lock
  ExportPos,  ///< exports of positions, source lock
  ExportPar,  ///< exports of parameters, source lock
  GdsSource,  ///< GDS/GWS source lock
  LdsDirect,  ///< LDS direct and parameter loads (result on the export counter)
  AsyncLoad,  ///< asynchronous copies into LDS
  AsyncStore, ///< asynchronous copies out of LDS
  AsyncMisc,  ///< asynchronous barrier arrivals
  Tensor,     ///< tensor copies: treated as unordered
  XVMem,      ///< address translation of vector memory (gfx1250): source lock
  XScalar,    ///< address translation of scalar memory (gfx1250): source lock, unordered
  EntryLoad,  ///< whatever a caller may have left pending, one class per counter
  EntryDs,
  EntrySample,
  EntryBvh,
  EntryKm,
  WaitStates, ///< not a counter: instructions issued since a wide store (wait states)
  Count
};
inline constexpr unsigned numOrderClasses = static_cast<unsigned>(OrderClass::Count);

/// What is pending.
enum class ItemKind : uint8_t {
  Register,     ///< result register not yet written
  Source,       ///< source register not yet read (export, GDS, gfx1250 address translation)
  LdsWrite,     ///< LDS write not yet performed
  LdsCopy,      ///< copy from memory into LDS not yet performed
  FlatLdsWrite, ///< FLAT write that may go to LDS
  MemoryWrite,  ///< memory write; guards no register, only memory order
  Anything,     ///< function entry: the caller's operations on one counter
  StoreData,    ///< data register of a wide store, to be left alone for a number of wait states
};

/// Stable diagnostic codes. The texts are in Diagnostics.cpp; numbers never change meaning.
enum class HazardCode : uint8_t {
  ReadPending = 1,         // W01
  WritePending = 2,        // W02
  WriteLockedSource = 3,   // W03
  LdsWriteAtBarrier = 4,   // W04
  LdsCopyAtBarrier = 5,    // W05
  LdsReadDuringCopy = 6,   // W06
  PendingAtReturn = 7,     // W07
  EntryNotWaited = 8,      // W08
  WideStoreDataWrite = 9,  // W09: a wait-state hazard, not a counter
};

/// Proven: executing the producer leads to the consumer without a choice in between, and the resource is certain.
/// Possible: a path exists in the control-flow graph, but a branch decides it, or the resource is a guess (FLAT, LDS copies).
enum class Confidence : uint8_t { Proven, Possible };

inline constexpr unsigned noProducer = ~0u; ///< the item came in from a caller

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_MODEL_H
