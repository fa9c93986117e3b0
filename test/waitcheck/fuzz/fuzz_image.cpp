// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libFuzzer: any bytes as an image (code object, bundle, archive), and as the code of a kernel. Run bounded:
//   fuzz_image -runs=20000 -max_len=65536
#include "wavesan/waitcheck.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  wavesan_waitcheck_summary summary;
  char error[128];
  wavesan_waitcheck_image(data, size, nullptr, nullptr, nullptr, &summary, error, sizeof error);
  return 0;
}
