// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instrument: emits the access hooks.
#ifndef WAVESAN_PASS_ACCESSINSTRUMENTATION_H
#define WAVESAN_PASS_ACCESSINSTRUMENTATION_H

#include "AccessCollection.h"
#include "Hooks.h"

namespace wavesan {

/// Inserts the hook calls of one access immediately before it and records its site.
void instrumentAccess(const Access &A, const GpuTarget &Target, llvm::Value *State, HookEmitter &Hooks,
                      SiteRecorder &Sites);

} // namespace wavesan

#endif // WAVESAN_PASS_ACCESSINSTRUMENTATION_H
