// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lds_check.h"

namespace wavesan::cpu {
namespace {

/// Brings up to date what the wave knows, as one bound per wave.
WorkgroupShadow::Floors &floorsOf(WorkgroupShadow &s, uint32_t wave) {
  WorkgroupShadow::Floors &f = s.floors[wave];
  if (!f.current) {
    const WaveClock &clock = s.order->wave(wave).clock;
    const uint32_t epoch = s.state.waves[wave].epoch;
    for (uint32_t w = 0; w < s.waveCount; ++w) {
      const uint32_t end = s.state.waves[w].endEpoch;
      f.floor[w] = end != 0 && epoch >= end ? UINT32_MAX : clock.local[boundIndex(kLds, w)];
      f.floor[core::copiesOf(w)] = clock.local[boundIndex(kCopies, w)];
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

/// The four slots of a cell.
struct Cell {
  uint64_t slots[core::kSlotsPerCell];
};

/// Which slot holds what differs from granule to granule, so the rows of the table in lds_detector.h are computed for
/// all slots at once, a bit for each, rather than by branches that no processor predicts.
[[gnu::noinline]] Step stepFor(const Cell &cell, const core::Accessor &a, const uint32_t *floors) {
  uint32_t used = 0, live = 0, own = 0, atomic = 0, current = 0;
  for (uint32_t i = 0; i < core::kSlotsPerCell; ++i) {
    const core::Slot s(cell.slots[i]);
    used |= uint32_t(!s.empty()) << i;
    live |= uint32_t(s.generation() >= floors[s.wave()]) << i;
    own |= uint32_t(s.wave() == a.wave) << i;
    atomic |= uint32_t(s.atomic()) << i;
    current |= uint32_t(s.generation() == a.generation) << i;
  }
  live &= used;
  own &= used;
  constexpr uint32_t writers = (1u << core::kReaderSlots) - 1, readers = writers << core::kReaderSlots;
  if (live & ~own & (a.write ? ~0u : writers) & (a.atomic ? ~atomic : ~0u))
    return Step::AskTheCore;
  // The rows that lose no record or the new one, in their order; only the accessor's side matters now.
  const uint32_t shift = a.write ? core::kWriterSlots : core::kReaderSlots, side = a.write ? writers : readers;
  const uint32_t mayStand = a.atomic ? ~0u : ~atomic; // a plain record stands for an atomic access as well
  if (own & current & mayStand & side)
    return Step::Nothing;
  const uint32_t replaced = own & (a.atomic ? atomic : ~0u) & side, vacant = ~live & side;
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

/// Settles rows of granules of one access, if it can.
class RowCheck {
public:
  [[gnu::always_inline]] RowCheck(WorkgroupShadow &s, const core::Accessor &a, WorkgroupShadow::Floors &floors)
      : Lines(s.lines.data()), Granules(s.shadowedBytes >> s.context->granuleLog2), A(a), Floors(floors.floor),
        Known(floors.steps[uint32_t(a.write) | uint32_t(a.atomic) << 1]), Record(a.slot().bits()) {
    if (Known.generation == a.generation)
      return;
    Known.generation = a.generation;
    for (auto &kept : Known.kept)
      kept.found[0] = ~uint64_t(0); // no cell, since not all bits decide
  }

  /// Returns the lanes that the core must look at. Whatever it decides for a granule holds for all lanes of the access
  /// that touch it: either the first one's record is there for the others, or all of them are left to the core.
  [[gnu::always_inline]] inline LaneMask operator()(const Row &row) {
    if (row.count <= 2 && uint64_t(row.first) + row.count <= Granules) {
      const LaneMask open = single(row, 0);
      return row.count == 1 ? open : open | single(row, 1);
    }
    const uint32_t inside = row.first < Granules ? std::min(row.count, Granules - row.first) : 0;
    LaneMask open = 0;
    for (uint32_t done = 0; done < inside;) {
      const uint32_t inLine = (row.first + done) % CellLine::kCells;
      const uint32_t n = std::min(inside - done, CellLine::kCells - inLine);
      if (alike(row.first + done, n)) {
        open |= part(row, done, n);
      } else {
        for (uint32_t i = done; i < done + n; ++i)
          open |= single(row, i);
      }
      done += n;
    }
    if (inside < row.count) [[unlikely]]
      open |= lanesOf(row, inside, row.count); // bytes behind the shadow are the core's business
    return open;
  }
  uint64_t notRecorded() const { return NotRecorded; }

private:
  /// What of a slot decides the step: not site, lane and epoch.
  static constexpr uint64_t kDecides =
      core::Slot(2 * abi::kMaxWavesPerWorkgroup - 1, 0, 0, core::Slot::kMaxGeneration, 0, true).bits();
  static constexpr uint64_t kLaneUnit = core::Slot(0, 1, 0, 0, 0, false).bits();

  static LaneMask lanesOf(const Row &row, uint32_t begin, uint32_t end) {
    LaneMask lanes = 0;
    for (uint32_t i = begin; i < end; ++i)
      lanes |= LaneMask(1) << (row.lane + (i >> row.laneShift));
    return lanes;
  }
  [[gnu::always_inline]] inline uint64_t recordOf(const Row &row, uint32_t i) const {
    return Record | uint64_t(row.lane + (i >> row.laneShift)) * kLaneUnit;
  }
  /// Most cells look alike in what decides, and so do those of the wave's next accesses.
  [[gnu::always_inline]] inline Step stepOf(const Cell &cell) {
    const uint32_t writer = core::Slot(cell.slots[core::kWriterSlots]).wave(),
                   reader = core::Slot(cell.slots[core::kReaderSlots]).wave();
    auto &kept = Known.kept[(writer + 3 * reader) % Known.kKept];
    uint64_t differs = 0;
    for (uint32_t k = 0; k < core::kSlotsPerCell; ++k)
      differs |= (cell.slots[k] & kDecides) ^ kept.found[k];
    if (differs) {
      for (uint32_t k = 0; k < core::kSlotsPerCell; ++k)
        kept.found[k] = cell.slots[k] & kDecides;
      kept.step = uint32_t(stepFor(cell, A, Floors));
    }
    return Step(kept.step);
  }
  [[gnu::always_inline]] inline LaneMask single(const Row &row, uint32_t i) {
    const uint32_t at = row.first + i;
    CellLine &line = Lines[at / CellLine::kCells];
    const uint32_t c = at % CellLine::kCells;
    const Step step = stepOf({line.slots[0][c], line.slots[1][c], line.slots[2][c], line.slots[3][c]});
    if (step < Step::Nothing)
      line.slots[uint32_t(step)][c] = recordOf(row, i);
    else if (step == Step::NotRecorded)
      ++NotRecorded;
    else if (step == Step::AskTheCore)
      return lanesOf(row, i, i + 1);
    return 0;
  }
  // Explicit vectors: the compiler does not find them in loops over a part of a line.
  typedef uint64_t LineSlots __attribute__((vector_size(8 * CellLine::kCells)));
  static constexpr LineSlots kIota = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  /// All ones for cells [first, first + n) of a line.
  [[gnu::always_inline]] static inline LineSlots partMask(uint32_t first, uint32_t n) {
    return LineSlots(kIota - uint64_t(first) < uint64_t(n));
  }
  /// Do cells [at, at + n), which lie in one line, differ in nothing that decides the step?
  [[gnu::always_inline]] inline bool alike(uint32_t at, uint32_t n) const {
    const CellLine &line = Lines[at / CellLine::kCells];
    const uint32_t c = at % CellLine::kCells;
    LineSlots differs = {};
    for (uint32_t k = 0; k < core::kSlotsPerCell; ++k) {
      LineSlots v;
      __builtin_memcpy(&v, line.slots[k], sizeof(v));
      differs |= v ^ line.slots[k][c];
    }
    if (n != CellLine::kCells)
      differs &= partMask(c, n);
    return !(__builtin_reduce_or(differs) & kDecides);
  }
  /// Granules [done, done + n) of the row, whose cells are alike.
  [[gnu::always_inline]] inline LaneMask part(const Row &row, uint32_t done, uint32_t n) {
    CellLine &line = Lines[(row.first + done) / CellLine::kCells];
    const uint32_t c = (row.first + done) % CellLine::kCells;
    const Step step = stepOf({line.slots[0][c], line.slots[1][c], line.slots[2][c], line.slots[3][c]});
    if (step < Step::Nothing) {
      uint64_t *slots = line.slots[uint32_t(step)];
      const LineSlots lanes = ((kIota + uint64_t(done) - uint64_t(c)) >> uint64_t(row.laneShift)) + uint64_t(row.lane);
      LineSlots fresh = lanes * kLaneUnit | Record;
      if (n != CellLine::kCells) {
        LineSlots old;
        __builtin_memcpy(&old, slots, sizeof(old));
        const LineSlots mask = partMask(c, n);
        fresh = (fresh & mask) | (old & ~mask);
      }
      __builtin_memcpy(slots, &fresh, sizeof(fresh));
    } else if (step == Step::NotRecorded)
      NotRecorded += n;
    else if (step == Step::AskTheCore)
      return lanesOf(row, done, done + n);
    return 0;
  }

  CellLine *Lines;
  uint32_t Granules; ///< that lie wholly in LDS
  const core::Accessor A;
  const uint32_t *Floors;
  WorkgroupShadow::Floors::Steps &Known;
  uint64_t Record; ///< of lane 0
  uint64_t NotRecorded = 0;
};

/// Lanes are looked at in groups, as the engine does for its loads: the usual shapes are 16 lanes that touch one
/// address or consecutive ones.
constexpr uint32_t kGroup = 16;
typedef uint32_t GroupAddresses __attribute__((vector_size(4 * kGroup)));
constexpr GroupAddresses kGroupIota = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
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

/// Settles what it can of an access of `size` bytes and returns the lanes that the core must look at.
[[gnu::always_inline]] inline LaneMask settleRows(RowCheck &rows, LaneMask exec, const uint32_t *address, uint32_t size,
                                                  uint32_t shift) {
  // Lanes can share a row if each touches whole granules, a power of two of them.
  const uint32_t each = size >> shift;
  const bool whole = each << shift == size && std::has_single_bit(each);
  const uint32_t laneShift = whole ? uint32_t(std::countr_zero(each)) : kOneLane;
  const auto aligned = [&](uint32_t a) { return (a & ((1u << shift) - 1)) == 0; };
  const GroupAddresses steps = kGroupIota * size;
  const GroupShape wave = exec == ~LaneMask(0)  ? shapeOf(address, 4, size, steps)
                          : exec == 0xffffffffu ? shapeOf(address, 2, size, steps)
                                                : GroupShape::Other;
  LaneMask open = 0, openOfLast = 0;
  GroupShape last = GroupShape::Other;
  uint32_t lastAddress = 0;
  constexpr LaneMask all = (LaneMask(1) << kGroup) - 1;
  for (uint32_t g = 0; g < 64; g += kGroup) {
    LaneMask rest = exec >> g & all;
    if (!rest)
      continue;
    GroupShape shape = wave;
    if (shape == GroupShape::Other && rest == all)
      shape = shapeOf(address + g, 1, size, steps);
    if (shape == GroupShape::Consecutive && !(whole && aligned(address[g])))
      shape = GroupShape::Other;
    // A group that repeats the one before it finds all that it does recorded.
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
      openOfLast |= shape == GroupShape::Uniform && unsettled ? all : unsettled;
      rest = shape == GroupShape::Other ? rest & (rest - 1) : 0;
    } while (rest);
    open |= openOfLast << g;
  }
  return open;
}

// The loops over lanes and cells are worth vector instructions where the processor has them.
using Settle = LaneMask (*)(RowCheck &, LaneMask, const uint32_t *, uint32_t size, uint32_t shift);
LaneMask settlePortable(RowCheck &rows, LaneMask exec, const uint32_t *address, uint32_t size, uint32_t shift) {
  return settleRows(rows, exec, address, size, shift);
}
#if defined(__x86_64__)
[[gnu::target("avx2,bmi,bmi2")]] LaneMask settleAvx2(RowCheck &rows, LaneMask exec, const uint32_t *address,
                                                     uint32_t size, uint32_t shift) {
  return settleRows(rows, exec, address, size, shift);
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
  const core::Accessor a = accessorOf(s, wave.wave, info, site);
  LaneMask open = exec; // lanes that the core must look at
  if (size != 0 && a.generation <= core::Slot::kMaxGeneration) {
    RowCheck rows(s, a, floorsOf(s, wave.wave));
    open = settle(rows, exec, address, size, s.context->granuleLog2);
    if (rows.notRecorded())
      HostPlatform(s, wave, site, info, variable).evicted(a.wave, a.generation, rows.notRecorded());
    if (open == 0)
      return;
  }
  checkLanes(s, wave, open, address, [&](unsigned) { return uint64_t(size); }, info, site, variable, a);
}

} // namespace wavesan::cpu
