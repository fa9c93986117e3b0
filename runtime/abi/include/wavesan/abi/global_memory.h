// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device runtime's memory for checking global memory: a shadow, found by address through a hash table of pages, and
// what orders waves of different workgroups. Freestanding.
//
// Ownership: the host allocates one block near the device for each queue, whose checked dispatches follow one another,
// and lays it out as GlobalMemory says. It never clears it: what a dispatch writes into a table carries the dispatch's
// stamp, and what carries another stamp is free. Device addresses in 64 bits.
//
// Block:  keys[pageCount]  pages[pageCount]  variables[variableCount]  rowLocks[lockCount]  waves[rowEntries]
//         rows[rowCount][rowEntries]
//
// Everything with a stamp lies at the same place in every dispatch of the block.
#ifndef WAVESAN_ABI_GLOBAL_MEMORY_H
#define WAVESAN_ABI_GLOBAL_MEMORY_H

#include <stdint.h>

namespace wavesan::abi {

/// A granule has six slots of 64 bits (core/global_slot.h).
inline constexpr uint32_t kGlobalGranule = 4, kGlobalSlots = 6, kGlobalCellBytes = kGlobalSlots * 8;
/// Memory that one page of shadow stands for, and its bytes.
inline constexpr uint32_t kGlobalPageLog2 = 8, kGlobalCellsPerPage = (1u << kGlobalPageLog2) / kGlobalGranule,
                          kGlobalPageBytes = kGlobalCellsPerPage * kGlobalCellBytes;

/// A key: page number (address >> kGlobalPageLog2), stamp, and whether the page is still being cleared.
inline constexpr uint32_t kStampBits = 23, kAddressBits = 48;
inline constexpr uint32_t kMaxStamp = (1u << kStampBits) - 1; ///< stamps begin at 1
constexpr uint64_t pageKey(uint64_t page, uint32_t stamp, bool busy) {
  return page << (kStampBits + 1) | uint64_t(stamp) << 1 | (busy ? 1 : 0);
}
constexpr uint32_t stampOf(uint64_t key) { return uint32_t(key >> 1) & kMaxStamp; }
static_assert(kAddressBits - kGlobalPageLog2 + kStampBits + 1 == 64);

/// Bits for a wave's number and a generation together; the dispatch says how many of them are the generation's
/// (core/global_slot.h).
inline constexpr uint32_t kGlobalWhoBits = 34;
/// With fewer generations than that a dispatch is not checked: it has too many workgroups.
inline constexpr uint32_t kLeastGenerationBits = 8, kMostGenerationBits = 24;

/// Pages and variables are looked for in so many places.
inline constexpr uint32_t kGlobalProbes = 64;

/// An address through which releases and acquires of a dispatch go.
struct GlobalVariable {
  uint64_t
      address;    ///< of releases that reach one workgroup only, that workgroup's number plus 1 is in the upper 16 bits
  uint64_t state; ///< variableState()
  uint64_t acquirer;       ///< a wave that has acquired all writes so far: its number << 32 | its generation; ~0: none
  uint32_t acquiredWrites; ///< how many these were
  uint32_t writes;         ///< atomic operations that write, as long as the variable is known
  uint32_t row;            ///< of what was released there, plus 1; 0: nothing
  uint32_t publisher;      ///< the only wave whose releases it carries, plus 1; 0: none; ~0: several
  uint32_t publishedBound; ///< and up to where
  uint32_t lost;           ///< a release could not be kept
  uint32_t ended;          ///< release sequences at this address that a store has ended
  uint32_t begun;          ///< `ended` of the address when that of `row` began: if it is more now, nothing is released
  uint32_t announced;      ///< compare-exchanges that had something to release
  uint32_t settled;        ///< of those, the ones that have released it, or failed
};
static_assert(sizeof(GlobalVariable) == 64);
/// Whatever lay in the memory before is none of these.
constexpr uint64_t variableState(uint32_t stamp, bool busy) {
  return uint64_t(0x57535652) << 32 | uint64_t(stamp) << 1 | (busy ? 1 : 0);
}
constexpr uint32_t rowLock(uint32_t stamp) { return uint32_t(0x16d) << kStampBits | stamp; }

/// What everybody may ask about a wave, and what it seldom needs itself. Set by the wave itself when it begins.
struct GlobalWave {
  uint32_t released;  ///< accesses of older generations may be known to other workgroups by a release
  uint32_t grid[2];   ///< [phase % 2]: accesses of older generations come before what follows that barrier of the grid
  uint32_t lost;      ///< a release of its workgroup could not be kept
  uint32_t orderLost; ///< something that it acquired could not be kept
  uint32_t seenVersions; ///< of the other waves of the workgroup, summed up: when this one joined what they know last
  uint32_t pendingVariable, pendingWrites; ///< the last one that a relaxed atomic has read, plus 1, and its writes then
};
static_assert(sizeof(GlobalWave) == 32);

struct GlobalMemory {
  uint64_t keys, pages;
  uint64_t order; ///< variables, and what follows them
  uint32_t pageCount;
  uint32_t stamp;
  uint32_t waveBits;       ///< a wave's number is workgroup << waveBits | wave
  uint32_t generationBits; ///< of slots
  uint32_t rowCount;
  uint32_t rowEntries; ///< waves of the dispatch, numbers that none has included
  uint32_t variableCount;
  uint32_t lockCount; ///< at least rowCount
  uint32_t firstUnit,
      lastUnit; ///< of memory that is recorded, address >> kGlobalUnitLog2, both included: option further_passes
};
static_assert(sizeof(GlobalMemory) == 64);
/// All addresses that a key can name have a unit of 32 bits.
inline constexpr uint32_t kGlobalUnitLog2 = 16;
static_assert(kAddressBits - kGlobalUnitLog2 == 32);

} // namespace wavesan::abi

#endif // WAVESAN_ABI_GLOBAL_MEMORY_H
