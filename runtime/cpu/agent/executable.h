// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executables: loaded code objects and their symbols, and the way from a packet's kernel object back to its kernel.
#ifndef WAVESAN_CPU_AGENT_EXECUTABLE_H
#define WAVESAN_CPU_AGENT_EXECUTABLE_H

#include "code_object.h"

#include <shared_mutex>
#include <unordered_map>
#include <unordered_set>

namespace wavesan::agent {

/// What hsa_code_object_reader_t points to.
struct CodeObjectReader {
  CodeObjectBytes bytes;
};

struct Executable {
  hsa_profile_t profile;
  hsa_default_float_rounding_mode_t rounding;
  bool frozen = false;
  ExternalVariables externals;
  std::vector<std::shared_ptr<LoadedCodeObject>> objects;
};

/// A kernel that a packet names; keeps its code object loaded.
struct KernelReference {
  std::shared_ptr<LoadedCodeObject> object;
  const Symbol *symbol = nullptr;
};

/// All readers, executables and kernels of the process. Handles are the addresses of the records; every handle is
/// looked up here, so stale and invented ones are errors. Hold `mutex` for everything except findKernel().
struct ExecutableRegistry {
  std::shared_mutex mutex;
  std::unordered_map<uint64_t, std::unique_ptr<CodeObjectReader>> readers;
  std::unordered_map<uint64_t, std::unique_ptr<Executable>> executables;
  std::unordered_map<uint64_t, Executable *> loadedObjects; ///< by address of the LoadedCodeObject
  std::unordered_set<uint64_t> symbols;                     ///< addresses of live Symbols
  std::unordered_map<uint64_t, KernelReference> kernels;    ///< by kernel object

  Executable *executable(hsa_executable_t e);
  const Symbol *symbol(hsa_executable_symbol_t s) const;
};

ExecutableRegistry &executableRegistry();

/// Thread-safe. The symbol is null if no loaded kernel has this kernel object.
KernelReference findKernel(uint64_t kernelObject);

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_EXECUTABLE_H
