// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lds_check.h"

namespace wavesan::cpu {
namespace {

/// Brings up to date what the wave knows, as one bound per wave.
WorkgroupShadow::Floors &floorsOf(WorkgroupShadow &s, uint32_t wave) {
  WorkgroupShadow::Floors &f = s.floors[wave];
  if (!f.current) {
    const uint32_t epoch = s.state.waves[wave].epoch;
    for (uint32_t w = 0; w < s.waveCount; ++w) {
      const uint32_t end = s.state.waves[w].endEpoch, copies = core::copiesOf(w);
      const bool ended = end != 0 && epoch >= end;
      f.floor[w] = ended ? UINT32_MAX : s.knownBelow(wave, w);
      f.retired[w] = ended ? UINT32_MAX : s.retiredBelow(wave, w);
      f.floor[copies] = s.knownBelow(wave, copies);
      f.retired[copies] = s.retiredBelow(wave, copies);
    }
    for (WorkgroupShadow::Floors::Steps &steps : f.steps)
      steps.generation = 0; // no access has it
    f.current = true;
  }
  return f;
}

/// What core::checkGranule would do for one granule, where there is no conflict and no other access's record is lost.
enum class Step : uint32_t {
  Store0,                        ///< record the access in slot 0 (to 3) ...
  Nothing = core::kSlotsPerCell, ///< it is recorded already
  NotRecorded,                   ///< two live records of other waves stand for it
  AskTheCore                     ///< there may be a conflict or a loss
};

/// A cell in one register.
typedef uint64_t CellBits __attribute__((vector_size(sizeof(Cell))));
[[gnu::always_inline]] inline CellBits bitsOf(const Cell &cell) {
  CellBits v;
  __builtin_memcpy(&v, cell.slots, sizeof(v));
  return v;
}

/// Who accesses, for the fast path: what of core::Accessor decides.
struct Who {
  uint32_t wave, generation;
  bool write, atomic;
};

constexpr uint64_t kWaveUnit = core::Slot(1, 0, 0, 0, 0, false).bits(),
                   kWaveBits = core::Slot(2 * abi::kMaxWavesPerWorkgroup - 1, 0, 0, 0, 0, false).bits(),
                   kLaneUnit = core::Slot(0, 1, 0, 0, 0, false).bits(),
                   kGenerationUnit = core::Slot(0, 0, 0, 1, 0, false).bits(),
                   kGenerationBits = core::Slot(0, 0, 0, core::Slot::kMaxGeneration, 0, false).bits(),
                   kAtomicBit = core::Slot(0, 0, 0, 0, 0, true).bits();
/// What of a slot decides the step: not site, lane and epoch.
constexpr uint64_t kDecides = kWaveBits | kGenerationBits | kAtomicBit;
static_assert(kGenerationUnit == 1, "generations compare as they are");

/// Which slot holds what differs from granule to granule, so the rows of the table in lds_detector.h are computed for
/// all slots at once, a bit for each, rather than by branches that no processor predicts.
[[gnu::noinline]] Step stepFor(const Cell &cell, const Who &a, const WorkgroupShadow::Floors &floors) {
  static_assert(core::kSlotsPerCell == 4);
  const CellBits slots = bitsOf(cell), generations = slots & kGenerationBits;
  const auto bits = [](auto all) { return uint32_t(__builtin_reduce_or(CellBits(all) & CellBits{1, 2, 4, 8})); };
  const uint32_t used = bits(slots != 0);
  const auto notBelow = [&](const uint32_t *floor) {
    const auto of = [&](uint32_t i) { return uint64_t(floor[core::Slot(cell.slots[i]).wave()]); };
    return bits(generations >= CellBits{of(0), of(1), of(2), of(3)}) & used;
  };
  const uint32_t live = notBelow(floors.floor), kept = notBelow(floors.retired);
  const uint32_t own = bits((slots & kWaveBits) == a.wave * kWaveUnit) & used;
  const uint32_t atomic = bits((slots & kAtomicBit) != 0), current = bits(generations == uint64_t(a.generation));
  constexpr uint32_t writers = (1u << core::kReaderSlots) - 1, readers = writers << core::kReaderSlots;
  if (live & ~own & (a.write ? ~0u : writers) & (a.atomic ? ~atomic : ~0u))
    return Step::AskTheCore;
  // The rows that lose no record or the new one, in their order; only the accessor's side matters now.
  const uint32_t shift = a.write ? core::kWriterSlots : core::kReaderSlots, side = a.write ? writers : readers;
  const uint32_t mayStand = a.atomic ? ~0u : ~atomic; // a plain record stands for an atomic access as well
  if (own & current & mayStand & side)
    return Step::Nothing;
  const uint32_t covered = (a.atomic ? atomic : ~0u) & side;
  const uint32_t replaced = own & covered, vacant = (~kept & side) | (~live & covered);
  if (const uint32_t choice = replaced ? replaced : vacant)
    return Step(std::countr_zero(choice));
  if ((own & side) || (!a.atomic && (atomic & side)) ||
      core::waveOf(core::Slot(cell.slots[shift]).wave()) == core::waveOf(core::Slot(cell.slots[shift + 1]).wave()))
    return Step::AskTheCore;
  return Step::NotRecorded;
}

/// Neighbouring granules that one access touches. Granule i of the row is first touched by lane
/// `lane + (i >> laneShift)`.
struct Row {
  uint32_t first, count;
  uint32_t lane, laneShift;
};
inline constexpr uint32_t kOneLane = 31; ///< as laneShift

/// Settles granules of one access, if it can.
class RowCheck {
public:
  [[gnu::always_inline]] RowCheck(WorkgroupShadow &s, const Who &a, uint32_t site, WorkgroupShadow::Floors &floors)
      : Cells(s.cells.data()), Granules(s.shadowedBytes >> s.context->granuleLog2), A(a), Floors(floors),
        Known(floors.steps[uint32_t(a.write) | uint32_t(a.atomic) << 1]) {
    if (Known.generation != a.generation) [[unlikely]]
      begin(s.state.waves[a.wave].epoch);
    Record = Known.record | core::Slot(0, 0, site, 0, 0, false).bits();
  }

  uint32_t granules() const { return Granules; }
  uint64_t notRecorded() const { return NotRecorded; }

  /// Settles one granule, less than granules(), that lane `lane` touches first; false if the core must look at it.
  [[gnu::always_inline]] inline bool single(uint32_t granule, uint32_t lane) {
    Cell &cell = Cells[granule];
    const Step step = stepOf(cell);
    if (step < Step::Nothing)
      cell.slots[uint32_t(step)] = Record | lane * kLaneUnit;
    else if (step != Step::Nothing)
      return notStored(step, 1);
    return true;
  }

  /// Returns the lanes that the core must look at. Whatever it decides for a granule holds for all lanes of the access
  /// that touch it: either the first one's record is there for the others, or all of them are left to the core.
  [[gnu::always_inline]] inline LaneMask operator()(const Row &row) {
    const uint32_t inside = row.first < Granules ? std::min(row.count, Granules - row.first) : 0;
    LaneMask open = 0;
    for (uint32_t done = 0; done < inside;) {
      const uint32_t n = std::min(inside - done, kPart);
      if (n > 2 && alike(row.first + done, n)) {
        if (!part(row.first + done, n, [&](uint32_t i) { return laneOf(row, done + i); }))
          open |= lanesOf(row, done, done + n);
      } else {
        for (uint32_t i = done; i < done + n; ++i)
          if (!single(row.first + i, laneOf(row, i)))
            open |= lanesOf(row, i, i + 1);
      }
      done += n;
    }
    if (inside < row.count) [[unlikely]]
      open |= lanesOf(row, inside, row.count); // bytes behind the shadow are the core's business
    return open;
  }

  /// `count` granules from `first` on, all less than granules(), one for each lane from `lane` on; returns, counted
  /// from `lane`, those that the core must look at.
  template <uint32_t count> [[gnu::always_inline]] inline LaneMask laneEach(uint32_t first, uint32_t lane) {
    if (alike(first, count))
      return part(first, count, [&](uint32_t i) { return lane + i; }) ? 0 : (LaneMask(1) << count) - 1;
    LaneMask open = 0;
    for (uint32_t i = 0; i < count; ++i)
      open |= LaneMask(!single(first + i, lane + i)) << i;
    return open;
  }

private:
  /// Most cells of a part of a row look alike.
  static constexpr uint32_t kPart = 16;
  /// A generation of the wave begins.
  [[gnu::noinline]] void begin(uint32_t epoch) {
    Known.generation = A.generation;
    Known.record = core::Slot(A.wave, 0, 0, A.generation, epoch, A.atomic).bits();
    for (Cell &found : Known.found)
      found.slots[0] = ~uint64_t(0); // no cell, since not all bits decide
  }

  static uint32_t laneOf(const Row &row, uint32_t i) { return row.lane + (i >> row.laneShift); }
  static LaneMask lanesOf(const Row &row, uint32_t begin, uint32_t end) {
    LaneMask lanes = 0;
    for (uint32_t i = begin; i < end; ++i)
      lanes |= LaneMask(1) << laneOf(row, i);
    return lanes;
  }
  [[gnu::always_inline]] static inline bool decide(CellBits differs) {
    return __builtin_reduce_or(differs & CellBits{kDecides, kDecides, kDecides, kDecides}) != 0;
  }
  /// Most cells look alike in what decides, and so do those of the wave's next accesses.
  [[gnu::always_inline]] inline Step stepOf(const Cell &cell) {
    const uint32_t writer = core::Slot(cell.slots[core::kWriterSlots]).wave(),
                   reader = core::Slot(cell.slots[core::kReaderSlots]).wave();
    const uint32_t at = (writer + 3 * reader) % Known.kKept;
    if (decide(bitsOf(cell) ^ bitsOf(Known.found[at]))) [[unlikely]] {
      Known.found[at] = cell;
      Known.step[at] = uint32_t(stepFor(cell, A, Floors));
    }
    return Step(Known.step[at]);
  }
  bool notStored(Step step, uint32_t count) {
    if (step == Step::AskTheCore)
      return false;
    if (step == Step::NotRecorded)
      NotRecorded += count;
    return true;
  }
  /// Do cells [at, at + n) differ in nothing that decides the step?
  [[gnu::always_inline]] inline bool alike(uint32_t at, uint32_t n) const {
    const Cell *const cells = Cells + at;
    const CellBits head = bitsOf(*cells);
    CellBits differs = {};
    for (size_t i = 1; i < n; ++i)
      differs |= bitsOf(cells[i]) ^ head;
    return !decide(differs);
  }
  /// Settles cells [at, at + n), which are alike; false if the core must look at them.
  template <class Lane> [[gnu::always_inline]] inline bool part(uint32_t at, uint32_t n, Lane lane) {
    Cell *const cells = Cells + at;
    const Step step = stepOf(*cells);
    if (step >= Step::Nothing)
      return notStored(step, n);
    const uint64_t record = Record; // which the stores below might change, for all that the compiler knows
    for (size_t i = 0; i < n; ++i)
      cells[i].slots[uint32_t(step)] = record + lane(uint32_t(i)) * kLaneUnit;
    return true;
  }

  Cell *Cells;
  uint32_t Granules; ///< that lie wholly in LDS
  const Who &A;
  const WorkgroupShadow::Floors &Floors;
  WorkgroupShadow::Floors::Steps &Known;
  uint64_t Record = 0; ///< of lane 0
  uint64_t NotRecorded = 0;
};

/// Lanes are looked at in groups, as the engine does for its loads: the usual shapes are 16 lanes that touch one
/// address or consecutive ones.
constexpr uint32_t kGroup = 16;
typedef uint32_t GroupAddresses __attribute__((vector_size(4 * kGroup)));
constexpr GroupAddresses kGroupIota = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr LaneMask kGroupLanes = (LaneMask(1) << kGroup) - 1;
enum class GroupShape { Uniform, Consecutive, Other };

/// The shape of `count` groups, if they all have one. `steps`: the distances of a consecutive group.
[[gnu::always_inline]] inline GroupShape shapeOf(const uint32_t *address, uint32_t count, uint32_t size,
                                                 const GroupAddresses &steps) {
  const uint32_t step = address[1] - address[0];
  if (step != 0 && step != size)
    return GroupShape::Other;
  const GroupAddresses expected = step == 0 ? GroupAddresses{} : steps;
  GroupAddresses differs = {};
  for (uint32_t g = 0; g < count * kGroup; g += kGroup) {
    GroupAddresses v;
    __builtin_memcpy(&v, address + g, sizeof(v));
    differs |= (v - address[g]) ^ expected;
  }
  return __builtin_reduce_or(differs) ? GroupShape::Other : step == 0 ? GroupShape::Uniform : GroupShape::Consecutive;
}

/// All lanes of a wave access `each` whole granules (one, if consecutive), and all groups have the shape `shape`.
template <GroupShape shape>
[[gnu::always_inline]] inline LaneMask settleGroups(RowCheck &rows, uint32_t lanes, const uint32_t *address,
                                                    uint32_t each, uint32_t shift) {
  constexpr bool uniform = shape == GroupShape::Uniform;
  LaneMask open = 0, openOfLast = 0;
  for (uint32_t g = 0; g < lanes; g += kGroup) {
    // A group that repeats the one before it finds all that it does recorded.
    if (g == 0 || address[g] != address[g - kGroup]) {
      const uint32_t first = address[g] >> shift;
      if (uint64_t(first) + (uniform ? each : kGroup) > rows.granules()) [[unlikely]] {
        openOfLast = kGroupLanes; // bytes behind the shadow are the core's business
      } else if (uniform) {
        bool settled = true;
        for (uint32_t i = 0; i < each; ++i)
          settled &= rows.single(first + i, g);
        openOfLast = settled ? 0 : kGroupLanes;
      } else {
        openOfLast = rows.laneEach<kGroup>(first, g);
      }
    }
    open |= openOfLast << g;
  }
  return open;
}

/// Settles what it can of an access of `size` bytes and returns the lanes that the core must look at.
[[gnu::always_inline]] inline LaneMask settleRows(RowCheck &rows, LaneMask exec, const uint32_t *address, uint32_t size,
                                                  uint32_t shift) {
  const GroupAddresses steps = kGroupIota * size;
  const uint32_t lanes = exec == ~LaneMask(0) ? 64 : exec == 0xffffffffu ? 32 : 0;
  const GroupShape wave = lanes == 64   ? shapeOf(address, 4, size, steps)
                          : lanes == 32 ? shapeOf(address, 2, size, steps)
                                        : GroupShape::Other;
  const auto aligned = [&](uint32_t a) { return (a & ((1u << shift) - 1)) == 0; };
  const uint32_t each = size >> shift;
  if (wave != GroupShape::Other) {
    const uint32_t upper = lanes == 64 ? address[2 * kGroup] | address[3 * kGroup] : 0;
    if (aligned(address[0] | address[kGroup] | upper | size)) [[likely]] {
      if (wave == GroupShape::Uniform)
        return settleGroups<GroupShape::Uniform>(rows, lanes, address, each, shift);
      if (each == 1)
        return settleGroups<GroupShape::Consecutive>(rows, lanes, address, 1, shift);
    }
  }
  // Lanes can share a row if each touches whole granules, a power of two of them.
  const bool whole = each << shift == size && std::has_single_bit(each);
  const uint32_t laneShift = whole ? uint32_t(std::countr_zero(each)) : kOneLane;
  LaneMask open = 0, openOfLast = 0;
  GroupShape last = GroupShape::Other;
  uint32_t lastAddress = 0;
  for (uint32_t g = 0; g < 64; g += kGroup) {
    LaneMask rest = exec >> g & kGroupLanes;
    if (!rest)
      continue;
    GroupShape shape = wave;
    if (shape == GroupShape::Other && rest == kGroupLanes)
      shape = shapeOf(address + g, 1, size, steps);
    if (shape == GroupShape::Consecutive && !(whole && aligned(address[g])))
      shape = GroupShape::Other;
    const bool repeats = shape != GroupShape::Other && shape == last && address[g] == lastAddress;
    last = shape;
    lastAddress = address[g];
    if (repeats) {
      open |= openOfLast << g;
      continue;
    }
    openOfLast = 0;
    do {
      const uint32_t lane = g + uint32_t(std::countr_zero(rest)), at = address[lane], first = at >> shift;
      const bool consecutive = shape == GroupShape::Consecutive;
      const uint32_t touched = uint32_t(((uint64_t(at) + size - 1) >> shift) - first) + 1;
      const LaneMask unsettled =
          rows({first, consecutive ? kGroup << laneShift : touched, lane, consecutive ? laneShift : kOneLane}) >> g;
      openOfLast |= shape == GroupShape::Uniform && unsettled ? kGroupLanes : unsettled;
      rest = shape == GroupShape::Other ? rest & (rest - 1) : 0;
    } while (rest);
    open |= openOfLast << g;
  }
  return open;
}

struct Settled {
  LaneMask open;        ///< lanes that the core must look at
  uint64_t notRecorded; ///< granules for which other waves' records stand
};
[[gnu::always_inline]] inline Settled settleAll(WorkgroupShadow &s, const Who &a, uint32_t site, LaneMask exec,
                                                const uint32_t *address, uint32_t size) {
  RowCheck rows(s, a, site, floorsOf(s, a.wave));
  const LaneMask open = settleRows(rows, exec, address, size, s.context->granuleLog2);
  return {open, rows.notRecorded()};
}

// The loops over lanes and cells are worth vector instructions where the processor has them.
using Settle = Settled (*)(WorkgroupShadow &, const Who &, uint32_t site, LaneMask, const uint32_t *, uint32_t size);
Settled settlePortable(WorkgroupShadow &s, const Who &a, uint32_t site, LaneMask exec, const uint32_t *address,
                       uint32_t size) {
  return settleAll(s, a, site, exec, address, size);
}
#if defined(__x86_64__)
[[gnu::target("avx2,bmi,bmi2,tune=haswell")]] Settled
settleAvx2(WorkgroupShadow &s, const Who &a, uint32_t site, LaneMask exec, const uint32_t *address, uint32_t size) {
  return settleAll(s, a, site, exec, address, size);
}
const Settle bestSettle =
    __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") ? settleAvx2 : settlePortable;
#else
const Settle bestSettle = settlePortable;
#endif
Settle settle = bestSettle;

} // namespace

void checkLdsWithoutVectors(bool portable) { settle = portable ? settlePortable : bestSettle; }

void checkLdsCopy(WorkgroupShadow &s, const WaveView &wave, LaneMask exec, const uint32_t *address, uint32_t info,
                  uint32_t site, uint32_t variable, uint32_t number) {
  if (exec == 0)
    return;
  ++s.counters.checkedAccesses;
  const uint32_t size = abi::accessSize(info);
  uint32_t at[64];
  const uint32_t first = address[std::countr_zero(exec)];
  for (LaneMask rest = exec; rest; rest &= rest - 1) {
    const unsigned lane = unsigned(std::countr_zero(rest));
    at[lane] = info & abi::kCopyConsecutive ? first + lane * abi::copyStride(size) : address[lane];
  }
  core::Accessor a = accessorOf(s, wave.wave, info, site);
  a.wave = core::copiesOf(wave.wave);
  a.generation = number;
  checkLanes(s, wave, exec, at, [&](unsigned) { return uint64_t(size); }, info, site, variable, a);
}

void checkLds(WorkgroupShadow &s, const WaveView &wave, LaneMask exec, const uint32_t *address, uint32_t size,
              uint32_t info, uint32_t site, uint32_t variable) {
  if (exec == 0)
    return;
  ++s.counters.checkedAccesses;
  const uint32_t bits = abi::accessBits(info);
  const Who who{wave.wave, core::slotGeneration(s.state.waves[wave.wave].generation), (bits & abi::kAccessWrite) != 0,
                abi::atomicInWorkgroup(info)};
  LaneMask open = exec; // lanes that the core must look at
  if (size != 0 && who.generation <= core::Slot::kMaxGeneration) [[likely]] {
    const Settled settled = settle(s, who, site, exec, address, size);
    open = settled.open;
    if (settled.notRecorded)
      HostPlatform(s, wave, site, info, variable).evicted(who.wave, who.generation, settled.notRecorded);
    if (open == 0) [[likely]]
      return;
  }
  checkLanes(
      s, wave, open, address, [&](unsigned) { return uint64_t(size); }, info, site, variable,
      accessorOf(s, wave.wave, info, site));
}

} // namespace wavesan::cpu
