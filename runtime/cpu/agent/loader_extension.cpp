// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "loader_extension.h"

#include "agents.h"
#include "api_table.h"
#include "elf_view.h"
#include "executable.h"
#include "query_value.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace wavesan::agent {
namespace {

/// Debuggers and tools read the code object through this text; it stays mapped while the executable lives.
std::string uriOf(const LoadedCodeObject &object) {
  return "memory://" + std::to_string(getpid()) +
         "#offset=" + std::to_string(reinterpret_cast<uintptr_t>(object.bytes().data())) +
         "&size=" + std::to_string(object.bytes().size());
}

hsa_status_t queryHostAddress(const void *device, const void **host) {
  if (!device || !host)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *host = device; // device memory is host memory
  return HSA_STATUS_SUCCESS;
}

hsa_status_t querySegmentDescriptors(hsa_ven_amd_loader_segment_descriptor_t *descriptors, size_t *count) {
  if (!count || (*count == 0) != (descriptors == nullptr))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  ExecutableRegistry &r = executableRegistry();
  std::shared_lock lock(r.mutex);
  std::vector<hsa_ven_amd_loader_segment_descriptor_t> found;
  for (auto &[handle, executable] : r.executables)
    for (auto &object : executable->objects) {
      std::string error;
      const auto elf = ElfView::parse(object->bytes(), error);
      if (!elf)
        continue; // it was loaded, so it parses
      for (const Elf64_Phdr &p : elf->segments()) {
        if (p.p_type != PT_LOAD || p.p_memsz == 0)
          continue;
        hsa_ven_amd_loader_segment_descriptor_t d{};
        d.agent = kGpuAgent;
        d.executable = {handle};
        d.code_object_storage_type = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
        d.code_object_storage_base = object->bytes().data();
        d.code_object_storage_size = object->bytes().size();
        d.code_object_storage_offset = p.p_offset;
        d.segment_base = reinterpret_cast<const void *>(int64_t(p.p_vaddr) + object->loadDelta());
        d.segment_size = p.p_memsz;
        found.push_back(d);
      }
    }
  if (!descriptors) {
    *count = found.size();
    return HSA_STATUS_SUCCESS;
  }
  if (*count != found.size())
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::copy(found.begin(), found.end(), descriptors);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t queryExecutable(const void *device, hsa_executable_t *executable) {
  if (!device || !executable)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  ExecutableRegistry &r = executableRegistry();
  std::shared_lock lock(r.mutex);
  const auto *address = static_cast<const uint8_t *>(device);
  for (auto &[handle, e] : r.executables)
    for (auto &object : e->objects)
      if (address >= object->base() && size_t(address - object->base()) < object->span()) {
        executable->handle = handle;
        return HSA_STATUS_SUCCESS;
      }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t iterateLoadedCodeObjects(hsa_executable_t executable,
                                      hsa_status_t (*callback)(hsa_executable_t, hsa_loaded_code_object_t, void *),
                                      void *data) {
  if (!callback)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::vector<hsa_loaded_code_object_t> handles; // the callback may come back here
  {
    ExecutableRegistry &r = executableRegistry();
    std::shared_lock lock(r.mutex);
    Executable *e = r.executable(executable);
    if (!e)
      return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    for (auto &object : e->objects)
      handles.push_back({reinterpret_cast<uint64_t>(object.get())});
  }
  for (hsa_loaded_code_object_t handle : handles)
    if (hsa_status_t status = callback(executable, handle, data); status != HSA_STATUS_SUCCESS)
      return status;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t loadedCodeObjectInfo(hsa_loaded_code_object_t handle,
                                  hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value) {
  if (!value)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  ExecutableRegistry &r = executableRegistry();
  std::shared_lock lock(r.mutex);
  auto it = r.loadedObjects.find(handle.handle);
  if (it == r.loadedObjects.end())
    return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  const auto &object = *reinterpret_cast<const LoadedCodeObject *>(handle.handle);
  switch (attribute) {
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE:
    return put(value, hsa_executable_t{reinterpret_cast<uint64_t>(it->second)});
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
    return put(value, uint32_t(HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT));
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
    return put(value, kGpuAgent);
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
    return put(value, uint32_t(HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY));
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
    return put(value, reinterpret_cast<uint64_t>(object.bytes().data()));
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
    return put(value, uint64_t(object.bytes().size()));
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA:
    return put(value, object.loadDelta());
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
    return put(value, reinterpret_cast<uint64_t>(object.base()));
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
    return put(value, uint64_t(object.span()));
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
    return put(value, uint32_t(uriOf(object).size()));
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI: {
    const std::string uri = uriOf(object);
    std::memcpy(value, uri.c_str(), uri.size() + 1);
    return HSA_STATUS_SUCCESS;
  }
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t createReaderFromFilePart(hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *reader) {
  if (size == 0 || !reader)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const off_t fileBytes = lseek(file, 0, SEEK_END);
  if (fileBytes < 0 || offset > size_t(fileBytes) || size > size_t(fileBytes) - offset)
    return HSA_STATUS_ERROR_INVALID_FILE;
  std::string bytes(size, '\0');
  for (size_t done = 0; done < size;) {
    const ssize_t n = pread(file, bytes.data() + done, size - done, off_t(offset + done));
    if (n <= 0)
      return HSA_STATUS_ERROR_INVALID_FILE;
    done += size_t(n);
  }
  return impl::hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), reader);
}

hsa_status_t iterateExecutables(hsa_status_t (*callback)(hsa_executable_t, void *), void *data) {
  if (!callback)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::vector<hsa_executable_t> handles;
  {
    ExecutableRegistry &r = executableRegistry();
    std::shared_lock lock(r.mutex);
    for (auto &[handle, e] : r.executables)
      handles.push_back({handle});
  }
  for (hsa_executable_t e : handles)
    if (hsa_status_t status = callback(e, data); status != HSA_STATUS_SUCCESS)
      return status;
  return HSA_STATUS_SUCCESS;
}

constexpr hsa_ven_amd_loader_1_03_pfn_t kTable = {
    queryHostAddress,     querySegmentDescriptors,  queryExecutable,    iterateLoadedCodeObjects,
    loadedCodeObjectInfo, createReaderFromFilePart, iterateExecutables,
};

} // namespace

size_t loaderTableSize(uint16_t minor) {
  switch (minor) {
  case 0:
    return sizeof(hsa_ven_amd_loader_1_00_pfn_t);
  case 1:
    return sizeof(hsa_ven_amd_loader_1_01_pfn_t);
  case 2:
    return sizeof(hsa_ven_amd_loader_1_02_pfn_t);
  default:
    return sizeof(hsa_ven_amd_loader_1_03_pfn_t);
  }
}

void copyLoaderTable(void *table, size_t size) {
  std::memset(table, 0, size);
  std::memcpy(table, &kTable, std::min(size, sizeof(kTable)));
}

} // namespace wavesan::agent
