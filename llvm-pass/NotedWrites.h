// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the hooks of a twin hear of every write that it can make outside of its workgroup (abi/touch_map.h).
#ifndef WAVESAN_PASS_NOTEDWRITES_H
#define WAVESAN_PASS_NOTEDWRITES_H

#include "AccessCollection.h"

namespace wavesan {

/// Of one function, before its hooks, without what it calls. `Choice`: the accesses that get hooks. A missed write is a
/// wrong result of a replay, so true only for instructions that are known: what is not on a list counts as a write of
/// anything. Not noted although they are checked: buffer stores and asynchronous copies out of LDS.
bool notesEachWrite(const llvm::Function &F, const AccessChoice &Choice, LdsArgumentList LdsArguments,
                    const GpuTarget &Target);

} // namespace wavesan

#endif // WAVESAN_PASS_NOTEDWRITES_H
