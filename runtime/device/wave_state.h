// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wave's private state in the device runtime, set by KernelBegin. Where the hooks are inlined it lives in registers,
// for as long as the kernel runs, so it is little: what a check needs is in LDS (abi::WaveRecord). So is what changes
// at fences and barriers: in divergent code a register would hold one value per lane.
#ifndef WAVESAN_DEVICE_WAVE_STATE_H
#define WAVESAN_DEVICE_WAVE_STATE_H

#include "wavesan/abi/dispatch.h"

namespace wavesan::device {

/// Small constants of a wave in one word.
struct Shape {
  uint32_t bits;
  constexpr explicit Shape(uint32_t bits) : bits(bits) {}
  /// stateOffset: LDS byte offset of the WorkgroupState, a multiple of 16; ofReplay: the dispatch has abi::Delays or an
  /// abi::TouchMap; waves: that it has records for.
  constexpr Shape(uint32_t granuleLog2, uint32_t wave, bool cellsInLds, uint32_t stateOffset, bool ofReplay,
                  uint32_t waves)
      : bits(granuleLog2 | wave << 2 | uint32_t(cellsInLds) << 7 | (stateOffset / 16) << 8 | uint32_t(ofReplay) << 25 |
             waves << 26) {}
  constexpr uint32_t granuleLog2() const { return bits & 3u; }
  constexpr uint32_t wave() const { return (bits >> 2) & 31u; } ///< index in the workgroup
  constexpr bool cellsInLds() const { return ((bits >> 7) & 1u) != 0; }
  constexpr uint32_t stateOffset() const { return ((bits >> 8) & 0x1ffffu) * 16; }
  constexpr bool ofReplay() const { return ((bits >> 25) & 1u) != 0; }
  constexpr uint32_t waves() const { return bits >> 26; } ///< that the workgroup has records for
  constexpr uint32_t ldsCells() const { return stateOffset() + abi::workgroupStateBytes(waves()); }
};
static_assert(abi::kMaxWavesPerWorkgroup <= 32);

/// What an access is, in one word: its site and what it does. Atomics are those that exclude other waves.
struct Operation {
  static constexpr uint32_t kNarrow = 1u << 31;
  uint32_t bits;
  constexpr explicit Operation(uint32_t bits) : bits(bits) {}
  /// Of an access to global memory: also whether it is an atomic that reaches the workgroup only.
  static constexpr Operation global(uint32_t site, uint32_t info) {
    const bool atomic = abi::atomicInWorkgroup(info);
    return Operation(Operation(site, info).bits |
                     (atomic && abi::atomicScope(info) < abi::Scope::Agent ? kNarrow : 0u));
  }
  constexpr bool narrow() const { return (bits & kNarrow) != 0; }
  constexpr Operation(uint32_t site, uint32_t info)
      : bits(site | (abi::accessBits(info) & ~(abi::atomicInWorkgroup(info) ? 0u : uint32_t(abi::kAccessAtomic)))
                        << 24) {}
  constexpr uint32_t site() const { return bits & 0xffffffu; }
  constexpr uint32_t access() const { return (bits >> 24) & 0x7fu; } ///< abi::AccessBits
  constexpr bool write() const { return (access() & abi::kAccessWrite) != 0; }
  constexpr bool atomic() const { return (access() & abi::kAccessAtomic) != 0; }
};

struct WaveState {
  uint64_t context;   ///< address of the DispatchContext
  uint32_t record;    ///< LDS byte offset of the wave's WaveRecord
  uint32_t laneCount; ///< lanes of this wave that exist
  uint32_t waveCount; ///< waves of this workgroup
};
static_assert(sizeof(WaveState) <= abi::kWaveStateBytes && alignof(WaveState) <= abi::kWaveStateAlign);

} // namespace wavesan::device

#endif // WAVESAN_DEVICE_WAVE_STATE_H
