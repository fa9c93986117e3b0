// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatches that WaveSan itself runs in a window, for what it does with their races: capsules, confirmation.
#ifndef WAVESAN_HSA_WATCHED_DISPATCH_H
#define WAVESAN_HSA_WATCHED_DISPATCH_H

#include "kernel_table.h"
#include "replay_dispatch.h"

namespace wavesan::hsa {

/// Some of the options ask for dispatches of this kernel.
bool wantsWatching(const Tool &tool, const Kernel &kernel);

/// Like replayDispatch(): false if the caller has to publish the packet as usual.
bool watchDispatch(Tool &tool, QueueState &queue, const QueuedDispatch &queued, const PacketWriter &write);

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_WATCHED_DISPATCH_H
