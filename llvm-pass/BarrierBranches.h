// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The branches that decide which barrier a work-item comes to next, for reports of those who do not watch it go there: the
// device runtime knows where waves are, and the site table says where they parted.
#ifndef WAVESAN_PASS_BARRIERBRANCHES_H
#define WAVESAN_PASS_BARRIERBRANCHES_H

namespace llvm {
class Function;
}

namespace wavesan {

class SiteRecorder;

/// Adds the branches of an instrumented twin to the site table (abi::BranchEntry), where there is exactly one that can be it.
void recordBarrierBranches(const llvm::Function &Twin, SiteRecorder &Sites);

} // namespace wavesan

#endif // WAVESAN_PASS_BARRIERBRANCHES_H
