// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain C++, in a file of its own: it shows that such files are compiled as ever.
#ifndef WAVESAN_EXAMPLES_REDUCTION_REPORT_H
#define WAVESAN_EXAMPLES_REDUCTION_REPORT_H

/// Prints both sums. Returns the program's exit status: 0 if they are equal.
int reportSum(long long total, long long expected);

#endif // WAVESAN_EXAMPLES_REDUCTION_REPORT_H
