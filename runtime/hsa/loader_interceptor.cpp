// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "loader_interceptor.h"

#include "tool.h"

#include "wavesan/report/printable.h"
#include "wavesan/report/race.h"

#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unordered_map>

namespace wavesan::hsa {

namespace {

/// HIP's own kernels for copies and fills begin with this.
constexpr char kInternalPrefix[] = "__amd_rocclr_";

/// Runs `work` and turns an exception into an error line: nothing may be thrown through the runtime.
template <class Work> void guarded(Tool &tool, const char *what, Work work) {
  try {
    work();
  } catch (const std::exception &e) {
    tool.findings.error(std::string(what) + ": " + e.what());
  }
}

std::shared_ptr<Kernel> namedKernel(Tool &tool, std::string name) {
  auto kernel = std::make_shared<Kernel>();
  kernel->display = report::printable(report::demangle(name));
  kernel->internal = name.compare(0, sizeof(kInternalPrefix) - 1, kInternalPrefix) == 0;
  kernel->filtered = !kernel->internal && !tool.selection.selects(kernel->display, name);
  kernel->name = std::move(name);
  return kernel;
}

/// Option check_waits. Before the object can be loaded, so that what is said does not depend on how the program ends.
void checkWaits(Tool &tool, std::string_view bytes) {
  if (!tool.options.check_waits || tool.forkedAway() || !tool.waits.isNew(bytes))
    return;
  tool.findings.waitsChecked(tool.waits.check(bytes), [&](const report::WaitHazard &hazard) {
    const std::string name = originalName(hazard);
    return !hazard.isKernel || tool.selection.selects(report::printable(report::demangle(name)), name);
  });
}

void registerReader(Tool &tool, hsa_code_object_reader_t reader, std::string_view bytes) {
  std::vector<std::string> errors;
  std::shared_ptr<const CodeObject> object = CodeObject::parse(bytes, errors, tool.capsules.enabled());
  for (const std::string &error : errors)
    tool.findings.error(error);
  if (tool.options.verbosity >= 1)
    tool.findings.message("code object of " + std::to_string(bytes.size()) +
                          " bytes: " + std::to_string(object->kernels().size()) + " kernels, " +
                          (object->instrumented() ? std::to_string(object->sites().kernelCount()) + " twins, " +
                                                        std::to_string(object->sites().siteCount()) + " sites"
                                                  : std::string("not built with WaveSan")));
  tool.objects.addReader(reader.handle, std::move(object));
  checkWaits(tool, bytes);
}

hsa_status_t readerFromMemory(const void *bytes, size_t size, hsa_code_object_reader_t *reader) {
  Tool &tool = *Tool::current();
  hsa_status_t status = tool.api.core.hsa_code_object_reader_create_from_memory_fn(bytes, size, reader);
  if (status == HSA_STATUS_SUCCESS && tool.active())
    guarded(tool, "code object", [&] { registerReader(tool, *reader, {static_cast<const char *>(bytes), size}); });
  return status;
}

hsa_status_t readerFromFile(hsa_file_t file, hsa_code_object_reader_t *reader) {
  Tool &tool = *Tool::current();
  hsa_status_t status = tool.api.core.hsa_code_object_reader_create_from_file_fn(file, reader);
  if (status != HSA_STATUS_SUCCESS || !tool.active())
    return status;
  guarded(tool, "code object", [&] {
    struct stat info;
    void *bytes = MAP_FAILED;
    if (fstat(file, &info) == 0 && info.st_size > 0)
      bytes = mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) {
      tool.findings.error("a code object file cannot be read: its kernels are not checked");
      return;
    }
    registerReader(tool, *reader, {static_cast<const char *>(bytes), size_t(info.st_size)});
    munmap(bytes, size_t(info.st_size));
  });
  return status;
}

hsa_status_t readerDestroy(hsa_code_object_reader_t reader) {
  Tool &tool = *Tool::current();
  tool.objects.removeReader(reader.handle); // first: the handle may be reused at once
  return tool.api.core.hsa_code_object_reader_destroy_fn(reader);
}

hsa_status_t loadAgentCodeObject(hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_reader_t reader,
                                 const char *options, hsa_loaded_code_object_t *loaded) {
  Tool &tool = *Tool::current();
  hsa_status_t status =
      tool.api.core.hsa_executable_load_agent_code_object_fn(executable, agent, reader, options, loaded);
  if (status == HSA_STATUS_SUCCESS)
    guarded(tool, "code object", [&] { tool.objects.load(executable.handle, agent.handle, reader.handle); });
  return status;
}

bool findSymbol(const Api &api, hsa_executable_t executable, hsa_agent_t agent, const std::string &kernel,
                hsa_executable_symbol_t &symbol) {
  const std::string descriptor = kernel + ".kd";
  return api.core.hsa_executable_get_symbol_by_name_fn(executable, descriptor.c_str(), &agent, &symbol) ==
         HSA_STATUS_SUCCESS;
}

uint32_t symbolNumber(const Api &api, hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what,
                      uint32_t otherwise) {
  uint32_t value = 0;
  return api.core.hsa_executable_symbol_get_info_fn(symbol, what, &value) == HSA_STATUS_SUCCESS ? value : otherwise;
}

uint64_t kernelObject(const Api &api, hsa_executable_symbol_t symbol) {
  uint64_t value = 0;
  hsa_status_t status =
      api.core.hsa_executable_symbol_get_info_fn(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &value);
  return status == HSA_STATUS_SUCCESS ? value : 0;
}

void fillTwin(const Api &api, hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t original,
              Kernel &kernel) {
  const TwinInfo &info = *kernel.twin;
  kernel.problem = report::printable(info.problem);
  hsa_executable_symbol_t twin{};
  if (!kernel.problem.empty())
    return;
  if (!findSymbol(api, executable, agent, info.twin.name, twin) || !(kernel.twinObject = kernelObject(api, twin))) {
    kernel.problem = "the loaded executable lacks " + info.twin.name;
    return;
  }
  constexpr auto group = HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE;
  constexpr auto scratch = HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE;
  constexpr auto kernarg = HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE;
  kernel.originalGroupBytes = symbolNumber(api, original, group, info.original.groupBytes);
  kernel.originalPrivateBytes = symbolNumber(api, original, scratch, info.original.privateBytes);
  kernel.twinGroupBytes = symbolNumber(api, twin, group, info.twin.groupBytes);
  kernel.twinPrivateBytes = symbolNumber(api, twin, scratch, info.twin.privateBytes);
  kernel.twinKernargBytes = symbolNumber(api, twin, kernarg, info.twin.kernargBytes);
}

void registerKernels(Tool &tool, hsa_executable_t executable, const LoadedObjects::Loaded &loaded) {
  hsa_agent_t agent{loaded.agent};
  for (const std::string &name : loaded.object->kernels()) {
    hsa_executable_symbol_t symbol{};
    uint64_t handle = 0;
    if (!findSymbol(tool.api, executable, agent, name, symbol) || !(handle = kernelObject(tool.api, symbol)))
      continue; // a kernel that cannot be found cannot be dispatched either
    std::shared_ptr<Kernel> kernel = namedKernel(tool, name);
    kernel->object = loaded.object;
    kernel->mayCallHost = loaded.object->mayCallHost(name);
    kernel->twin = loaded.object->twin(name);
    if (kernel->twin)
      fillTwin(tool.api, executable, agent, symbol, *kernel);
    else
      kernel->problem = report::printable(loaded.object->siteTableProblem());
    tool.kernels.add(executable.handle, handle, std::move(kernel));
  }
}

/// The variables of one agent, for reports. Where the runtime cannot list them, they are "outside the memory that
/// WaveSan follows".
void registerVariables(Tool &tool, hsa_executable_t executable, hsa_agent_t agent) {
  if (!tool.api.core.hsa_executable_iterate_agent_symbols_fn)
    return;
  auto visit = [](hsa_executable_t executable, hsa_agent_t, hsa_executable_symbol_t symbol, void *data) {
    Tool &tool = *static_cast<Tool *>(data);
    auto get = [&](hsa_executable_symbol_info_t what, void *value) {
      return tool.api.core.hsa_executable_symbol_get_info_fn(symbol, what, value) == HSA_STATUS_SUCCESS;
    };
    guarded(tool, "symbol", [&] {
      hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_KERNEL;
      uint64_t address = 0;
      uint32_t bytes = 0, length = 0;
      if (!get(HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind) || kind != HSA_SYMBOL_KIND_VARIABLE ||
          !get(HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &address) ||
          !get(HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &bytes) ||
          !get(HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length) || address == 0 || bytes == 0)
        return;
      std::string name(length, '\0');
      if (get(HSA_EXECUTABLE_SYMBOL_INFO_NAME, name.data()))
        tool.memory.addVariable(executable.handle, report::demangle(name), address, bytes);
    });
    return HSA_STATUS_SUCCESS;
  };
  tool.api.core.hsa_executable_iterate_agent_symbols_fn(executable, agent, visit, &tool);
}

/// Where the code object was loaded, judged from the descriptors of its kernels; nothing if they disagree.
std::optional<uint64_t> loadAddress(Tool &tool, hsa_executable_t executable, const LoadedObjects::Loaded &loaded) {
  std::unordered_map<std::string_view, uint64_t> addresses;
  for (const DataSymbol &data : loaded.object->data())
    addresses.emplace(data.name, data.address);
  std::optional<uint64_t> found;
  for (const std::string &name : loaded.object->kernels()) {
    hsa_executable_symbol_t symbol{};
    uint64_t handle = 0;
    if (!findSymbol(tool.api, executable, {loaded.agent}, name, symbol) || !(handle = kernelObject(tool.api, symbol)))
      continue;
    auto it = addresses.find(name + ".kd");
    if (it == addresses.end())
      continue;
    if (found && *found != handle - it->second)
      return std::nullopt;
    found = handle - it->second;
  }
  return found;
}

/// Variables of internal linkage, which the runtime does not list.
void registerLocalVariables(Tool &tool, hsa_executable_t executable, const LoadedObjects::Loaded &loaded) {
  constexpr std::string_view kDescriptorSuffix = ".kd";
  std::optional<uint64_t> base = loadAddress(tool, executable, loaded);
  if (!base)
    return;
  for (const DataSymbol &data : loaded.object->data()) {
    const uint64_t address = *base + data.address;
    if (!std::string_view(data.name).ends_with(kDescriptorSuffix) &&
        tool.memory.find(address, ~0ull).kind == report::MemoryPlace::Kind::Unknown)
      tool.memory.addVariable(executable.handle, report::demangle(data.name), address, data.bytes);
  }
}

hsa_status_t executableFreeze(hsa_executable_t executable, const char *options) {
  Tool &tool = *Tool::current();
  hsa_status_t status = tool.api.core.hsa_executable_freeze_fn(executable, options);
  if (status == HSA_STATUS_SUCCESS)
    guarded(tool, "executable", [&] {
      std::set<uint64_t> agents;
      for (const LoadedObjects::Loaded &loaded : tool.objects.takeLoaded(executable.handle)) {
        registerKernels(tool, executable, loaded);
        if (agents.insert(loaded.agent).second)
          registerVariables(tool, executable, {loaded.agent});
        if (loaded.object->instrumented())
          registerLocalVariables(tool, executable, loaded);
      }
    });
  return status;
}

hsa_status_t executableDestroy(hsa_executable_t executable) {
  Tool &tool = *Tool::current();
  tool.objects.takeLoaded(executable.handle);
  tool.kernels.removeExecutable(executable.handle);
  guarded(tool, "executable", [&] { tool.memory.removeExecutable(executable.handle); });
  return tool.api.core.hsa_executable_destroy_fn(executable);
}

/// Names kernels of executables that were loaded by ways the tool does not follow, for the list of unchecked kernels.
hsa_status_t symbolGetInfo(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute, void *value) {
  Tool &tool = *Tool::current();
  const Api &api = tool.api;
  hsa_status_t status = api.core.hsa_executable_symbol_get_info_fn(symbol, attribute, value);
  if (status != HSA_STATUS_SUCCESS || attribute != HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT || !value)
    return status;
  guarded(tool, "symbol", [&] {
    uint64_t handle = *static_cast<const uint64_t *>(value);
    if (handle == 0 || tool.kernels.find(handle))
      return;
    uint32_t length = symbolNumber(api, symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, 0);
    std::string name(length, '\0');
    if (length == 0 || api.core.hsa_executable_symbol_get_info_fn(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME,
                                                                  name.data()) != HSA_STATUS_SUCCESS)
      return;
    if (name.size() > 3 && name.compare(name.size() - 3, 3, ".kd") == 0)
      name.resize(name.size() - 3);
    tool.kernels.add(0, handle, namedKernel(tool, std::move(name)));
  });
  return status;
}

/// The table of replacements, applied in both directions.
template <class Visit> void forEachReplacement(Visit visit) {
  visit(&CoreApiTable::hsa_code_object_reader_create_from_memory_fn, readerFromMemory);
  visit(&CoreApiTable::hsa_code_object_reader_create_from_file_fn, readerFromFile);
  visit(&CoreApiTable::hsa_code_object_reader_destroy_fn, readerDestroy);
  visit(&CoreApiTable::hsa_executable_load_agent_code_object_fn, loadAgentCodeObject);
  visit(&CoreApiTable::hsa_executable_freeze_fn, executableFreeze);
  visit(&CoreApiTable::hsa_executable_destroy_fn, executableDestroy);
  visit(&CoreApiTable::hsa_executable_symbol_get_info_fn, symbolGetInfo);
}

} // namespace

void installLoaderInterceptors(CoreApiTable &core) {
  forEachReplacement([&](auto member, auto *replacement) { core.*member = replacement; });
}

void removeLoaderInterceptors(CoreApiTable &core, const CoreApiTable &original) {
  forEachReplacement([&](auto member, auto *replacement) {
    if (core.*member == replacement)
      core.*member = original.*member;
  });
}

} // namespace wavesan::hsa
