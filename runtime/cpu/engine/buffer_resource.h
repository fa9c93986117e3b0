// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The buffer resource (128 bits) of gfx9 to gfx12, and the range check of an access through it, as the ISA documents
// describe them ("Buffer resource descriptor", "Range checking"). The pass emits the same calculation
// (llvm-pass/BufferAccess.cpp).
//
//   bits 0-47 base, 48-61 stride, 62-63 swizzling (gfx9 and gfx10: 63 alone), 64-95 number of records,
//   117-118 index stride, 119 thread id as index, 124-125 which check (since gfx10), 126-127 type
//
// The size that counts is in bytes or in records, which depends on the instruction and the generation.
#ifndef WAVESAN_CPU_ENGINE_BUFFER_RESOURCE_H
#define WAVESAN_CPU_ENGINE_BUFFER_RESOURCE_H

#include "lanes.h"

namespace wavesan::cpu::engine {

struct BufferResource {
  u128 bits;
  [[gnu::always_inline]] uint64_t field(unsigned first, unsigned width) const {
    return uint64_t(bits >> first) & ((uint64_t(1) << width) - 1);
  }
  uint64_t base() const { return field(0, 48); }
  uint64_t stride() const { return field(48, 14); }
  uint64_t records() const { return field(64, 32); }
  uint32_t check() const { return uint32_t(field(124, 2)); }

  /// Null, or what this engine does not execute.
  const char *unsupported(uint32_t gfxMajor, bool indexed) const {
    if (gfxMajor >= 11 ? field(62, 2) != 0 : field(63, 1) != 0)
      return "a swizzled buffer is not supported by the CPU agent";
    if (field(119, 1))
      return "a buffer resource that adds the lane number to the index is not supported by the CPU agent";
    if (field(126, 2))
      return "the resource is not that of a buffer";
    if (gfxMajor >= 10 && indexed && check() == 3 && stride() != 0)
      return "an index into a buffer that is checked by its size in bytes is not supported by the CPU agent";
    return nullptr;
  }
};

/// What an instruction says of its accesses.
struct BufferShape {
  uint32_t bytes;     ///< of one lane
  uint32_t component; ///< bytes that are in range or out of it as a whole
  uint32_t gfxMajor;
  bool indexed;       ///< struct.buffer
  uint64_t immediate; ///< added to the lane's offset
};

struct BufferPlace {
  uint64_t address;
  uint32_t inRange; ///< bytes from the address on that are accessed
};

[[gnu::always_inline]] inline BufferPlace placeInBuffer(BufferResource r, const BufferShape &s, uint32_t index,
                                                        uint32_t laneOffset, uint32_t scalarOffset) {
  constexpr uint64_t kNone = ~uint64_t(0);
  const uint64_t offset = laneOffset + s.immediate, records = r.records();
  uint64_t limit = kNone; // of the offset
  bool inside = true;
  if (s.gfxMajor == 9) {
    if (s.indexed && r.stride() != 0)
      inside = index < records;
    else
      limit = records > scalarOffset ? records - scalarOffset : 0;
  } else {
    switch (r.check()) {
    case 0:
      limit = r.stride();
      inside = index < records;
      break;
    case 1:
      inside = index < records;
      break;
    case 2:
      inside = records != 0;
      break;
    case 3:
      limit = records;
      break;
    }
  }
  uint64_t components = 0;
  if (inside && offset < limit) {
    const uint64_t room = limit - offset;
    // Up to gfx10 a component is in range if its first byte is, since gfx11 if all of it is.
    components = room / s.component + (s.gfxMajor < 11 && room % s.component != 0);
  }
  const uint64_t all = s.bytes / s.component;
  return {r.base() + scalarOffset + offset + uint64_t(index) * r.stride(),
          uint32_t(components < all ? components : all) * s.component};
}

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_BUFFER_RESOURCE_H
