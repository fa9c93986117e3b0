// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing from within somebody else's program.
#ifndef WAVESAN_REPORT_QUIET_WRITE_H
#define WAVESAN_REPORT_QUIET_WRITE_H

#include <string_view>

namespace wavesan::report {

/// Writes all of `text`. Returns 0 or errno. A closed pipe (SIGPIPE) or a file-size limit (SIGXFSZ) is an error like any
/// other and never a signal that ends the program.
int writeQuietly(int fd, std::string_view text);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_QUIET_WRITE_H
