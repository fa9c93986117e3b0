// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the device runtime's memory for checking global memory is laid out: pure arithmetic on sizes.
#ifndef WAVESAN_HSA_GLOBAL_PLAN_H
#define WAVESAN_HSA_GLOBAL_PLAN_H

#include "wavesan/abi/dispatch.h"
#include "wavesan/abi/global_memory.h"
#include "wavesan/abi/replay.h"

#include <optional>

namespace wavesan::hsa {

/// Numbers of the waves of a dispatch.
struct GlobalShape {
  uint32_t waveBits = 0;
  uint32_t waves = 0; ///< numbers below this one exist
  uint32_t generationBits = 0;
  abi::ShadowWindow window{0, uint64_t(1) << abi::kAddressBits}; ///< what is recorded; not empty
};

/// From the context's sizes. None if a slot cannot hold a number and a generation of so many workgroups.
std::optional<GlobalShape> globalShape(const abi::DispatchContext &context);

/// With less there is no check.
inline constexpr uint64_t kLeastGlobalBytes = uint64_t(1) << 16;

/// A power of two that suffices for a program with so much memory on the device, if the dispatch touches all of it.
uint64_t globalBytesWanted(const GlobalShape &shape, uint64_t programBytes);

/// Lays out a block of `bytes` at `address` for one dispatch, which no other one of the block shares the stamp with
/// (1 to kMaxStamp). False if it is too small.
bool layOut(const GlobalShape &shape, uint64_t bytes, uint64_t address, uint32_t stamp, abi::GlobalMemory &out);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_GLOBAL_PLAN_H
