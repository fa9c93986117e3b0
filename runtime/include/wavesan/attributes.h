/* Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * For device code that is compiled with WaveSan; any C or C++ compiler takes it. */
#ifndef WAVESAN_ATTRIBUTES_H
#define WAVESAN_ATTRIBUTES_H

/* In front of a function: its plain loads and stores are not checked, whichever kernel it is inlined into. On a kernel:
 * those in the kernel's own text. What it calls is checked, unless marked too. Atomic operations and barriers are never
 * ignored: they order other accesses. Each report counts the ignored accesses. clang's own sanitizers, where they are
 * on, leave the function out too.
 *
 *   WAVESAN_IGNORE __device__ void roughCount(int *bins, int i) { ++bins[i]; }  // may lose counts, on purpose
 */
#if defined(__clang__)
#define WAVESAN_IGNORE __attribute__((disable_sanitizer_instrumentation))
#else
#define WAVESAN_IGNORE
#endif

#endif /* WAVESAN_ATTRIBUTES_H */
