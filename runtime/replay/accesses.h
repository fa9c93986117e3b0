// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the dispatch touches, for a graph that it is a node of: this program stands where the HIP interposer would.
#ifndef WAVESAN_REPLAY_ACCESSES_H
#define WAVESAN_REPLAY_ACCESSES_H

#include <string>

namespace wavesan::replay {

/// Once the HSA tool has ended. Lines: "r BEGIN END BITS", "p ADDRESS RELEASES ACQUIRES", and at last "known", or
/// "unknown" if that is not all. False: it cannot be written.
bool writeAccesses(const std::string &path);

} // namespace wavesan::replay

#endif // WAVESAN_REPLAY_ACCESSES_H
