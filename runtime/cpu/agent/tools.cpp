// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools.h"

#include "api_table.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace wavesan::agent {
namespace {

using OnLoadFunction = bool (*)(HsaApiTable *, uint64_t, uint64_t, const char *const *);
using OnUnloadFunction = void (*)();

/// Handles of loaded tools, in order. Guarded by the initialisation lock; unloading takes the whole list.
std::vector<void *> &loadedTools() {
  static auto &tools = *new std::vector<void *>;
  return tools;
}

std::vector<std::string> toolNames() {
  std::vector<std::string> names;
  const char *list = std::getenv("HSA_TOOLS_LIB"); // AMD's variable, not an option of WaveSan
  for (std::string_view rest = list ? list : ""; !rest.empty();) {
    const size_t end = rest.find(' ');
    if (end != 0)
      names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return names;
}

} // namespace

void loadTools() {
  std::vector<std::string> failed; // reserved below: tools hold pointers into it during OnLoad only
  const std::vector<std::string> names = toolNames();
  failed.reserve(names.size());
  std::vector<const char *> failedNames;
  auto report = [&](const std::string &name, const std::string &why) {
    std::fprintf(stderr, "wavesan: HSA tool library %s: %s\n", name.c_str(), why.c_str());
    failed.push_back(name);
    failedNames.push_back(failed.back().c_str());
  };
  for (const std::string &name : names) {
    void *handle = dlopen(name.c_str(), RTLD_NOW);
    if (!handle) {
      const char *why = dlerror();
      report(name, why ? why : "cannot be loaded");
      continue;
    }
    auto onLoad = reinterpret_cast<OnLoadFunction>(dlsym(handle, "OnLoad"));
    if (!onLoad)
      report(name, "has no function OnLoad");
    else if (!onLoad(&apiTable(), apiTable().version.major_id, failedNames.size(), failedNames.data()))
      report(name, "refused to load");
    else
      loadedTools().push_back(handle);
  }
}

void unloadTools() {
  std::vector<void *> tools;
  tools.swap(loadedTools());
  for (auto it = tools.rbegin(); it != tools.rend(); ++it)
    if (auto onUnload = reinterpret_cast<OnUnloadFunction>(dlsym(*it, "OnUnload")))
      onUnload();
}

} // namespace wavesan::agent
