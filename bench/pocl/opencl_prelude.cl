// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define KERNEL __kernel
#define GLOBAL __global
#define LOCAL __local
#define LOCAL_ID(d) ((int)get_local_id(d))
#define GROUP_ID(d) ((int)get_group_id(d))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define ADD_LOCAL(p, v) atomic_add(p, v)
#define ADD_GLOBAL(p, v) atomic_add(p, v)
#define RSQRT(x) rsqrt(x)
