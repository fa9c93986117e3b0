// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of `wavesan record`.
#ifndef WAVESAN_DRIVER_RECORD_LINE_H
#define WAVESAN_DRIVER_RECORD_LINE_H

#include "run_line.h"

namespace wavesan::driver {

/// Reads the words behind `wavesan record`, as readRunLine does.
RunLine readRecordLine(const std::vector<std::string> &words);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_RECORD_LINE_H
