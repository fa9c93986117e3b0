// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libFuzzer: any bytes as the code of one kernel or function. The first byte chooses the target, the second what the function is.
#include "Explain.h"

#include <cstdio>
#include <cstdlib>

using namespace wavesan::waitcheck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const targets[] = {"gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201", "gfx1250"};
  static Decoders decoders; // slow to start; its caches are part of what is tried
  if (size < 2)
    return 0;
  auto isa = decoders.get(*findTarget(targets[data[0] % std::size(targets)]), data[1] & 1);
  if (!isa) {
    std::fprintf(stderr, "%s\n", llvm::toString(isa.takeError()).c_str());
    std::abort();
  }
  CodeSection section;
  section.bytes = {data + 2, size - 2};
  section.address = data[1] & 2 ? 0x1000 : 0;
  FunctionEntry entry;
  entry.name = "f";
  entry.address = section.address;
  entry.size = section.bytes.size();
  entry.isKernel = data[1] & 4;
  entry.wave64 = data[1] & 1;
  if (data[1] & 8) // begins and ends somewhere in the section: the rest is reached by jumps
    entry.address += entry.size / 3 / 4 * 4, entry.size /= 3;
  const Function f = buildFunction(**isa, entry, section);
  for (uint32_t i = 0; i < f.code.size() && i < 64; ++i)
    (*isa)->disassemble(f.bytesAt(i), f.addressOf(i));
  const FunctionResult r = analyseFunction(**isa, f, [](const Block &) { return allCounters; });
  PathSearch search(**isa, f, r.solution);
  for (size_t h = 0; h < r.hazards.size() && h < 8; ++h)
    search.find(r.hazards[h]);
  return 0;
}
