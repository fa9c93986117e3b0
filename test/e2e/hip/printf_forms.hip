// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device printf: every conversion, width and precision from arguments, strings, more arguments than one packet holds, lanes that diverge, and
// many workgroups at once. Each line comes whole and once; a lane's lines come in its order.
// RUN: %cc %s -o %t
// RUN: %status 67 %run90a -- %t > %t.log
// RUN: FileCheck %s < %t.log
// RUN: FileCheck --check-prefix=MANY %s < %t.log
// RUN: %status 67 %run1030 -- %t > %t.32.log
// RUN: FileCheck %s < %t.32.log
// RUN: FileCheck --check-prefix=MANY %s < %t.32.log
#include "twin.h"

#include <cstdint>

__global__ void forms(const char *unused) {
  if (threadIdx.x != 5)
    return;
  // CHECK: plain
  printf("plain\n");
  // CHECK: d -7 i 8 u 4294967295 x beef X BEEF o 17 c z percent %
  printf("d %d i %i u %u x %x X %X o %o c %c percent %%\n", -7, 8, 0xffffffffu, 0xbeef, 0xbeef, 017, 'z');
  // CHECK: ld -9000000000 llu 18446744073709551615 llx 123456789abcdef zu 42 hd -2 hhu 200
  printf("ld %ld llu %llu llx %llx zu %zu hd %hd hhu %hhu\n", -9000000000l, ~0ull, 0x123456789abcdefull, size_t(42), short(-2), (unsigned char)200);
  // CHECK: f 1.500000 e 2.500000e+10 g 0.0001 G 1E-10 a 0x1p+1 inf inf nan
  printf("f %f e %e g %g G %G a %a inf %f nan %.0f\n", 1.5, 2.5e10, 1e-4, 1e-10, 2.0, __builtin_inf(), __builtin_nan(""));
  // CHECK: [   42] [42   ] [00042] [+42] [3.14] [   3.142] [ab] [  abc]
  printf("[%5d] [%-5d] [%05d] [%+d] [%.2f] [%8.3f] [%.2s] [%5s]\n", 42, 42, 42, 42, 3.14159, 3.14159, "abc", "abc");
  // CHECK: [    7] [1.235] [x    ]
  printf("[%*d] [%.*f] [%*s]\n", 5, 7, 3, 1.23456, -5, "x");
  // CHECK: p {{(0x)?[1-9a-f][0-9a-f]*}} s one two
  printf("p %p s %s %s\n", (const void *)unused, "one", "two");
  // CHECK: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
  printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20);
  // CHECK: a long string of more than fifty-six bytes, which is what one message of the host call service holds at a time: end
  printf("%s: end\n", "a long string of more than fifty-six bytes, which is what one message of the host call service holds at a time");
  // CHECK: returned 5 0
  const int five = printf("ab%dd\n", 3), none = printf("");
  printf("returned %d %d\n", five, none);
}

__global__ void many() {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 3 == 0)
    printf("lane %u of many: third\n", i);
  else if (threadIdx.x % 3 == 1)
    printf("lane %u of many: other %s %.1f\n", i, "text", i * 0.5);
}
// MANY-COUNT-512: {{^}}lane {{[0-9]+}} of many: {{third|other text [0-9]+.[05]}}{{$}}
// MANY-NOT: of many
// CHECK: result: ok

int main() {
  forms<<<1, 64>>>(reinterpret_cast<const char *>(uintptr_t(0x1234)));
  twin::must(hipDeviceSynchronize(), "forms");
  many<<<4, 192>>>();
  twin::must(hipDeviceSynchronize(), "many");
  return twin::verdict(0);
}
