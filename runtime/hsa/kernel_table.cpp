// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_table.h"

namespace wavesan::hsa {

void KernelTable::add(uint64_t executable, uint64_t kernelObject, std::shared_ptr<const Kernel> kernel) {
  std::unique_lock lock(Mutex);
  Kernels.insert_or_assign(kernelObject, Entry{executable, std::move(kernel)});
}

std::shared_ptr<const Kernel> KernelTable::find(uint64_t kernelObject) const {
  std::shared_lock lock(Mutex);
  auto it = Kernels.find(kernelObject);
  return it == Kernels.end() ? nullptr : it->second.kernel;
}

std::shared_ptr<const Kernel> KernelTable::findByName(std::string_view name) const {
  std::shared_lock lock(Mutex);
  std::shared_ptr<const Kernel> found;
  for (const auto &[_, entry] : Kernels)
    if (entry.kernel->name == name && (!found || (entry.kernel->twin && !found->twin)))
      found = entry.kernel;
  return found;
}

void KernelTable::removeExecutable(uint64_t executable) {
  std::unique_lock lock(Mutex);
  std::erase_if(Kernels, [&](const auto &entry) { return entry.second.executable == executable; });
}

void LoadedObjects::addReader(uint64_t reader, std::shared_ptr<const CodeObject> object) {
  std::lock_guard lock(Mutex);
  Readers[reader] = std::move(object);
}

void LoadedObjects::removeReader(uint64_t reader) {
  std::lock_guard lock(Mutex);
  Readers.erase(reader);
}

bool LoadedObjects::load(uint64_t executable, uint64_t agent, uint64_t reader) {
  std::lock_guard lock(Mutex);
  auto it = Readers.find(reader);
  if (it == Readers.end())
    return false;
  Executables[executable].push_back({agent, it->second});
  return true;
}

std::vector<LoadedObjects::Loaded> LoadedObjects::takeLoaded(uint64_t executable) {
  std::lock_guard lock(Mutex);
  auto it = Executables.find(executable);
  if (it == Executables.end())
    return {};
  std::vector<Loaded> loaded = std::move(it->second);
  Executables.erase(it);
  return loaded;
}

} // namespace wavesan::hsa
