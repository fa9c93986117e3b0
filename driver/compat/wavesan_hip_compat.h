// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bridges old HIP headers to a new clang. `wavesan cc` includes it in front of a HIP source file, and only when the
// installed hip_fp16.h calls __llvm_amdgcn_rcp_f16: that function came from the compiler's own device library, which
// no longer has it. The names are renamed by macro rather than defined, so that a program that defines them
// itself, or a HIP header that declares them, keeps working.
#ifndef WAVESAN_HIP_COMPAT_H
#define WAVESAN_HIP_COMPAT_H
#ifdef __HIP__

#define __llvm_amdgcn_rcp_f16 __wavesan_compat_rcp_f16
#define __llvm_amdgcn_rcp_2f16 __wavesan_compat_rcp_2f16

typedef _Float16 __wavesan_compat_2f16 __attribute__((ext_vector_type(2)));

extern "C" {
inline __attribute__((device, const)) _Float16 __wavesan_compat_rcp_f16(_Float16 x) {
  return __builtin_amdgcn_rcph(x);
}
inline __attribute__((device, const)) __wavesan_compat_2f16 __wavesan_compat_rcp_2f16(__wavesan_compat_2f16 x) {
  return __wavesan_compat_2f16{__wavesan_compat_rcp_f16(x.x), __wavesan_compat_rcp_f16(x.y)};
}
}

#endif // __HIP__
#endif // WAVESAN_HIP_COMPAT_H
