// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hip_functions.h"

#include "call_hook.h"

#include <dlfcn.h>

namespace wavesan::graph {

namespace {

/// Where the definition lies that the program's calls of `symbol` reach; null: nowhere.
const void *libraryOf(const void *function) {
  Dl_info info{};
  return function && dladdr(function, &info) ? info.dli_fbase : nullptr;
}

HipFunctions find() {
  HipFunctions found;
#define WAVESAN_GRAPH_FIND(Name, ...)                                                                                  \
  found.Name = reinterpret_cast<std::add_pointer_t<__VA_ARGS__>>(dlsym(RTLD_DEFAULT, #Name));
  WAVESAN_GRAPH_HIP_FUNCTIONS(WAVESAN_GRAPH_FIND)
#undef WAVESAN_GRAPH_FIND
  const void *own = libraryOf(reinterpret_cast<const void *>(&wavesan_hip_hook));
  // The functions that stand in front of HIP's are there whatever HIP has, and without any HIP.
#define WAVESAN_GRAPH_MISSING(Name, ...)                                                                               \
  if (found.Name && libraryOf(reinterpret_cast<const void *>(found.Name)) == own && !wavesan_hip_has(#Name))           \
    found.Name = nullptr;
  WAVESAN_GRAPH_HIP_FUNCTIONS(WAVESAN_GRAPH_MISSING)
#undef WAVESAN_GRAPH_MISSING
  found.interposed = own && libraryOf(dlsym(RTLD_DEFAULT, "hipLaunchKernel")) == own;
  return found;
}

} // namespace

bool HipFunctions::graphs() const {
  return hipGraphCreate && hipGraphDestroy && hipGraphAddKernelNode && hipGraphAddMemcpyNode &&
         hipGraphAddMemcpyNode1D && hipGraphAddMemsetNode && hipGraphAddHostNode && hipGraphInstantiate &&
         hipGraphExecDestroy && hipGraphLaunch && hipStreamWaitEvent && hipEventCreateWithFlags && hipEventDestroy &&
         hipEventRecord && hipEventQuery && hipStreamQuery;
}

const HipFunctions &hipFunctions() {
  static const HipFunctions functions = find();
  return functions;
}

} // namespace wavesan::graph
