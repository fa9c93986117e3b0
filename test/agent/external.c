// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A code object with a variable that the program has to define.
extern int Elsewhere[4] __attribute__((visibility("default")));
__attribute__((visibility("protected"))) int *ToElsewhere = &Elsewhere[2];
__attribute__((amdgpu_kernel, visibility("protected"))) void touch(void) { *ToElsewhere = 1; }
