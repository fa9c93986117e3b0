// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How another library of this build takes calls in HIP's place: what a recording makes nodes of (runtime/graph).
#ifndef WAVESAN_HIP_CALL_HOOK_H
#define WAVESAN_HIP_CALL_HOOK_H

#include "call_arguments.h"

#include "wavesan/abi/stream_check.h"

namespace wavesan::hip {

/// Must live as long as the process: a call may be under way when another hook is set.
struct CallHook {
  uint32_t version; ///< abi::kAbiVersion
  /// True: the call has been taken, and `result` is what the program gets. Then it is no call of HIP: neither traces
  /// nor the check of stream order see it. Not called for calls that HIP makes itself. May call HIP, which it is then
  /// called for again. Must not throw.
  bool (*take)(CallId id, const CallArguments &arguments, int &result);
};

} // namespace wavesan::hip

/// From here on calls go through the hook; null: no longer. False: the versions differ, nothing has changed. Exported
/// by libwavesan-hip.so. Thread-safe.
extern "C" bool wavesan_hip_hook(const wavesan::hip::CallHook *hook);

/// `ending` is called before hipStreamDestroy, which may fail; null: nothing is. Thread-safe.
extern "C" void wavesan_hip_stream_hook(void (*ending)(wavesan::hip::Stream));

/// The code of the library that sets hooks: reports name who called it. From here on it may ask
/// wavesan_hip_node_accesses, for which what kernels touch is kept.
extern "C" void wavesan_hip_own_code(const void *begin, const void *end);

/// What a kernel node of one of HIP's graphs touched when the same launch (kernel, shape, arguments) ran last: calls
/// `run` and `place` for all of it. `exec`: an executable graph, as which the node may have been changed; or null.
/// False: not known, as outside of `wavesan run`. Thread-safe.
struct WavesanNodeAccesses {
  void *self;
  void (*run)(void *self, uint64_t begin, uint64_t end, uint8_t accessBits);
  void (*place)(void *self, const wavesan::abi::SyncPlace *place);
};
extern "C" bool wavesan_hip_node_accesses(const void *node, const void *exec, const WavesanNodeAccesses *to);

/// Calls `piece` for the bytes [begin, end), by the host's addresses where they are registered host memory at the device's.
/// Thread-safe.
extern "C" void wavesan_hip_by_host(uint64_t begin, uint64_t end, void *self,
                                    void (*piece)(void *self, uint64_t begin, uint64_t end));

/// Whether HIP itself, behind libwavesan-hip.so, has the function. Thread-safe.
extern "C" bool wavesan_hip_has(const char *symbol);

/// Prints a line as WaveSan's, where races are looked for; false: they are not. Null: prints nothing.
extern "C" bool wavesan_hip_say(const char *line);

#endif // WAVESAN_HIP_CALL_HOOK_H
