// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the wait checker knows about each generation of GPUs: plain data, and no answer for anything else.
#ifndef WAVESAN_WAITCHECK_GENERATIONS_H
#define WAVESAN_WAITCHECK_GENERATIONS_H

#include "Model.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>

namespace wavesan::waitcheck {

/// How wait instructions of a generation carry their numbers.
enum class WaitEncoding : uint8_t { Gfx9, Gfx10, Gfx11, Gfx12 };

struct Generation {
  const char *name;
  WaitEncoding encoding;
  /// Largest value of each counter. An event stalls while the counter is there. 0: no such counter. unbounded: not relied on.
  std::array<uint8_t, numCounters> capacity;
  /// The names that the assembler of this generation uses.
  std::array<const char *, numCounters> counterName;
  /// The counter of each order class; Counter::Count where the class does not occur.
  std::array<Counter, numOrderClasses> counterOf;
  /// Classes of one group age together: a younger event of any of them is evidence for the older one. Results of different classes may
  /// still reach the registers out of order (gfx10, gfx11: image samples beside loads), so they are distinct for write-after-write.
  std::array<OrderClass, numOrderClasses> groupOf;
  bool vmemWritesInOrder;   ///< loads of one class write their registers in issue order
  bool d16WritesWhole;      ///< a 16-bit load writes all 32 bits of its register (ECC)
  bool sourceTranslation;   ///< xcnt: sources of memory instructions stay locked until address translation
  bool flatInOrder;         ///< FLAT counts in order on both counters
  uint8_t wideStoreStates;  ///< wait states before the data of a store wider than 64 bits may be written by a VALU; 0: none
  bool wideRegisters;     ///< 1024 vector registers, through s_set_vgpr_msb
  bool packedWorkItemIds; ///< v0 holds all three ids of a work-item at a kernel's start
  bool wavesOf64Only;

  Counter counter(OrderClass c) const { return counterOf[static_cast<unsigned>(c)]; }
  OrderClass group(OrderClass c) const { return groupOf[static_cast<unsigned>(c)]; }
  uint8_t limit(Counter c) const { return capacity[static_cast<unsigned>(c)]; }
  const char *nameOf(Counter c) const { return counterName[static_cast<unsigned>(c)]; }
  bool has(OrderClass c) const { return counter(c) != Counter::Count; }
};

/// Whether events of this class complete in the order in which they were issued, on every generation that has the class.
constexpr bool isOrdered(OrderClass c) {
  switch (c) {
  case OrderClass::FlatVMem:
  case OrderClass::FlatLds:
  case OrderClass::Scalar:
  case OrderClass::Tensor:
  case OrderClass::XScalar:
  case OrderClass::EntryLoad:
  case OrderClass::EntryDs:
  case OrderClass::EntrySample:
  case OrderClass::EntryBvh:
  case OrderClass::EntryKm:
    return false;
  default:
    return true;
  }
}

inline constexpr uint8_t unboundedCounter = 255;

struct TargetEntry {
  const char *name;         ///< as in -mcpu
  unsigned machine;         ///< EF_AMDGPU_MACH value of the ELF header
  const Generation *generation;
};

/// All targets that the checker knows.
llvm::ArrayRef<TargetEntry> knownTargets();

/// The entry of that -mcpu name; null if the checker does not know it.
const TargetEntry *findTarget(llvm::StringRef name);

/// The entry of that EF_AMDGPU_MACH value; null if the checker does not know it.
const TargetEntry *findMachine(unsigned machine);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_GENERATIONS_H
