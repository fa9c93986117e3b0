// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text from files that anybody may have made, on its way to terminals and logs.
#ifndef WAVESAN_REPORT_PRINTABLE_H
#define WAVESAN_REPORT_PRINTABLE_H

#include "wavesan/report/race.h"

#include <string>

namespace wavesan::report {

/// `text` with '?' in place of control characters, newlines included: one line without escape sequences.
std::string printable(std::string text);

/// The same for every name in a race.
void makePrintable(Race &race);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_PRINTABLE_H
