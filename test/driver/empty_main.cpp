// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The smallest program: linked with one or the other kind of run path for the tests of elf_rpath.
int main() { return 0; }
