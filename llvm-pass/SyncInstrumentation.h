// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instrument: emits the hooks of barriers, fences, waits and of the beginning and end of a twin.
#ifndef WAVESAN_PASS_SYNCINSTRUMENTATION_H
#define WAVESAN_PASS_SYNCINSTRUMENTATION_H

#include "Hooks.h"
#include "SyncCollection.h"

namespace wavesan {

/// Inserts the hook of one point and, for barriers, records its site. Access hooks of the same instruction must be
/// inserted after this, so that a release half comes before them.
void instrumentSync(const SyncPoint &Point, llvm::Value *State, HookEmitter &Hooks, SiteRecorder &Sites);

/// A hook in front of `I` that counts vector memory instructions. `Info`: abi::issuedInfo().
void instrumentIssued(llvm::Instruction &I, uint32_t Info, llvm::Value *State, HookEmitter &Hooks);

/// Calls the begin hook behind the allocas of a twin's entry block, which are gathered at its top: hooks are inlined
/// later, and an alloca behind their control flow would be a dynamic one.
void instrumentBegin(llvm::Function &Twin, llvm::Value *State, llvm::Value *Context, HookEmitter &Hooks);

} // namespace wavesan

#endif // WAVESAN_PASS_SYNCINSTRUMENTATION_H
