// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a kernel may wait, while it runs, for something that the host does. Kernel replay cannot run such a kernel
// twice: memory is as before the first pass, and the host has done its part (docs/replay.md).
#ifndef WAVESAN_PASS_HOSTWAITS_H
#define WAVESAN_PASS_HOSTWAITS_H

namespace llvm {
class Function;
} // namespace llvm

namespace wavesan {

/// Of a twin, before its hooks: in a circle of blocks it looks at memory outside of its workgroup as one does at what
/// the host may change: by an atomic load of system scope or a volatile load; or by an exchange of system scope whose
/// new (of a compare-exchange: expected) value is the same in each round, as in a lock. A loop that updates a value by
/// compare-exchanges is none of these.
bool mayWaitForHost(const llvm::Function &Twin);

} // namespace wavesan

#endif // WAVESAN_PASS_HOSTWAITS_H
