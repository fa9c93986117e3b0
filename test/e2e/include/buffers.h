// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffer resources that are checked by their size in bytes.
#ifndef WAVESAN_TEST_E2E_BUFFERS_H
#define WAVESAN_TEST_E2E_BUFFERS_H

#include "twin.h"

using Int4 = int __attribute__((ext_vector_type(4)));

/// Word 3 of a raw buffer: a 32-bit format, and on gfx10 the check of the offset in bytes.
#ifdef __GFX9__
#define RAW_BUFFER 0x00027000
#else
#define RAW_BUFFER 0x31016000
#endif

__device__ __forceinline__ __amdgpu_buffer_rsrc_t bufferOf(void *memory, int bytes) {
  return __builtin_amdgcn_make_buffer_rsrc(memory, 0, bytes, RAW_BUFFER);
}

#endif // WAVESAN_TEST_E2E_BUFFERS_H
