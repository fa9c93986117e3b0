// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Notes which chunks of a snapshot's memory are written (abi/touch_map.h; docs/replay.md, "Touched chunks").
//
// A note is a plain store of the constant 1 into a byte. No atomic is needed: everybody who stores there stores the
// same, nobody of the device reads it, and a store of one byte leaves its neighbours alone, in caches too, which keep
// track of what has been written by the byte. The host reads the bytes behind the dispatch, whose end makes them
// visible as it does the program's own stores.
#ifndef WAVESAN_DEVICE_TOUCH_H
#define WAVESAN_DEVICE_TOUCH_H

#include "platform_amdgcn.h"
#include "wavesan/abi/touch_map.h"

namespace wavesan::device {

/// The context of a wave, by the offset of its record.
WAVESAN_INLINE const Global<abi::DispatchContext> *contextOfRecord(uint32_t recordOffset) {
  const Shape shape(uniform(ldsAt<abi::WaveRecord>(recordOffset)->shape));
  return contextOf(uniform(ldsAt<abi::WorkgroupState>(shape.stateOffset())->context));
}

WAVESAN_INLINE bool hasDelays(uint32_t recordOffset) { return uniform(contextOfRecord(recordOffset)->delays) != 0; }

/// `size` bytes from `address` on, lane by lane, are about to be written; ~0: that many or more.
WAVESAN_INLINE void noteWrite(uint32_t recordOffset, uint64_t address, uint32_t size) {
  const uint64_t at = uniform(contextOfRecord(recordOffset)->touchMap);
  if (at == 0)
    return;
  const auto *map = globalAt<const abi::TouchMap>(at);
  const auto *regions = globalAt<const abi::TouchRegion>(uniform(map->regions));
  const uint32_t count = uniform(map->regionCount);
  const uint64_t end = size == ~0u ? uint64_t(1) << 63 : address + size;
  // Region by region, in all lanes that are at it: mostly one, found by the scalar unit.
#pragma clang loop unroll(disable)
  while (address < end) {
    const uint64_t one = uniform(address);
    // The first that ends behind the address.
    uint32_t first = 0, last = count;
#pragma clang loop unroll(disable)
    while (first < last) {
      const uint32_t middle = (first + last) / 2;
      if (uniform(regions[middle].begin) + uniform(regions[middle].bytes) > one)
        last = middle;
      else
        first = middle + 1;
    }
    uint64_t begin = ~uint64_t(0), behind = begin, bytes = 0; // nothing is behind it
    if (first < count) {
      begin = uniform(regions[first].begin);
      behind = begin + uniform(regions[first].bytes);
      bytes = uniform(regions[first].chunks);
    }
    if (address >= one && address < behind) { // of these lanes it is the first, too
      const uint64_t stop = end < behind ? end : behind;
      auto *chunks = globalAt<uint8_t>(bytes);
      uint64_t chunk = (address > begin ? address - begin : 0) >> abi::kTouchChunkLog2;
      if (stop > begin) {
        const uint64_t lastChunk = (stop - begin - 1) >> abi::kTouchChunkLog2;
#pragma clang loop unroll(disable)
        do
          chunks[chunk] = 1;
        while (chunk++ != lastChunk);
      }
      address = stop;
    }
  }
}

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_TOUCH_H
