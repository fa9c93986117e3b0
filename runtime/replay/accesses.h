// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the dispatch touches, for a graph that it is a node of: this program stands where the HIP interposer would.
#ifndef WAVESAN_REPLAY_ACCESSES_H
#define WAVESAN_REPLAY_ACCESSES_H

#include <cstdint>
#include <string>

namespace wavesan::replay {

/// Once the HSA tool has ended. Lines: "r BEGIN END BITS", "p ADDRESS RELEASES ACQUIRES", and at last "known", or
/// "unknown" if that is not all. Addresses of variables are as they were in the recorded process: the code object, of
/// `bytes`, lies at `base` and lay at `recordedBase`. False: it cannot be written.
bool writeAccesses(const std::string &path, uint64_t base, uint64_t bytes, uint64_t recordedBase);

} // namespace wavesan::replay

#endif // WAVESAN_REPLAY_ACCESSES_H
