// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What hipGetLastError and hipPeekAtLastError tell the program of calls that a hook has taken in HIP's place. HIP knows
// nothing of them, and a launch by <<<>>> returns nothing: without this one that is refused would be lost unseen. Such
// an error stays until it is asked for, as HIP's documentation has it; HIP 5.2.3 forgets its own at the next call that
// succeeds.
#ifndef WAVESAN_HIP_LAST_ERROR_H
#define WAVESAN_HIP_LAST_ERROR_H

namespace wavesan::hip {

/// Lives while a hook looks at a call. Of the calling thread only.
class TakenCall {
public:
  TakenCall();
  /// The hook has taken the call. What the hook's own calls of HIP have left is forgotten; what the program could have
  /// asked for before is still there, unless `result` is a newer error.
  void taken(int result) const;

private:
  int Before; ///< of HIP
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_LAST_ERROR_H
