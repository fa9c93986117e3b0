// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// memcpy, memset, loads and stores of odd sizes, and address space casts.
#include "handlers.h"
#include "lane_pointer.h"
#include "lanes.h"
#include "memory_ranges.h"
#include "workgroup.h"

namespace wavesan::cpu::engine {

namespace {

template <Space to, Space from, class L> void copyRun(Wave &w, const Op &o) {
  for (LaneMask rest = w.exec; rest; rest &= rest - 1) {
    const uint32_t i = uint32_t(__builtin_ctzll(rest));
    const uint64_t length = lengthOf<L>(w, o.c, i);
    if (!length)
      continue;
    if (!checkRange<to>(w, o, o.a, i, length) || !checkRange<from>(w, o, o.b, i, length))
      return;
    std::memmove(lanePointer<to>(w, o.a, i, 0), lanePointer<from>(w, o.b, i, 0), length);
  }
  w.tick();
}

template <Space to, class L> void setRun(Wave &w, const Op &o) {
  for (LaneMask rest = w.exec; rest; rest &= rest - 1) {
    const uint32_t i = uint32_t(__builtin_ctzll(rest));
    const uint64_t length = lengthOf<L>(w, o.c, i);
    if (!length)
      continue;
    if (!checkRange<to>(w, o, o.a, i, length))
      return;
    std::memset(lanePointer<to>(w, o.a, i, 0), w.at<uint8_t>(o.b)[i], length);
  }
  w.tick();
}

template <Space space, class T> void oddLoadRun(Wave &w, const Op &o) {
  if (!checkLanes<space>(w, o, o.a, o.imm, o.sub))
    return;
  T *d = w.at<T>(o.d);
  forEachLane(w.exec, [&](uint32_t i) {
    T value = 0;
    std::memcpy(&value, lanePointer<space>(w, o.a, i, o.imm), o.sub);
    d[i] = value;
  });
  w.tick();
}
template <Space space, class T> void oddStoreRun(Wave &w, const Op &o) {
  if (!checkLanes<space>(w, o, o.a, o.imm, o.sub))
    return;
  const T *b = w.at<T>(o.b);
  forEachLane(w.exec, [&](uint32_t i) { std::memcpy(lanePointer<space>(w, o.a, i, o.imm), &b[i], o.sub); });
  w.tick();
}

// A null pointer is -1 in LDS and private memory, 0 in generic memory.
constexpr uint32_t kSegmentNull = 0xffffffffu;

template <Space from> void toFlatRun(Wave &w, const Op &o) {
  const uint32_t *a = w.at<uint32_t>(o.a);
  const uint64_t base = reinterpret_cast<uint64_t>(from == Space::Lds ? w.lds : w.scratch);
  const uint64_t stride = from == Space::Lds ? 0 : w.scratchStride, lanes = w.lanes;
  mapLanes<Cost::Cheap>(w, w.at<uint64_t>(o.d), o.n, [=](uint32_t i) {
    return a[i] == kSegmentNull ? uint64_t(0) : base + (i % lanes) * stride + a[i];
  });
}
template <Space to> void fromFlatRun(Wave &w, const Op &o) {
  const uint64_t *a = w.at<uint64_t>(o.a);
  const uint64_t base = reinterpret_cast<uint64_t>(to == Space::Lds ? w.lds : w.scratch);
  const uint64_t stride = to == Space::Lds ? 0 : w.scratchStride, lanes = w.lanes;
  mapLanes<Cost::Cheap>(w, w.at<uint32_t>(o.d), o.n, [=](uint32_t i) {
    return a[i] == 0 ? kSegmentNull : uint32_t(a[i] - base - (i % lanes) * stride);
  });
}
template <Space space> void isSpaceRun(Wave &w, const Op &o) {
  const uint64_t *a = w.at<uint64_t>(o.a);
  const uint64_t base = reinterpret_cast<uint64_t>(space == Space::Lds ? w.lds : w.scratch);
  const uint64_t size = space == Space::Lds ? w.ldsAperture : uint64_t(w.scratchStride) * w.lanes;
  mapLanes<Cost::Cheap>(w, w.at<uint8_t>(o.d), 1, [=](uint32_t i) { return uint8_t(a[i] - base < size); });
}

void allocaRun(Wave &w, const Op &o) {
  const uint32_t address = w.frame->privateBase + uint32_t(o.imm);
  mapLanes<Cost::Cheap>(w, w.at<uint32_t>(o.d), 1, [=](uint32_t) { return address; });
}

template <Space to, Space from> Handler pickCopy(Width length) {
  return length == Width::B64 ? copyRun<to, from, uint64_t> : length == Width::B32 ? copyRun<to, from, uint32_t> : nullptr;
}
template <Space to> Handler pickCopy(Space from, Width length) {
  switch (from) {
  case Space::Flat: return pickCopy<to, Space::Flat>(length);
  case Space::Lds: return pickCopy<to, Space::Lds>(length);
  case Space::Private: return pickCopy<to, Space::Private>(length);
  }
  return nullptr;
}
template <Space to> Handler pickSet(Width length) {
  return length == Width::B64 ? setRun<to, uint64_t> : length == Width::B32 ? setRun<to, uint32_t> : nullptr;
}
template <Space space> Handler pickOddLoad(Width w) {
  switch (w) {
  case Width::B8: return oddLoadRun<space, uint8_t>;
  case Width::B16: return oddLoadRun<space, uint16_t>;
  case Width::B32: return oddLoadRun<space, uint32_t>;
  case Width::B64: return oddLoadRun<space, uint64_t>;
  case Width::B128: return oddLoadRun<space, u128>;
  }
  return nullptr;
}
template <Space space> Handler pickOddStore(Width w) {
  switch (w) {
  case Width::B8: return oddStoreRun<space, uint8_t>;
  case Width::B16: return oddStoreRun<space, uint16_t>;
  case Width::B32: return oddStoreRun<space, uint32_t>;
  case Width::B64: return oddStoreRun<space, uint64_t>;
  case Width::B128: return oddStoreRun<space, u128>;
  }
  return nullptr;
}

} // namespace

Handler copyMemory(Space to, Space from, Width length) {
  switch (to) {
  case Space::Flat: return pickCopy<Space::Flat>(from, length);
  case Space::Lds: return pickCopy<Space::Lds>(from, length);
  case Space::Private: return pickCopy<Space::Private>(from, length);
  }
  return nullptr;
}
Handler setMemory(Space to, Width length) {
  switch (to) {
  case Space::Flat: return pickSet<Space::Flat>(length);
  case Space::Lds: return pickSet<Space::Lds>(length);
  case Space::Private: return pickSet<Space::Private>(length);
  }
  return nullptr;
}
Handler oddLoad(Space space, Width w) {
  switch (space) {
  case Space::Flat: return pickOddLoad<Space::Flat>(w);
  case Space::Lds: return pickOddLoad<Space::Lds>(w);
  case Space::Private: return pickOddLoad<Space::Private>(w);
  }
  return nullptr;
}
Handler oddStore(Space space, Width w) {
  switch (space) {
  case Space::Flat: return pickOddStore<Space::Flat>(w);
  case Space::Lds: return pickOddStore<Space::Lds>(w);
  case Space::Private: return pickOddStore<Space::Private>(w);
  }
  return nullptr;
}
Handler castToFlat(Space from) { return from == Space::Lds ? toFlatRun<Space::Lds> : toFlatRun<Space::Private>; }
Handler castFromFlat(Space to) { return to == Space::Lds ? fromFlatRun<Space::Lds> : fromFlatRun<Space::Private>; }
Handler isSpace(Space space) { return space == Space::Lds ? isSpaceRun<Space::Lds> : isSpaceRun<Space::Private>; }
Handler allocaOp() { return allocaRun; }

} // namespace wavesan::cpu::engine
