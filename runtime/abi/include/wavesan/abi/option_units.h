// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What numbers of options stand for, whatever the user has written: nothing wraps around. Host only.
#ifndef WAVESAN_ABI_OPTION_UNITS_H
#define WAVESAN_ABI_OPTION_UNITS_H

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace wavesan::abi {

/// Of an option in MiB. More than there are bytes is all of them.
constexpr uint64_t bytesOfMebibytes(uint64_t mebibytes) {
  return mebibytes > UINT64_MAX >> 20 ? UINT64_MAX : mebibytes << 20;
}

/// Of an option in seconds. A hundred years at most, which clocks can still count in nanoseconds from now.
constexpr std::chrono::seconds secondsOf(uint64_t seconds) {
  return std::chrono::seconds(std::min<uint64_t>(seconds, uint64_t(100) * 365 * 24 * 60 * 60));
}

} // namespace wavesan::abi

#endif // WAVESAN_ABI_OPTION_UNITS_H
