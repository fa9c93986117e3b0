// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which registers instructions mean that choose one by an index: v_movrel*, s_movrel*, and what stands between
// s_set_gpr_idx_on and _off.
#ifndef WAVESAN_WAITCHECK_INDEXRANGES_H
#define WAVESAN_WAITCHECK_INDEXRANGES_H

#include "Program.h"

#include "llvm/ADT/DenseSet.h"

namespace wavesan::waitcheck {

/// Makes variants of the instructions between s_set_gpr_idx_on and _off, and finds the bounds of all indices, as far as
/// constants, masks, minima and the like bound them. Modes that do not end in the block in which they begin are added
/// to `notFollowed`.
void resolveIndices(IsaContext &isa, Function &f, llvm::DenseSet<uint32_t> &notFollowed);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_INDEXRANGES_H
