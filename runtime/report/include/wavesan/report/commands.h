// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report says about races between commands of streams: kernels, copies, fills, frees and accesses of the host.
#ifndef WAVESAN_REPORT_COMMANDS_H
#define WAVESAN_REPORT_COMMANDS_H

#include "wavesan/report/race.h"

#include <string>

namespace wavesan::report {

struct TextOptions;

// All of them: race.commands is set.

/// "hipMemsetAsync", "kernel fill(int*, int)", "the host".
std::string commandText(const CommandSide &side);
/// "stream 2", "the default stream", "the host".
std::string streamText(const CommandSide &side);
/// "write-read (read after write), kernel fill(...) against hipMemcpyAsync"
std::string commandsHead(const Race &race);
std::string commandsReason(const Race &race);
std::string commandsFix(const Race &race);
/// A remark where the kinds of the streams are the cause, else empty.
std::string commandsNote(const Race &race);

/// "FILE:LINE", with the last part of the file's name; else the function.
std::string shortPlace(const std::vector<Frame> &frames);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_COMMANDS_H
