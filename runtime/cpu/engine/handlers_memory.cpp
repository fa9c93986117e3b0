// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain loads and stores of 1 to 16 bytes. Compiled for several instruction sets.
//
// Every address is judged before memory is touched: flat addresses must lie in the user half of the address space
// and not in its first pages, LDS and private offsets in their segments. Alignment does not matter.
#include "handlers_isa.h"

#include "memory_check.h"

namespace wavesan::cpu::engine::WAVESAN_ISA {
namespace {

template <class T> void loadFlat(Wave &w, const Op &o) {
  const uint64_t *address = w.at<uint64_t>(o.a);
  const uint32_t lanes = w.lanes;
  T *d = w.at<T>(o.d);
  if (w.exec == w.allLanes) {
    uint64_t bad = 0, spread = 0, gaps = 0;
    const uint64_t first = address[0];
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < lanes; ++i) {
      bad |= flatBadness(address[i] + o.imm);
      spread |= address[i] ^ first;
      gaps |= address[i] ^ (first + i * sizeof(T));
    }
    if (isBadFlat(bad))
      return raiseFlat(w, o, address);
    for (uint32_t k = 0; k < o.n; ++k) {
      const uint64_t offset = o.imm + k * sizeof(T);
      T *dk = d + k * lanes;
      if (!spread) {
        const T value = loadUnaligned<T>(reinterpret_cast<const void *>(first + offset));
        for (uint32_t i = 0; i < lanes; ++i)
          dk[i] = value;
      } else if (!gaps) {
        __builtin_memcpy(dk, reinterpret_cast<const void *>(first + offset), lanes * sizeof(T));
      } else {
        for (uint32_t i = 0; i < lanes; ++i)
          dk[i] = loadUnaligned<T>(reinterpret_cast<const void *>(address[i] + offset));
      }
    }
  } else {
    if (!checkFlatLanes(w, address, o.imm))
      return raiseFlat(w, o, address);
    for (uint32_t k = 0; k < o.n; ++k)
      forEachLane(w.exec, [&](uint32_t i) {
        d[k * lanes + i] = loadUnaligned<T>(reinterpret_cast<const void *>(address[i] + o.imm + k * sizeof(T)));
      });
  }
  w.tick();
}

template <class T> void storeFlat(Wave &w, const Op &o) {
  const uint64_t *address = w.at<uint64_t>(o.a);
  const uint32_t lanes = w.lanes;
  const T *b = w.at<T>(o.b);
  if (w.exec == w.allLanes) {
    uint64_t bad = 0, gaps = 0;
    const uint64_t first = address[0];
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < lanes; ++i) {
      bad |= flatBadness(address[i] + o.imm);
      gaps |= address[i] ^ (first + i * sizeof(T));
    }
    if (isBadFlat(bad))
      return raiseFlat(w, o, address);
    if (!gaps && o.n == 1) {
      __builtin_memcpy(reinterpret_cast<void *>(first + o.imm), b, lanes * sizeof(T));
    } else {
      for (uint32_t k = 0; k < o.n; ++k)
        for (uint32_t i = 0; i < lanes; ++i)
          storeUnaligned<T>(reinterpret_cast<void *>(address[i] + o.imm + k * sizeof(T)), b[k * lanes + i]);
    }
  } else {
    if (!checkFlatLanes(w, address, o.imm))
      return raiseFlat(w, o, address);
    for (uint32_t k = 0; k < o.n; ++k)
      forEachLane(w.exec, [&](uint32_t i) {
        storeUnaligned<T>(reinterpret_cast<void *>(address[i] + o.imm + k * sizeof(T)), b[k * lanes + i]);
      });
  }
  w.tick();
}

// Offsets in the segment of lane i begin at base + i * stride: LDS is the case of stride 0.
template <Space space> struct Segment {
  uint8_t *base;
  uint64_t stride, size;
  [[gnu::always_inline]] explicit Segment(const Wave &w)
      : base(space == Space::Lds ? w.lds : w.scratch), stride(space == Space::Lds ? 0 : w.scratchStride),
        size(space == Space::Lds ? w.ldsBytes : w.scratchStride) {}
  [[gnu::always_inline]] uint8_t *at(uint32_t lane, uint32_t offset) const {
    return base + (space == Space::Lds ? 0 : lane * stride) + offset;
  }
};

template <Space space, class T> void loadSegment(Wave &w, const Op &o) {
  const Segment<space> segment(w);
  const uint32_t *address = w.at<uint32_t>(o.a);
  const uint32_t lanes = w.lanes;
  T *d = w.at<T>(o.d);
  if (!checkSegment(w, address, o.imm + o.n * sizeof(T), segment.size))
    return raiseSegment(w, o, address, o.imm + o.n * sizeof(T), segment.size, space);
  for (uint32_t k = 0; k < o.n; ++k) {
    const uint32_t offset = uint32_t(o.imm) + k * sizeof(T);
    if (w.exec == w.allLanes)
      for (uint32_t i = 0; i < lanes; ++i)
        d[k * lanes + i] = loadUnaligned<T>(segment.at(i, address[i] + offset));
    else
      forEachLane(w.exec,
                  [&](uint32_t i) { d[k * lanes + i] = loadUnaligned<T>(segment.at(i, address[i] + offset)); });
  }
  if constexpr (space != Space::Private)
    w.tick();
}

template <Space space, class T> void storeSegment(Wave &w, const Op &o) {
  const Segment<space> segment(w);
  const uint32_t *address = w.at<uint32_t>(o.a);
  const uint32_t lanes = w.lanes;
  const T *b = w.at<T>(o.b);
  if (!checkSegment(w, address, o.imm + o.n * sizeof(T), segment.size))
    return raiseSegment(w, o, address, o.imm + o.n * sizeof(T), segment.size, space);
  for (uint32_t k = 0; k < o.n; ++k) {
    const uint32_t offset = uint32_t(o.imm) + k * sizeof(T);
    if (w.exec == w.allLanes)
      for (uint32_t i = 0; i < lanes; ++i)
        storeUnaligned<T>(segment.at(i, address[i] + offset), b[k * lanes + i]);
    else
      forEachLane(w.exec, [&](uint32_t i) { storeUnaligned<T>(segment.at(i, address[i] + offset), b[k * lanes + i]); });
  }
  if constexpr (space != Space::Private)
    w.tick();
}

template <class T> Handler pickLoad(Space space) {
  switch (space) {
  case Space::Flat: return loadFlat<T>;
  case Space::Lds: return loadSegment<Space::Lds, T>;
  case Space::Private: return loadSegment<Space::Private, T>;
  }
  return nullptr;
}
template <class T> Handler pickStore(Space space) {
  switch (space) {
  case Space::Flat: return storeFlat<T>;
  case Space::Lds: return storeSegment<Space::Lds, T>;
  case Space::Private: return storeSegment<Space::Private, T>;
  }
  return nullptr;
}

} // namespace

Handler load(Space space, Width w) {
  switch (w) {
  case Width::B8: return pickLoad<uint8_t>(space);
  case Width::B16: return pickLoad<uint16_t>(space);
  case Width::B32: return pickLoad<uint32_t>(space);
  case Width::B64: return pickLoad<uint64_t>(space);
  case Width::B128: return pickLoad<u128>(space);
  }
  return nullptr;
}

Handler store(Space space, Width w) {
  switch (w) {
  case Width::B8: return pickStore<uint8_t>(space);
  case Width::B16: return pickStore<uint16_t>(space);
  case Width::B32: return pickStore<uint32_t>(space);
  case Width::B64: return pickStore<uint64_t>(space);
  case Width::B128: return pickStore<u128>(space);
  }
  return nullptr;
}

} // namespace wavesan::cpu::engine::WAVESAN_ISA
