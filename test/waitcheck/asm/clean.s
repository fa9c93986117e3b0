// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two stages through LDS.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl stages
.p2align 8
.type stages,@function
stages:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 3, v0
  s_waitcnt lgkmcnt(0)
  global_load_dwordx2 v[2:3], v1, s[4:5]
  global_load_dwordx2 v[4:5], v1, s[4:5] offset:2048
  s_waitcnt vmcnt(1)
  ds_write_b64 v1, v[2:3]
  s_waitcnt vmcnt(0)
  ds_write_b64 v1, v[4:5] offset:2048
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b64 v[6:7], v1 offset:1024
  s_waitcnt lgkmcnt(0)
  global_store_dwordx2 v1, v[6:7], s[6:7]
  s_endpgm
.Lend:
.size stages, .Lend-stages
.rodata
.p2align 6
.amdhsa_kernel stages
  .amdhsa_group_segment_fixed_size 4096
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
