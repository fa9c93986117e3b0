// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a wave knows of the other waves of its workgroup through atomics on LDS (abi/lds_order.h), for whoever asks.
// lds_order.h says how it comes to know it.
#ifndef WAVESAN_DEVICE_LDS_VIEW_H
#define WAVESAN_DEVICE_LDS_VIEW_H

#include "platform_amdgcn.h"
#include "wavesan/abi/lds_order.h"

namespace wavesan::device {

/// The LdsOrder of a workgroup. A row has two bounds for each wave: 2 * wave of LDS, 2 * wave + 1 of global memory.
struct LdsTable {
  uint64_t order = 0; ///< address; 0: there is none
  uint32_t waves = 0; ///< that rows have bounds for

  LdsTable() = default;
  WAVESAN_INLINE explicit LdsTable(Shape shape)
      : order(uniform(ldsAt<abi::WorkgroupState>(shape.stateOffset())->ldsOrder)), waves(shape.waves()) {}
  WAVESAN_INLINE bool there() const { return order != 0; }
  WAVESAN_INLINE Global<abi::LdsOrder> *head() const { return globalAt<abi::LdsOrder>(order); }
  WAVESAN_INLINE Global<uint32_t> *row(abi::LdsRow kind, uint32_t wave) const {
    return globalAt<uint32_t>(order + sizeof(abi::LdsOrder)) + (wave * abi::kLdsRowsOfWave + kind) * 2 * waves;
  }
  WAVESAN_INLINE Global<uint32_t> *flagRow(uint32_t flag) const {
    return row(abi::LdsRow(0), waves) + flag * 2 * waves;
  }
  static WAVESAN_INLINE uint32_t bucket(uint32_t cell) { return (cell * 0x9e3779b9u) >> 24; }
};
static_assert(abi::kLdsLossBuckets == 256);

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_LDS_VIEW_H
