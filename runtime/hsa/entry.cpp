// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entry points of the HSA tools interface. HSA_TOOLS_LIB names the library that exports them.
#include "tool.h"

#include "wavesan/abi/replay.h"

#include <cstdlib>

namespace {

/// libamdhip64 never calls hsa_shut_down, so OnUnload may come late or never. Handlers registered with atexit run
/// before the static objects of HIP and HSA are destroyed, while the runtime still works.
void finishAtExit() {
  if (wavesan::hsa::Tool *tool = wavesan::hsa::Tool::current())
    tool->finish();
}

/// For exits that skip OnUnload, and for dlclose of this library.
__attribute__((destructor)) void unloadAtDestruction() {
  if (wavesan::hsa::Tool *tool = wavesan::hsa::Tool::current())
    tool->unload();
}

} // namespace

extern "C" {

/// Called by the runtime from hsa_init. False: the library is not used.
__attribute__((visibility("default"))) bool OnLoad(HsaApiTable *table, uint64_t, uint64_t, const char *const *) {
  try {
    if (!wavesan::hsa::Tool::load(table))
      return false;
  } catch (...) {
    return false;
  }
  static const int registered = std::atexit(finishAtExit); // should it fail, the destructor prints the summary
  (void)registered;
  return true;
}

/// Called by the runtime from hsa_shut_down, or from a destructor.
__attribute__((visibility("default"))) void OnUnload() {
  if (wavesan::hsa::Tool *tool = wavesan::hsa::Tool::current())
    tool->unload();
}

/// Called by the replay of a capsule (abi/replay.h).
__attribute__((visibility("default"))) void wavesan_place_memory(const wavesan::abi::PlacedMemory *memory) {
  using Kind = wavesan::hsa::MemoryMap::Kind;
  const auto kind = Kind(memory->kind);
  wavesan::hsa::Tool *tool = wavesan::hsa::Tool::current();
  if (tool && (kind == Kind::Allocation || kind == Kind::RegisteredHost))
    tool->memory.addNumbered(kind, memory->address, memory->bytes, memory->number);
}

} // extern "C"
