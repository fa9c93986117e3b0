// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the program that HIP calls as commands of a stream (hipLaunchHostFunc, hipStreamAddCallback). HIP is
// given a function of ours in their place, so that what they touch is known to be theirs.
#ifndef WAVESAN_HIP_HOST_FUNCTIONS_H
#define WAVESAN_HIP_HOST_FUNCTIONS_H

#include "host_accesses.h"

#include <memory>

namespace wavesan::hip {

class StreamWatch;

/// One call of a host function. Its members belong to the watch, and are guarded by the watch's mutex from the time
/// that HIP has it.
struct HostCall {
  StreamWatch *watch = nullptr;
  streams::CommandChecker::Ticket ticket = 0;
  void *function = nullptr, *user = nullptr; ///< the program's
  streams::Clock after; ///< what the host knows once it has started
  HostAccesses accesses;
};

/// What HIP is to be given in place of the program's function and its argument: `hipHostFn_t`, or with `callback`
/// `hipStreamCallback_t`. The argument keeps the call alive until HIP has called the function, which it does once.
struct HostFunctionArguments {
  void *function, *user;
};
HostFunctionArguments stand(const std::shared_ptr<HostCall> &call, bool callback);

/// The call that the thread executes; null: none.
HostCall *currentHostCall();

/// Whether HIP has called the program's code on this thread, in a way that is not followed (host functions of graphs).
/// `hip`: an address in HIP's library. Walks the stack once for each thread.
bool calledByHip(const void *hip);

} // namespace wavesan::hip

#endif // WAVESAN_HIP_HOST_FUNCTIONS_H
