// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel without source: an LDS store that is not complete at the barrier; with -DWAITS=1 it is.
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.text
.globl store
.p2align 8
.type store,@function
store:
  v_lshlrev_b32_e32 v1, 2, v0
  ds_write_b32 v1, v0
.ifdef WAITS
  s_waitcnt lgkmcnt(0)
.endif
  s_barrier
  ds_read_b32 v2, v1 offset:4
  s_waitcnt lgkmcnt(0)
  s_endpgm
.Lend:
.size store, .Lend-store
.rodata
.p2align 6
.amdhsa_kernel store
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 8
  .amdhsa_group_segment_fixed_size 512
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [ 1, 1 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx90a
amdhsa.kernels:
  - .name: store
    .symbol: store.kd
    .kernarg_segment_size: 0
    .group_segment_fixed_size: 512
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 4
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 8
    .max_flat_workgroup_size: 128
...
.end_amdgpu_metadata
