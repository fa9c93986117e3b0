// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wave's private state in the device runtime: constants of the dispatch and of the wave, set by KernelBegin. Where
// the hooks are inlined it lives in registers. What changes at fences and barriers is in LDS (abi::WaveRecord): in
// divergent code a register would hold one value per lane.
#ifndef WAVESAN_DEVICE_WAVE_STATE_H
#define WAVESAN_DEVICE_WAVE_STATE_H

#include "wavesan/abi/dispatch.h"

namespace wavesan::device {

struct WaveState {
  uint64_t context;     ///< address of the DispatchContext
  uint64_t cells;       ///< first cell: global address, or LDS byte offset where cellsInLds
  uint32_t cellsInLds;
  uint32_t stateOffset; ///< LDS byte offset of the WorkgroupState
  uint32_t ldsBytes;    ///< bytes of LDS that have cells
  uint32_t granuleLog2;
  uint32_t wave;       ///< index in the workgroup
  uint32_t laneCount;  ///< lanes of this wave that exist
  uint32_t waveCount;  ///< waves of this workgroup
  uint32_t checked;    ///< access operations that this lane counted for its wave
  uint32_t overflowed; ///< accesses not recorded because the generation is exhausted
  uint32_t outside;    ///< accesses beyond ldsBytes
};
static_assert(sizeof(WaveState) <= abi::kWaveStateBytes && alignof(WaveState) <= abi::kWaveStateAlign);

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_WAVE_STATE_H
