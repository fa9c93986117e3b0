// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records that cross between host and device for one dispatch. Freestanding, layout asserted.
//
// Ownership: the host (runtime/hsa) allocates a DispatchContext, a RaceTable and, where the shadow does not fit
// into LDS, a slot pool, in memory that both sides can access; it initialises them before the packet is
// published and reads them after the packet's completion signal (acquire, system scope). In between only the device
// writes, with atomics at agent scope. Addresses are device addresses in 64 bits.
#ifndef WAVESAN_ABI_DISPATCH_H
#define WAVESAN_ABI_DISPATCH_H

#include "wavesan/abi/hooks.h"

namespace wavesan::abi {

inline constexpr uint32_t kContextMagic = 0x31435357u; // "WSC1"
inline constexpr uint32_t kMaxWavesPerWorkgroup = 32;  // 1024 work-items in waves of 32

/// Counters of one dispatch, added to by waves when they end. Wave-level unless said otherwise.
struct DispatchCounters {
  uint64_t checkedAccesses;    ///< access operations checked; one per wave and executed site, whatever the lanes
  uint64_t racesSeen;          ///< conflicts seen by lanes, duplicates included
  uint64_t racesDropped;       ///< conflicts whose site pair found no place in the RaceTable
  uint64_t historyOverflow;    ///< accesses whose record a cell could not keep although it could still matter
  uint64_t generationOverflow; ///< accesses not recorded because the wave's generation counter was exhausted
  uint64_t outsideShadow;      ///< LDS accesses beyond DispatchContext::ldsBytes (not checked)
  uint64_t globalAccesses;     ///< of checkedAccesses, those to global memory
  uint64_t orderUnknown;       ///< atomics whose release could not be recorded: what they order is not known
  uint64_t checkedSpaces;      ///< CheckedSpaces bits: what whoever executed the twin checks
  uint64_t waitsUnknown;       ///< accesses of which it is not known whether a wait for a count above zero was enough
  uint64_t outsideBudget;      ///< accesses to global memory not recorded: the shadow's memory was used up
  uint64_t lanesUnchecked;     ///< accesses not compared between the lanes of their wave: too many to remember
  uint64_t reserved[4];
};
static_assert(sizeof(DispatchCounters) == 128);

/// The CPU agent's hooks check all of them; the device runtime neither asynchronous copies nor named barriers, and global
/// memory where there is memory for its shadow.
enum CheckedSpaces : uint64_t { kChecksLds = 1, kChecksGlobal = 2, kChecksCopies = 4, kFollowsNamedBarriers = 8 };

/// Verdict classes of a record (DESIGN.md, "What a race is"). Values are stable.
enum class RaceClass : uint32_t {
  Race = 1,         ///< no barrier between the two accesses
  MissingFence = 2, ///< a barrier lies between, but the earlier access was not complete when its wave arrived there
  ScopeTooSmall = 3, ///< synchronised, but with a scope that does not include the other side
  BarrierDivergence = 4, ///< work-items of one workgroup reach different barriers, or one of them in parts of a wave
  EarlyExit = 5,         ///< work-items end while others of their workgroup wait at a barrier
  LaneConflict = 6,      ///< lanes of one store write different values to the same bytes
  MissingWait = 7,       ///< the earlier access is one that its wave must wait for by name, and did not in time
  StreamRace = 8, ///< two commands of HIP streams that nothing orders; found by the interposer, never in a RaceTable
  HostRace = 9,   ///< the same of a command and the host
  WaveOrder = 10, ///< lanes of one wave in divergent arms of a branch, whose order the compiler chooses
};
constexpr bool isBetweenCommands(RaceClass c) { return c == RaceClass::StreamRace || c == RaceClass::HostRace; }
constexpr bool isDivergence(RaceClass c) { return c == RaceClass::BarrierDivergence || c == RaceClass::EarlyExit; }

/// Memory of a race. None: a divergence, which concerns no memory.
enum class RaceSpace : uint32_t { Lds = 0, Global = 1, None = 2 };

inline constexpr uint8_t kUnknownLane = 0xff;

/// In place of a site: the kernel's end.
inline constexpr uint32_t kNoSite = 0x3fffffffu;

/// RaceRecord::previousWorkgroup[1], where [0] is the number of the workgroup and not one of its coordinates. From the
/// device; whoever reads the table resolves it.
inline constexpr uint32_t kLinearWorkgroup = 0xffffffffu;

/// In RaceSide::access of a record's current side, a plain store: each time so far the bytes held already what it was
/// about to write. Only the CPU agent's own hooks see values.
inline constexpr uint8_t kSideValueHeld = 0x80;

/// One side of a conflict.
struct RaceSide {
  uint32_t site;  ///< id in the code object's site table
  uint16_t wave;  ///< index in the workgroup
  uint8_t lane;   ///< index in the wave
  uint8_t access; ///< AccessBits, kSideValueHeld
};
static_assert(sizeof(RaceSide) == 8);

/// One entry of the race table. Entry states: 0 free, kRaceBusy being written, otherwise the key; `count` and `key`
/// are accessed atomically, the rest is written by whoever took the entry.
struct RaceRecord {
  uint64_t key;            ///< raceKey(); 0: free
  uint32_t count;          ///< conflicts with this key, the first included
  uint32_t ready;          ///< 1 once all fields are written
  uint32_t raceClass;      ///< RaceClass
  uint32_t space;          ///< RaceSpace
  uint64_t address;        ///< of the first conflicting byte: LDS byte offset or device address
  uint32_t size;           ///< conflicting bytes from there on
  uint32_t variableOffset; ///< address minus the LDS variable's first byte, or kNoVariable
  uint32_t workgroup[3];   ///< of the current side
  uint32_t previousWorkgroup[3];
  uint32_t epoch;       ///< barriers passed by the current side's wave
  uint32_t neededScope; ///< ScopeTooSmall: the Scope that would do
  RaceSide current;     ///< the access that found the conflict
  RaceSide previous;    ///< the access recorded in the cell; its lane may be kUnknownLane
};
static_assert(sizeof(RaceRecord) == 88);

/// What a record of a divergence class says besides class, workgroup and sites. The sides are two groups of work-items
/// that did different things after the same number of barriers (RaceRecord::epoch): previous.site is the barrier where
/// its group waits, current.site another barrier, the same one (`apart`), or kNoSite; wave and lane are the
/// first of each group.
struct DivergenceDetail {
  uint32_t waves[2];  ///< of previous, current: bit w: lanes of wave w
  uint64_t lanes[2];  ///< of previous, current: lanes of the wave RaceSide::wave
  /// Of the branch where the current group left the way to the other's barrier; 0: unknown. Where sites alone were compared
  /// (bySite), the site of the barrier before, plus 1: the host looks for the branch.
  uint32_t line;
  uint16_t column;    ///< 0: unknown
  uint8_t depth;      ///< the branch's frame in the chain of previous.site, counted from the kernel, which is 0
  bool apart;         ///< lanes of one wave reach one barrier at different times
  bool uneven;        ///< both groups come from previous.site: a loop with different numbers of rounds
  bool bySite;        ///< found by comparing sites alone: whether it is a divergence depends on what the sites are
};

// A divergence has no address, so its detail takes the fields of one.
constexpr void setDivergence(RaceRecord &r, const DivergenceDetail &d) {
  r.address = d.lanes[0];
  r.size = d.waves[0];
  r.variableOffset = d.waves[1];
  r.previousWorkgroup[0] = uint32_t(d.lanes[1]);
  r.previousWorkgroup[1] = uint32_t(d.lanes[1] >> 32);
  r.previousWorkgroup[2] = uint32_t(d.column) | uint32_t(d.depth) << 16 | uint32_t(d.apart) << 24 |
                           uint32_t(d.uneven) << 25 | uint32_t(d.bySite) << 26;
  r.neededScope = d.line;
}
constexpr DivergenceDetail divergenceOf(const RaceRecord &r) {
  const uint32_t packed = r.previousWorkgroup[2];
  return {{r.size, r.variableOffset},
          {r.address, r.previousWorkgroup[0] | uint64_t(r.previousWorkgroup[1]) << 32},
          r.neededScope,
          uint16_t(packed),
          uint8_t(packed >> 16),
          (packed >> 24 & 1) != 0,
          (packed >> 25 & 1) != 0,
          (packed >> 26 & 1) != 0};
}

/// Key of a site pair and class; never 0. Order matters: current, previous. What happens within a workgroup and what
/// happens between two of them have different remedies, so they are not one record.
constexpr uint64_t raceKey(uint32_t currentSite, uint32_t previousSite, RaceClass c, bool betweenWorkgroups = false) {
  return uint64_t(uint32_t(c)) << 60 | uint64_t(betweenWorkgroups) << 59 | uint64_t(currentSite & 0x1fffffffu) << 30 |
         (previousSite & 0x3fffffffu);
}

/// Open-addressed table (linear probing, capacity a power of two) followed by `capacity` RaceRecords.
struct RaceTable {
  uint32_t capacity;
  uint32_t used; ///< entries taken (atomic)
  uint64_t reserved[7];
};
static_assert(sizeof(RaceTable) == 64);
inline constexpr uint32_t kMaxProbes = 64; ///< a key not placed after so many probes is dropped and counted

enum ContextFlags : uint32_t {
  /// Lanes of a wave are ordered by synchronisation alone (option wave_order=language).
  kContextLanguageOrder = 1,
  /// The kernel waits for counts of LDS instructions above zero (kKernelCountsLdsWaits).
  kContextCountsLdsWaits = 2,
  /// Cells lie in LDS although there is a slot pool.
  kContextCellsInLds = 4,
};

/// Everything a twin needs to know about its dispatch. 64-byte aligned.
struct DispatchContext {
  uint32_t magic;      ///< kContextMagic
  uint32_t abiVersion; ///< kAbiVersion
  uint64_t dispatchId; ///< the tool's number of this dispatch, from 1
  uint64_t raceTable;  ///< RaceTable*
  uint64_t counters;   ///< DispatchCounters*
  /// What does not fit into LDS: cells (else they lie in LDS behind the WorkgroupState), then LdsOrder; 0: neither.
  uint64_t slotPool;  ///< slotCount areas of slotBytes each
  uint64_t slotLocks; ///< uint32_t[slotCount], 0 free, 1 taken
  uint32_t slotCount;
  uint32_t slotBytes;
  uint32_t ldsStateOffset; ///< LDS byte offset of the WorkgroupState (16-byte aligned), behind the program's own LDS
  uint32_t ldsBytes;       ///< bytes of LDS that have cells: the program's static and dynamic LDS
  uint32_t granuleLog2;    ///< bytes covered by one cell: 0 (1 byte), 1 or 2 (4 bytes)
  uint32_t waveSize;       ///< lanes per wave: 32 or 64
  uint32_t workgroupSize[3];
  uint32_t gridSize[3]; ///< in work-items
  uint32_t wavesPerWorkgroup;
  uint32_t flags; ///< ContextFlags
  uint64_t accessSink; ///< AccessSink* (abi/stream_check.h), a host address that only the CPU agent uses; 0: none
  /// CPU agent: bytes that the shadows of global memory of all dispatches may take together; 0: no limit.
  uint64_t shadowBudget;
  uint64_t globalMemory; ///< GlobalMemory* (abi/global_memory.h): the device runtime's check of global memory; 0: none
  uint64_t delays;       ///< Delays* (abi/delays.h): the device runtime delays waves; 0: it does not
  uint64_t touchMap;     ///< TouchMap* (abi/touch_map.h): the device runtime notes what is written; 0: it does not
  /// Of a slot, where its LdsOrder (abi/lds_order.h) begins, plus 1; 0: atomics on LDS order nothing.
  uint32_t ldsOrder;
  uint32_t reserved32;
  uint64_t reserved[5];
};
static_assert(sizeof(DispatchContext) == 192);

/// Barrier generations are kept for the last four epochs: with split barriers a wave may be two barriers ahead of
/// another that has signalled and not yet waited.
inline constexpr uint32_t kEpochBuffers = 4;

/// Fences whose releases a later relaxed atomic may publish: the last one that reaches the workgroup, and the last that
/// reaches the device.
enum FenceReach : uint32_t { kFenceOfWorkgroup = 0, kFenceOfDevice = 1, kFenceReaches = 2 };

/// What a wave shares with the others of its workgroup, and its own counters. The counters live in LDS and not in
/// registers because they belong to the wave: in divergent code a register would hold one value per lane.
struct WaveRecord {
  uint32_t generation; ///< fences and waits that completed this wave's LDS accesses so far
  uint32_t epoch;      ///< barriers passed so far
  uint32_t endEpoch;   ///< epoch in which the wave ended, plus one; 0 while it runs
  /// One more than the highest generation of this wave of which a cell lost a record; 0: none lost.
  uint32_t evictedGeneration;
  uint32_t lanesEnded; ///< lanes that have returned
  /// Constants of the wave for the device runtime's check, which a kernel would have to hold in registers otherwise.
  uint32_t shape;    ///< device::Shape
  uint32_t ldsBytes; ///< DispatchContext::ldsBytes
  uint32_t checked;  ///< access operations checked
  /// [epoch % kEpochBuffers]: generation of the wave at its arrival at the barrier that began the epoch.
  uint32_t barrierGeneration[kEpochBuffers];
  /// [epoch % 2]: site of the barrier that began the epoch for the wave. Who leaves a barrier looks at where the
  /// others arrived; none of them has arrived at the second barrier after it by then.
  uint32_t arrivedAt[2];
  // Global memory, by the device runtime (core/global_detector.h).
  uint32_t globalChecked;    ///< of `checked`, those to global memory
  uint32_t globalGeneration; ///< fences and waits that completed accesses to global memory, and barriers
  uint32_t globalComplete;   ///< accesses of older generations are complete
  uint32_t globalEvicted;    ///< as evictedGeneration
  uint32_t globalBarrier[kEpochBuffers]; ///< core::GlobalArrival
  uint32_t row;              ///< index of what the wave knows of others by release and acquire, plus 1; 0: nothing
  uint32_t pendingRow;       ///< the same of what relaxed atomics have read: an acquire fence makes it known
  uint32_t version;          ///< changes of `row`, of `gridPhase` and of GlobalWave::orderLost
  uint32_t gridPhase;        ///< barriers of the whole grid that the wave knows to be passed
  uint32_t fenceComplete[kFenceReaches], fenceEpoch[kFenceReaches], fenceVersion[kFenceReaches]; ///< 0: no fence yet
};
static_assert(sizeof(WaveRecord) == 128); // a power of two: addresses of records are computed often

/// Head of the area behind the program's LDS. Written by the twin only. Of the waves those exist that a workgroup has.
struct WorkgroupState {
  uint64_t cells;         ///< address of the first cell: global address, or LDS byte offset
  uint32_t slot;          ///< index of the slot taken from the pool
  uint32_t wavesFinished; ///< the last wave gives the slot back
  uint64_t context;       ///< address of the DispatchContext
  uint32_t workgroup[3];
  uint32_t number; ///< linear number of the workgroup
  // Copied from GlobalMemory, which is far away.
  uint64_t shadowKeys; ///< 0: global memory is not checked
  uint64_t shadowPages, order;
  uint32_t pageCount, stamp, waveBits, generationBits, rowCount, rowEntries, variableCount, lockCount;
  uint32_t waveCount;
  uint32_t synchronised; ///< a wave of the workgroup has acquired something
  uint32_t firstUnit, lastUnit; ///< GlobalMemory
  uint64_t ldsOrder;            ///< address of its LdsOrder (abi/lds_order.h); 0: atomics on LDS order nothing
  uint32_t ldsOrderLock;        ///< 1: a wave is at an atomic on LDS
  uint32_t ldsOrdered;          ///< a wave has acquired something through LDS
  WaveRecord waves[kMaxWavesPerWorkgroup];
};
inline constexpr uint32_t kWorkgroupHeadBytes = 128;
static_assert(sizeof(WorkgroupState) == kWorkgroupHeadBytes + kMaxWavesPerWorkgroup * sizeof(WaveRecord));

/// Bytes of a WorkgroupState, a multiple of 16.
constexpr uint32_t workgroupStateBytes(uint32_t waves) {
  return kWorkgroupHeadBytes + waves * uint32_t(sizeof(WaveRecord));
}

/// Bytes of one cell (core/cell.h asserts it): two writer and two reader slots.
inline constexpr uint32_t kCellBytes = 32;

/// Bytes of cells that cover `ldsBytes` of LDS.
constexpr uint64_t shadowBytes(uint32_t ldsBytes, uint32_t granuleLog2) {
  return ((uint64_t(ldsBytes) + (1u << granuleLog2) - 1) >> granuleLog2) * kCellBytes;
}

} // namespace wavesan::abi

#endif // WAVESAN_ABI_DISPATCH_H
