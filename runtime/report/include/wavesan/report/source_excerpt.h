// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads one line of a source file for a report. The file may be missing, binary, huge or not what was compiled.
#ifndef WAVESAN_REPORT_SOURCE_EXCERPT_H
#define WAVESAN_REPORT_SOURCE_EXCERPT_H

#include <cstdint>
#include <string>

namespace wavesan::report {

/// The line with its number and a caret line under `column` (in bytes, from 1; 0: no caret line), each line indented by
/// `indent` spaces and newline-terminated. Tabs become spaces, long lines are cut around the column. Empty when the
/// file is not a regular file, is binary, or has no such line within its first 16 MiB.
std::string sourceExcerpt(const std::string &file, uint32_t line, uint32_t column, unsigned indent);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_SOURCE_EXCERPT_H
