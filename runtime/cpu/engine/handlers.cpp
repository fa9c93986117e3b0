// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Picks the instruction set for this machine.
#include "handlers.h"

#include <atomic>

namespace wavesan::cpu::engine {

namespace portable {
const HandlerSet &handlerSet();
}
#ifdef WAVESAN_ENGINE_X86
namespace avx2 {
const HandlerSet &handlerSet();
}
namespace avx512 {
const HandlerSet &handlerSet();
}
#endif

static bool supports(InstructionSet set) {
  switch (set) {
  case InstructionSet::Portable:
    return true;
#ifdef WAVESAN_ENGINE_X86
  case InstructionSet::Avx2:
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  case InstructionSet::Avx512:
    return __builtin_cpu_supports("x86-64-v4");
#else
  case InstructionSet::Avx2:
  case InstructionSet::Avx512:
    return false;
#endif
  }
  return false;
}

static const HandlerSet &setOf([[maybe_unused]] InstructionSet set) {
#ifdef WAVESAN_ENGINE_X86
  if (set == InstructionSet::Avx512)
    return avx512::handlerSet();
  if (set == InstructionSet::Avx2)
    return avx2::handlerSet();
#endif
  return portable::handlerSet();
}

static InstructionSet best() {
  for (const InstructionSet set : {InstructionSet::Avx512, InstructionSet::Avx2})
    if (supports(set))
      return set;
  return InstructionSet::Portable;
}

static std::atomic<const HandlerSet *> &chosen() {
  static std::atomic<const HandlerSet *> set{&setOf(best())};
  return set;
}

const HandlerSet &handlers() { return *chosen().load(std::memory_order_acquire); }

bool useInstructionSet(InstructionSet set) {
  if (!supports(set))
    return false;
  chosen().store(&setOf(set), std::memory_order_release);
  return true;
}

} // namespace wavesan::cpu::engine
