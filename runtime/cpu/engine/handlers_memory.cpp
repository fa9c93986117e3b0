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

// Lanes are looked at in groups of 16: tiles of 16 and 32 elements are the most common shape, and a group that reads
// one address or consecutive ones needs no lane-by-lane access.
constexpr uint32_t kGroup = 16;

/// The addresses of a group as one vector; the compiler makes of it what the instruction set has.
template <class A> struct GroupOf;
template <> struct GroupOf<uint32_t> {
  typedef uint32_t Vector __attribute__((vector_size(4 * kGroup)));
  static constexpr Vector kIota = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
};
template <> struct GroupOf<uint64_t> {
  typedef uint64_t Vector __attribute__((vector_size(8 * kGroup)));
  static constexpr Vector kIota = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
};

template <class T, class A> struct GroupShape {
  bool uniform, consecutive;
  [[gnu::always_inline]] explicit GroupShape(const A *address) {
    using G = GroupOf<A>;
    typename G::Vector v;
    __builtin_memcpy(&v, address, sizeof(v));
    const typename G::Vector distance = v - address[0];
    uniform = !__builtin_reduce_or(distance);
    consecutive = !uniform && !__builtin_reduce_or(distance ^ (G::kIota * A(sizeof(T))));
  }
};

[[gnu::always_inline]] inline void *hostPointer(uint64_t address) { return reinterpret_cast<void *>(address); }

/// All lanes load `n` consecutive elements; `base` is the host address of offset 0.
template <class T, class A>
[[gnu::always_inline]] inline void loadAll(const Wave &w, T *d, const A *address, uint64_t base, uint32_t n) {
  const uint32_t lanes = w.lanes;
  for (uint32_t g = 0; g < lanes; g += kGroup) {
    const A *a = address + g;
    const GroupShape<T, A> shape(a);
    for (uint32_t k = 0; k < n; ++k) {
      T *to = d + k * lanes + g;
      const uint64_t from = base + k * sizeof(T);
      if (shape.consecutive) {
        __builtin_memcpy(to, hostPointer(from + a[0]), kGroup * sizeof(T));
      } else if (shape.uniform) {
        const T value = loadUnaligned<T>(hostPointer(from + a[0]));
        for (uint32_t i = 0; i < kGroup; ++i)
          to[i] = value;
      } else {
        for (uint32_t i = 0; i < kGroup; ++i)
          to[i] = loadUnaligned<T>(hostPointer(from + a[i]));
      }
    }
  }
}
template <class T, class A>
[[gnu::always_inline]] inline void storeAll(const Wave &w, const T *b, const A *address, uint64_t base, uint32_t n) {
  const uint32_t lanes = w.lanes;
  for (uint32_t g = 0; g < lanes; g += kGroup) {
    const A *a = address + g;
    const GroupShape<T, A> shape(a);
    for (uint32_t k = 0; k < n; ++k) {
      const T *from = b + k * lanes + g;
      const uint64_t to = base + k * sizeof(T);
      if (shape.consecutive && n == 1)
        __builtin_memcpy(hostPointer(to + a[0]), from, kGroup * sizeof(T));
      else
        for (uint32_t i = 0; i < kGroup; ++i)
          storeUnaligned<T>(hostPointer(to + a[i]), from[i]);
    }
  }
}

/// True if every lane of a full wave may access its address.
[[gnu::always_inline]] inline bool checkFlatAll(const Wave &w, const uint64_t *address, uint64_t offset) {
  uint64_t bad = 0;
  const uint32_t lanes = w.lanes;
  __builtin_assume(lanes % 32 == 0);
  for (uint32_t i = 0; i < lanes; ++i)
    bad |= flatBadness(address[i] + offset);
  return !isBadFlat(bad);
}

template <class T> void loadFlat(Wave &w, const Op &o) {
  const uint64_t *address = w.at<uint64_t>(o.a);
  T *d = w.at<T>(o.d);
  if (w.exec == w.allLanes) {
    if (!checkFlatAll(w, address, o.imm))
      return raiseFlat(w, o, address);
    loadAll(w, d, address, o.imm, o.n);
  } else {
    if (!checkFlatLanes(w, address, o.imm))
      return raiseFlat(w, o, address);
    for (uint32_t k = 0; k < o.n; ++k)
      forEachLane(w.exec, [&](uint32_t i) {
        d[k * w.lanes + i] = loadUnaligned<T>(reinterpret_cast<const void *>(address[i] + o.imm + k * sizeof(T)));
      });
  }
  w.tick();
}

template <class T> void storeFlat(Wave &w, const Op &o) {
  const uint64_t *address = w.at<uint64_t>(o.a);
  const T *b = w.at<T>(o.b);
  if (w.exec == w.allLanes) {
    if (!checkFlatAll(w, address, o.imm))
      return raiseFlat(w, o, address);
    storeAll(w, b, address, o.imm, o.n);
  } else {
    if (!checkFlatLanes(w, address, o.imm))
      return raiseFlat(w, o, address);
    for (uint32_t k = 0; k < o.n; ++k)
      forEachLane(w.exec, [&](uint32_t i) {
        storeUnaligned<T>(reinterpret_cast<void *>(address[i] + o.imm + k * sizeof(T)), b[k * w.lanes + i]);
      });
  }
  w.tick();
}

template <class T> void loadLds(Wave &w, const Op &o) {
  const uint32_t *address = w.at<uint32_t>(o.a);
  T *d = w.at<T>(o.d);
  if (!checkSegment(w, address, o.imm + o.n * sizeof(T), w.ldsBytes))
    return raiseSegment(w, o, address, o.imm + o.n * sizeof(T), w.ldsBytes, Space::Lds);
  const uint8_t *base = w.lds + o.imm;
  if (w.exec == w.allLanes)
    loadAll(w, d, address, reinterpret_cast<uint64_t>(base), o.n);
  else
    for (uint32_t k = 0; k < o.n; ++k)
      forEachLane(w.exec, [&](uint32_t i) { d[k * w.lanes + i] = loadUnaligned<T>(base + address[i] + k * sizeof(T)); });
  w.tick();
}

template <class T> void storeLds(Wave &w, const Op &o) {
  const uint32_t *address = w.at<uint32_t>(o.a);
  const T *b = w.at<T>(o.b);
  if (!checkSegment(w, address, o.imm + o.n * sizeof(T), w.ldsBytes))
    return raiseSegment(w, o, address, o.imm + o.n * sizeof(T), w.ldsBytes, Space::Lds);
  uint8_t *base = w.lds + o.imm;
  if (w.exec == w.allLanes)
    storeAll(w, b, address, reinterpret_cast<uint64_t>(base), o.n);
  else
    for (uint32_t k = 0; k < o.n; ++k)
      forEachLane(w.exec, [&](uint32_t i) { storeUnaligned<T>(base + address[i] + k * sizeof(T), b[k * w.lanes + i]); });
  w.tick();
}

// Private memory: each lane has its own; no other wave can see it, so no switch follows.
template <class T> void loadPrivate(Wave &w, const Op &o) {
  const uint32_t *address = w.at<uint32_t>(o.a);
  T *d = w.at<T>(o.d);
  if (!checkSegment(w, address, o.imm + o.n * sizeof(T), w.scratchStride))
    return raiseSegment(w, o, address, o.imm + o.n * sizeof(T), w.scratchStride, Space::Private);
  for (uint32_t k = 0; k < o.n; ++k) {
    const uint8_t *base = w.scratch + o.imm + k * sizeof(T);
    forEachLane(w.exec, [&](uint32_t i) {
      d[k * w.lanes + i] = loadUnaligned<T>(base + uint64_t(i) * w.scratchStride + address[i]);
    });
  }
}

template <class T> void storePrivate(Wave &w, const Op &o) {
  const uint32_t *address = w.at<uint32_t>(o.a);
  const T *b = w.at<T>(o.b);
  if (!checkSegment(w, address, o.imm + o.n * sizeof(T), w.scratchStride))
    return raiseSegment(w, o, address, o.imm + o.n * sizeof(T), w.scratchStride, Space::Private);
  for (uint32_t k = 0; k < o.n; ++k) {
    uint8_t *base = w.scratch + o.imm + k * sizeof(T);
    forEachLane(w.exec, [&](uint32_t i) {
      storeUnaligned<T>(base + uint64_t(i) * w.scratchStride + address[i], b[k * w.lanes + i]);
    });
  }
}

template <class T> Handler pickLoad(Space space) {
  switch (space) {
  case Space::Flat: return loadFlat<T>;
  case Space::Lds: return loadLds<T>;
  case Space::Private: return loadPrivate<T>;
  }
  return nullptr;
}
template <class T> Handler pickStore(Space space) {
  switch (space) {
  case Space::Flat: return storeFlat<T>;
  case Space::Lds: return storeLds<T>;
  case Space::Private: return storePrivate<T>;
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
