// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of loaded executables, found by the kernel_object handle that dispatch packets carry.
#ifndef WAVESAN_HSA_KERNEL_TABLE_H
#define WAVESAN_HSA_KERNEL_TABLE_H

#include "code_object.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace wavesan::hsa {

/// A kernel of a loaded executable. Immutable once in the table.
struct Kernel {
  std::string name;      ///< linkage name
  std::string display;   ///< demangled
  bool internal = false; ///< one of the HIP runtime's own kernels (copies, fills): not part of the program
  std::shared_ptr<const CodeObject> object; ///< null when only the name is known
  bool filtered = false;                    ///< the user does not want it checked
  const TwinInfo *twin = nullptr;           ///< owned by `object`; null: built without WaveSan
  std::string problem;                      ///< built with WaveSan, but cannot be checked, and why
  bool mayCallHost = false;                 ///< it gets the buffer for calls of host services (printf, assert)
  /// While it runs it may wait for something that the host does. Not known of kernels without a twin.
  bool waitsForHost() const { return twin && twin->waitsForHost; }
  uint64_t twinObject = 0;                  ///< kernel_object of the twin
  // From the symbols of the loaded executable:
  uint32_t originalGroupBytes = 0, originalPrivateBytes = 0;
  uint32_t twinGroupBytes = 0, twinPrivateBytes = 0, twinKernargBytes = 0;
};

/// Thread-safe. A handle that is found stays valid after its executable is destroyed.
class KernelTable {
public:
  void add(uint64_t executable, uint64_t kernelObject, std::shared_ptr<const Kernel> kernel);
  /// Null when the handle is unknown.
  std::shared_ptr<const Kernel> find(uint64_t kernelObject) const;
  /// Any of that linkage name, one with a twin before others; null: none.
  std::shared_ptr<const Kernel> findByName(std::string_view name) const;
  void removeExecutable(uint64_t executable);

private:
  struct Entry {
    uint64_t executable;
    std::shared_ptr<const Kernel> kernel;
  };
  mutable std::shared_mutex Mutex;
  std::unordered_map<uint64_t, Entry> Kernels;
};

/// Code objects by reader handle, and the code objects of executables that are not frozen yet. Thread-safe.
class LoadedObjects {
public:
  struct Loaded {
    uint64_t agent;
    std::shared_ptr<const CodeObject> object;
  };
  void addReader(uint64_t reader, std::shared_ptr<const CodeObject> object);
  void removeReader(uint64_t reader);
  /// Remembers that `reader`'s code object was loaded. False when the reader is unknown.
  bool load(uint64_t executable, uint64_t agent, uint64_t reader);
  /// Takes the list out.
  std::vector<Loaded> takeLoaded(uint64_t executable);

private:
  std::mutex Mutex;
  std::map<uint64_t, std::shared_ptr<const CodeObject>> Readers;
  std::map<uint64_t, std::vector<Loaded>> Executables;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_KERNEL_TABLE_H
