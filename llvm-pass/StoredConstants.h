// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores whose bytes are the same in every execution, whoever executes them: two that store the same may come in either
// order (abi::SiteEntry::stored).
#ifndef WAVESAN_PASS_STOREDCONSTANTS_H
#define WAVESAN_PASS_STOREDCONSTANTS_H

#include "AccessCollection.h"
#include "SyncCollection.h"

#include <string>
#include <vector>

namespace llvm {
class PostDominatorTree;
}

namespace wavesan {

/// For each access of a twin, the bytes that it stores as SiteEntry::stored describes them; empty where they are not known,
/// where it does more than store, and where the wave may write other bytes to the same place before its next barrier: a record
/// of one of a wave's writes stands for those of its others, so what differs must not hide behind it.
std::vector<std::string> storedConstants(llvm::Function &Twin, llvm::ArrayRef<Access> Accesses, const SyncChoice &Sync,
                                         const llvm::PostDominatorTree &Always);

} // namespace wavesan

#endif // WAVESAN_PASS_STOREDCONSTANTS_H
