// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HSA code object readers, executables and symbols.
#include "executable.h"

#include "agents.h"
#include "api_table.h"
#include "process.h"
#include "query_value.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace wavesan::agent {

ExecutableRegistry &executableRegistry() {
  static ExecutableRegistry &r = *new ExecutableRegistry; // outlives static destructors
  return r;
}

Executable *ExecutableRegistry::executable(hsa_executable_t e) {
  auto it = executables.find(e.handle);
  return it == executables.end() ? nullptr : it->second.get();
}

const Symbol *ExecutableRegistry::symbol(hsa_executable_symbol_t s) const {
  return symbols.contains(s.handle) ? reinterpret_cast<const Symbol *>(s.handle) : nullptr;
}

KernelReference findKernel(uint64_t kernelObject) {
  ExecutableRegistry &r = executableRegistry();
  std::shared_lock lock(r.mutex);
  auto it = r.kernels.find(kernelObject);
  return it == r.kernels.end() ? KernelReference{} : it->second;
}

namespace impl {
namespace {

hsa_status_t addReader(std::string bytes, hsa_code_object_reader_t *out) {
  auto reader = std::make_unique<CodeObjectReader>();
  reader->bytes = std::make_shared<const std::string>(std::move(bytes));
  out->handle = reinterpret_cast<uint64_t>(reader.get());
  ExecutableRegistry &r = executableRegistry();
  std::unique_lock lock(r.mutex);
  r.readers.emplace(out->handle, std::move(reader));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t defineVariable(hsa_executable_t executable, const char *name, void *address) {
  if (!name || !address)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  ExecutableRegistry &r = executableRegistry();
  std::unique_lock lock(r.mutex);
  Executable *e = r.executable(executable);
  if (!e)
    return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (e->frozen)
    return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  return e->externals.emplace(name, reinterpret_cast<uint64_t>(address)).second
             ? HSA_STATUS_SUCCESS
             : HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
}

/// Calls `callback` for each symbol, without the lock: it may ask about the symbol.
template <class Callback> hsa_status_t iterateSymbols(hsa_executable_t executable, Callback callback) {
  std::vector<hsa_executable_symbol_t> handles;
  {
    ExecutableRegistry &r = executableRegistry();
    std::shared_lock lock(r.mutex);
    Executable *e = r.executable(executable);
    if (!e)
      return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    for (auto &object : e->objects)
      for (auto &symbol : object->symbols())
        handles.push_back({reinterpret_cast<uint64_t>(symbol.get())});
  }
  for (hsa_executable_symbol_t s : handles)
    if (hsa_status_t status = callback(s); status != HSA_STATUS_SUCCESS)
      return status;
  return HSA_STATUS_SUCCESS;
}

} // namespace

hsa_status_t hsa_code_object_reader_create_from_memory(const void *bytes, size_t size,
                                                       hsa_code_object_reader_t *reader) {
  if (!bytes || size == 0 || !reader)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return addReader(std::string(static_cast<const char *>(bytes), size), reader);
}

hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file, hsa_code_object_reader_t *reader) {
  if (!reader)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::string bytes;
  char buffer[65536];
  for (off_t at = 0;;) {
    const ssize_t n = pread(file, buffer, sizeof(buffer), at);
    if (n < 0)
      return HSA_STATUS_ERROR_INVALID_FILE;
    if (n == 0)
      break;
    bytes.append(buffer, size_t(n));
    at += n;
  }
  return bytes.empty() ? HSA_STATUS_ERROR_INVALID_FILE : addReader(std::move(bytes), reader);
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader) {
  ExecutableRegistry &r = executableRegistry();
  std::unique_lock lock(r.mutex);
  return r.readers.erase(reader.handle) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding, const char *,
                                       hsa_executable_t *executable) {
  if (!executable || (profile != HSA_PROFILE_BASE && profile != HSA_PROFILE_FULL))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!isInitialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  auto e = std::make_unique<Executable>();
  e->profile = profile;
  e->rounding = rounding;
  executable->handle = reinterpret_cast<uint64_t>(e.get());
  ExecutableRegistry &r = executableRegistry();
  std::unique_lock lock(r.mutex);
  r.executables.emplace(executable->handle, std::move(e));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t, const char *options,
                                   hsa_executable_t *executable) {
  return impl::hsa_executable_create_alt(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, options, executable);
}

hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
  ExecutableRegistry &r = executableRegistry();
  std::unique_ptr<Executable> doomed; // destroyed outside of the lock; a running kernel keeps its code object
  std::unique_lock lock(r.mutex);
  auto it = r.executables.find(executable.handle);
  if (it == r.executables.end())
    return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  doomed = std::move(it->second);
  r.executables.erase(it);
  for (auto &object : doomed->objects) {
    r.loadedObjects.erase(reinterpret_cast<uint64_t>(object.get()));
    for (auto &symbol : object->symbols()) {
      r.symbols.erase(reinterpret_cast<uint64_t>(symbol.get()));
      if (symbol->kind == Symbol::Kernel)
        r.kernels.erase(symbol->address);
    }
  }
  lock.unlock();
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                   hsa_code_object_reader_t reader, const char *,
                                                   hsa_loaded_code_object_t *loaded) {
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!isGpu(agent))
    return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
  ExecutableRegistry &r = executableRegistry();
  std::unique_lock lock(r.mutex);
  Executable *e = r.executable(executable);
  if (!e)
    return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (e->frozen)
    return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  auto it = r.readers.find(reader.handle);
  if (it == r.readers.end())
    return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  hsa_status_t status;
  std::string error;
  std::shared_ptr<LoadedCodeObject> object =
      LoadedCodeObject::load(it->second->bytes, gpuTarget(), e->externals, status, error);
  if (!object) {
    std::fprintf(stderr, "wavesan: code object cannot be loaded: %s\n", error.c_str());
    return status;
  }
  e->objects.push_back(object);
  r.loadedObjects.emplace(reinterpret_cast<uint64_t>(object.get()), e);
  for (auto &symbol : object->symbols()) {
    r.symbols.insert(reinterpret_cast<uint64_t>(symbol.get()));
    if (symbol->kind == Symbol::Kernel)
      r.kernels.insert_or_assign(symbol->address, KernelReference{object, symbol.get()});
  }
  if (loaded)
    loaded->handle = reinterpret_cast<uint64_t>(object.get());
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char *) {
  ExecutableRegistry &r = executableRegistry();
  std::unique_lock lock(r.mutex);
  Executable *e = r.executable(executable);
  if (!e)
    return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (e->frozen)
    return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  e->frozen = true;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_get_info(hsa_executable_t executable, hsa_executable_info_t attribute, void *value) {
  if (!value)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  ExecutableRegistry &r = executableRegistry();
  std::shared_lock lock(r.mutex);
  Executable *e = r.executable(executable);
  if (!e)
    return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  switch (attribute) {
  case HSA_EXECUTABLE_INFO_PROFILE:
    return put(value, e->profile);
  case HSA_EXECUTABLE_INFO_STATE:
    return put(value, e->frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN);
  case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
    return put(value, e->rounding);
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_executable_validate(hsa_executable_t executable, uint32_t *result) {
  if (!result)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  ExecutableRegistry &r = executableRegistry();
  std::shared_lock lock(r.mutex);
  *result = 0; // what is invalid was refused when it was loaded
  return r.executable(executable) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
}

hsa_status_t hsa_executable_validate_alt(hsa_executable_t executable, const char *, uint32_t *result) {
  return impl::hsa_executable_validate(executable, result);
}

hsa_status_t hsa_executable_global_variable_define(hsa_executable_t executable, const char *name, void *address) {
  return defineVariable(executable, name, address);
}

hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable, hsa_agent_t agent,
                                                         const char *name, void *address) {
  return isAgent(agent) ? defineVariable(executable, name, address) : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t executable, hsa_agent_t agent, const char *name,
                                                     void *address) {
  return isAgent(agent) ? defineVariable(executable, name, address) : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t executable, const char *name, const hsa_agent_t *agent,
                                               hsa_executable_symbol_t *symbol) {
  if (!name || !symbol)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (agent && !isGpu(*agent))
    return isAgent(*agent) ? HSA_STATUS_ERROR_INVALID_SYMBOL_NAME : HSA_STATUS_ERROR_INVALID_AGENT;
  ExecutableRegistry &r = executableRegistry();
  std::shared_lock lock(r.mutex);
  Executable *e = r.executable(executable);
  if (!e)
    return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  for (auto &object : e->objects)
    for (auto &s : object->symbols())
      if (s->name == name) {
        symbol->handle = reinterpret_cast<uint64_t>(s.get());
        return HSA_STATUS_SUCCESS;
      }
  return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable, const char *module, const char *name,
                                       hsa_agent_t agent, int32_t, hsa_executable_symbol_t *symbol) {
  if (module && *module)
    return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
  return impl::hsa_executable_get_symbol_by_name(executable, name, &agent, symbol);
}

hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t executable,
                                            hsa_status_t (*callback)(hsa_executable_t, hsa_executable_symbol_t, void *),
                                            void *data) {
  if (!callback)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return iterateSymbols(executable, [&](hsa_executable_symbol_t s) { return callback(executable, s, data); });
}

hsa_status_t hsa_executable_iterate_agent_symbols(hsa_executable_t executable, hsa_agent_t agent,
                                                  hsa_status_t (*callback)(hsa_executable_t, hsa_agent_t,
                                                                           hsa_executable_symbol_t, void *),
                                                  void *data) {
  if (!callback)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!isAgent(agent))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!isGpu(agent))
    return HSA_STATUS_SUCCESS;
  return iterateSymbols(executable, [&](hsa_executable_symbol_t s) { return callback(executable, agent, s, data); });
}

hsa_status_t hsa_executable_iterate_program_symbols(
    hsa_executable_t executable, hsa_status_t (*callback)(hsa_executable_t, hsa_executable_symbol_t, void *), void *) {
  if (!callback)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  ExecutableRegistry &r = executableRegistry();
  std::shared_lock lock(r.mutex);
  return r.executable(executable) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_EXECUTABLE; // all belong to the agent
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t handle, hsa_executable_symbol_info_t attribute,
                                            void *value) {
  if (!value)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  ExecutableRegistry &r = executableRegistry();
  std::shared_lock lock(r.mutex);
  const Symbol *s = r.symbol(handle);
  if (!s)
    return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
  const bool kernel = s->kind == Symbol::Kernel;
  switch (uint32_t(attribute)) {
  case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
    return put(value, kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE);
  case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
    return put(value, uint32_t(s->name.size()));
  case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
    std::memcpy(value, s->name.data(), s->name.size());
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
    return put(value, uint32_t(0));
  case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
    return put(value, kGpuAgent);
  case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
    return put(value, s->isWeakOrGlobal ? HSA_SYMBOL_LINKAGE_PROGRAM : HSA_SYMBOL_LINKAGE_MODULE);
  case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
    return put(value, true);
  case HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION:
    return put(value, uint32_t(0));
  default:
    break;
  }
  if (kernel)
    switch (uint32_t(attribute)) {
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
      return put(value, s->address);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
      return put(value, s->descriptor.kernargSize);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
      return put(value, uint32_t(16));
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
      return put(value, s->descriptor.groupSegmentFixedSize);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
      return put(value, s->descriptor.privateSegmentFixedSize);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
      return put(value, s->descriptor.usesDynamicStack());
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
      return put(value, uint32_t(0));
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
  switch (uint32_t(attribute)) {
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
    return put(value, s->address);
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
    return put(value, uint32_t(s->size));
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
    return put(value, HSA_VARIABLE_ALLOCATION_AGENT);
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
    return put(value, HSA_VARIABLE_SEGMENT_GLOBAL);
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
    return put(value, uint32_t(0));
  case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
    return put(value, false);
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

} // namespace impl
} // namespace wavesan::agent
