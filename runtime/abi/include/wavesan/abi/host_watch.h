// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between host code that the plugin has instrumented (-wavesan-check-host) and the HIP interposer.
#ifndef WAVESAN_ABI_HOST_WATCH_H
#define WAVESAN_ABI_HOST_WATCH_H

#include "wavesan/abi/hooks.h"

#include <cstdint>

namespace wavesan::abi {

/// Beside AccessBits: the ordering of an atomic of the host, whose scope is the system.
enum HostAccessBits : uint32_t { kHostAcquire = 0x100, kHostRelease = 0x200 };
/// The upper half is a hash of the source position, not 0 where it is known: copies of one access have the same.
inline constexpr uint32_t kHostPositionShift = 16;

/// One for each instrumented executable and library.
struct HostWatch {
  const uint32_t *busy; ///< not 0 while a command may be under way that the host has not waited for
  void (*access)(const void *address, uint64_t bytes, uint32_t accessBits); ///< to be called then, before the access
};

/// `void wavesan_host_watch(HostWatch *)`, exported by the interposer: fills it in. Called when the module is loaded.
inline constexpr char kHostWatchSymbol[] = "wavesan_host_watch";

} // namespace wavesan::abi

#endif // WAVESAN_ABI_HOST_WATCH_H
