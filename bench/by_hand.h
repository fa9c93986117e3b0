// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// matrix_product of kernels.hip as a compiler could make it that turns a kernel into loops over the lanes of a wave: a
// wave at a time from barrier to barrier, registers and LDS as arrays. It does not switch between waves anywhere else.
#ifndef WAVESAN_BENCH_BY_HAND_H
#define WAVESAN_BENCH_BY_HAND_H

void matrixProductByHand(const float *a, const float *b, float *c, unsigned n);

#endif // WAVESAN_BENCH_BY_HAND_H
