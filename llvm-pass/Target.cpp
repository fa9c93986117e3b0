// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
#include "Target.h"

#include "llvm/IR/Function.h"
#include "llvm/TargetParser/TargetParser.h"

using namespace llvm;

Expected<wavesan::GpuTarget> wavesan::targetOf(const Function &Kernel) {
  StringRef Cpu = Kernel.getFnAttribute("target-cpu").getValueAsString();
  auto Fail = [&](const Twine &Why) { return createStringError("kernel '" + Kernel.getName() + "': " + Why); };
  if (Cpu.empty())
    return Fail("no target processor (compile with --offload-arch= or -mcpu=)");
  if (AMDGPU::parseArchAMDGCN(Cpu) == AMDGPU::GK_NONE)
    return Fail("unknown processor '" + Cpu + "'");
  AMDGPU::IsaVersion Isa = AMDGPU::getIsaVersion(Cpu);
  // Encodings of s_waitcnt: LLVM's AMDGPU user guide and the ISA manuals.
  constexpr WaitField VmcntGfx9{0, 4, 14, 2}, VmcntGfx11{10, 6, 0, 0};
  switch (Isa.Major) {
  case 9:
    return GpuTarget{9, true, VmcntGfx9, {8, 4, 0, 0}};
  case 10:
    return GpuTarget{10, true, VmcntGfx9, {8, 6, 0, 0}};
  case 11:
    return GpuTarget{11, true, VmcntGfx11, {4, 6, 0, 0}};
  case 12:
    return GpuTarget{12, false, {}, {}, Isa.Minor >= 5};
  }
  return Fail("processor '" + Cpu + "' is not supported (supported: gfx9, gfx10, gfx11, gfx12)");
}
