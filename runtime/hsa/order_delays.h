// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The delays that bring two accesses of a dispatch into one order, under a seed: pure arithmetic.
#ifndef WAVESAN_HSA_ORDER_DELAYS_H
#define WAVESAN_HSA_ORDER_DELAYS_H

#include "wavesan/abi/delays.h"
#include "wavesan/abi/replay.h"

namespace wavesan::hsa {

/// `preferFirst`: the wave of `first` does everything else early, else late.
abi::Delays delaysFor(uint64_t seed, bool preferFirst, const abi::Schedule::Side &first,
                      const abi::Schedule::Side &second);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_ORDER_DELAYS_H
