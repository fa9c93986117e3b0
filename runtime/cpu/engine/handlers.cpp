// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Picks the instruction set for this machine.
#include "handlers.h"

namespace wavesan::cpu::engine {

namespace portable {
const HandlerSet &handlerSet();
}
#ifdef WAVESAN_ENGINE_AVX2
namespace avx2 {
const HandlerSet &handlerSet();
}
#endif

const HandlerSet &handlers() {
#ifdef WAVESAN_ENGINE_AVX2
  static const bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (fast)
    return avx2::handlerSet();
#endif
  return portable::handlerSet();
}

} // namespace wavesan::cpu::engine
