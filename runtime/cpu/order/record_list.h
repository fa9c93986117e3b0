// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records of one line of global memory. Input that many workgroups share has some two dozen records a line, on
// as many lines as the input has, so this is about memory: one block for each line, cut from large pieces, that begins
// with the waves of the records. Looking for the records of one wave reads nothing else.
#ifndef WAVESAN_CPU_ORDER_RECORD_LIST_H
#define WAVESAN_CPU_ORDER_RECORD_LIST_H

#include "memory_budget.h"
#include "wave_clock.h"

#include <cstring>
#include <type_traits>
#include <vector>

namespace wavesan::cpu {

inline constexpr uint64_t kLineBytes = 64;

/// One access of one wave to some bytes of a line.
struct AccessRecord {
  uint32_t workgroup;
  uint32_t generation;
  uint32_t site;
  uint64_t mask; ///< bytes of the line
  uint8_t wave;
  uint8_t lane;      ///< that accessed the lowest byte of the original mask, or abi::kUnknownLane
  uint8_t firstByte; ///< lowest byte of the original mask
  uint8_t laneBytes; ///< consecutive lanes accessed so many consecutive bytes each; 0: one lane accessed all
  uint8_t epoch;     ///< barriers its wave had passed, low bits: tells "no barrier between" from "not complete there"
  bool write, atomic;
  abi::Scope scope : 8; ///< of an atomic

  WaveId who() const { return {workgroup, wave}; }
  /// Lane that accessed a byte of the mask.
  uint8_t laneOf(unsigned byte) const {
    return lane == abi::kUnknownLane || laneBytes == 0 ? lane : uint8_t(lane + (byte - firstByte) / laneBytes);
  }
};
static_assert(sizeof(AccessRecord) == 32 && std::is_trivially_copyable_v<AccessRecord>);

/// Where the lists and logs of one shadow live. Not thread-safe.
class RecordMemory {
public:
  static constexpr size_t kPieceBytes = size_t(1) << 18;
  explicit RecordMemory(MemoryBudget &budget, size_t pieceBytes = kPieceBytes)
      : Budget(budget), PieceBytes(pieceBytes) {}
  ~RecordMemory() { Budget.give(Pieces.size() * PieceBytes); }
  RecordMemory(const RecordMemory &) = delete;
  RecordMemory &operator=(const RecordMemory &) = delete;

  /// Null: the budget is used up.
  std::byte *allocate(unsigned sizeClass, size_t bytes) {
    if (std::byte *p = Free[sizeClass]) {
      std::memcpy(static_cast<void *>(&Free[sizeClass]), p, sizeof(std::byte *));
      return p;
    }
    if (Left < bytes) {
      if (!Budget.take(PieceBytes))
        return nullptr;
      Pieces.push_back(std::make_unique_for_overwrite<std::byte[]>(PieceBytes));
      Next = Pieces.back().get();
      Left = PieceBytes;
    }
    std::byte *p = Next;
    Next += bytes;
    Left -= bytes;
    return p;
  }
  /// For the next block of this class.
  void release(unsigned sizeClass, std::byte *block) {
    std::memcpy(block, static_cast<const void *>(&Free[sizeClass]), sizeof(std::byte *));
    Free[sizeClass] = block;
  }
  static constexpr unsigned kListClasses = 4, kLogClass = kListClasses; ///< of RecordList, of ReadLog

private:
  static constexpr unsigned kClasses = kListClasses + 1;
  MemoryBudget &Budget;
  const size_t PieceBytes;
  std::vector<std::unique_ptr<std::byte[]>> Pieces;
  std::byte *Next = nullptr, *Free[kClasses] = {};
  size_t Left = 0;
};

/// Records in any order. Its memory belongs to the RecordMemory, which must be the same in all calls.
class RecordList {
public:
  static constexpr size_t kMost = 64; ///< records

  size_t size() const { return Size; }
  AccessRecord &operator[](size_t i) { return recordsOf(Block, Capacity)[i]; }

  /// Index of a record of this wave, below `before`; size() if there is none.
  size_t of(WaveId who, size_t before = kMost) {
    const uint32_t key = keyOf(who), bit = bitOf(key);
    if (!(Waves[bit / 64] >> bit % 64 & 1))
      return Size;
    const uint32_t *keys = keysOf(Block);
    for (size_t i = before < Size ? before : Size; i-- > 0;)
      if (keys[i] == key && (*this)[i].who() == who)
        return i;
    return Size;
  }

  /// Call for each access that is to be added, also if it cannot be.
  void noteAttempt(uint32_t workgroup) {
    if (Attempts == 0)
      FirstWorkgroup = workgroup;
    else if (FirstWorkgroup != workgroup)
      Mixed = true;
    Attempts += Attempts < UINT8_MAX;
  }
  /// So many accesses were to be added, at most 255, and whether those of more than one workgroup.
  unsigned attempts() const { return Attempts; }
  bool mixed() const { return Mixed; }

  /// There must be fewer than kMost. False if there is no memory for it.
  bool add(const AccessRecord &r, RecordMemory &memory) {
    if (Size == Capacity && !grow(memory))
      return false;
    put(Size++, r);
    return true;
  }
  void replace(size_t i, const AccessRecord &r) { put(i, r); }
  /// The others stay in their order: those of one wave then are the same whatever other waves do.
  void remove(size_t i) {
    --Size;
    uint32_t *const key = keysOf(Block) + i;
    AccessRecord *const record = &(*this)[i];
    std::memmove(key, key + 1, (Size - i) * sizeof(*key));
    std::memmove(record, record + 1, (Size - i) * sizeof(*record));
  }

private:
  static constexpr uint8_t kCapacities[RecordMemory::kListClasses] = {2, 8, 24, kMost};
  static constexpr uint32_t kWaveBits = 192;
  static uint32_t bitOf(uint32_t key) { return uint32_t(uint64_t(key * 0x9e3779b1u) * kWaveBits >> 32); }
  static uint32_t keyOf(WaveId w) { return w.workgroup * abi::kMaxWavesPerWorkgroup + w.wave; }
  static uint32_t *keysOf(std::byte *block) { return reinterpret_cast<uint32_t *>(block); }
  static AccessRecord *recordsOf(std::byte *block, size_t capacity) {
    return reinterpret_cast<AccessRecord *>(block + capacity * sizeof(uint32_t));
  }
  void put(size_t i, const AccessRecord &r) {
    const uint32_t key = keyOf(r.who()), bit = bitOf(key);
    keysOf(Block)[i] = key;
    (*this)[i] = r;
    Waves[bit / 64] |= uint64_t(1) << bit % 64;
  }
  bool grow(RecordMemory &memory) {
    const unsigned next = Capacity ? Class + 1u : 0u;
    const size_t capacity = kCapacities[next];
    std::byte *block = memory.allocate(next, capacity * (sizeof(uint32_t) + sizeof(AccessRecord)));
    if (!block)
      return false;
    if (Size) {
      std::memcpy(block, Block, Size * sizeof(uint32_t));
      std::memcpy(recordsOf(block, capacity), recordsOf(Block, Capacity), Size * sizeof(AccessRecord));
      memory.release(Class, Block);
    }
    Block = block;
    Capacity = uint8_t(capacity);
    Class = uint8_t(next);
    return true;
  }
  std::byte *Block = nullptr;          ///< keys of `Capacity` waves, then as many records
  uint64_t Waves[kWaveBits / 64] = {}; ///< waves that may have a record: a bit for each, by a hash
  uint32_t FirstWorkgroup = 0;         ///< of all attempts
  uint8_t Size = 0, Capacity = 0, Attempts = 0;
  uint8_t Class : 7 = 0;
  bool Mixed : 1 = false;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ORDER_RECORD_LIST_H
