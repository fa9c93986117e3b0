// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one-line advice of a report, chosen by class and situation.
#ifndef WAVESAN_REPORT_SUGGESTION_H
#define WAVESAN_REPORT_SUGGESTION_H

#include "wavesan/report/race.h"

#include <string>

namespace wavesan::report {

/// Why the two accesses are not ordered, as a statement about this program.
std::string reasonText(const Race &race);
/// What to change, starting with a verb.
std::string fixText(const Race &race);
/// A remark on wave sizes where it matters, else empty.
std::string waveSizeNote(const Race &race);
/// Race::valueHeld, or empty.
std::string valueNote(const Race &race);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_SUGGESTION_H
