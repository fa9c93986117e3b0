// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report says about work-items that do not meet at a barrier.
#ifndef WAVESAN_REPORT_DIVERGENCE_H
#define WAVESAN_REPORT_DIVERGENCE_H

#include "wavesan/report/race.h"

#include <string>

namespace wavesan::report {

// All of them: race.divergence is set.

/// First line of the report behind the class, without newline.
std::string divergenceHead(const Race &race);
/// "waves 0..1 wait", "wave 1 lanes 32..63 end", of the previous or the current side.
std::string divergenceSide(const Race &race, bool current);
std::string divergenceReason(const Race &race);
std::string divergenceFix(const Race &race);
/// A remark where the hardware hides the mistake, else empty.
std::string divergenceNote(const Race &race);

/// "0..3, 5": the bits that are set.
std::string rangesText(uint64_t bits);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_DIVERGENCE_H
