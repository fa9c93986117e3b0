// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding HIP's own functions.
#include "real_hip.h"

#include <dlfcn.h>

namespace wavesan::hip {

namespace {

constexpr const char *kLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so.4",
                                      "libamdhip64.so"};
/// Every version of HIP has it, and it is not interposed.
constexpr char kAlwaysThere[] = "hipGetDeviceCount";

} // namespace

void *findRealFunction(const char *symbol, bool &final) {
  if (void *next = dlsym(RTLD_NEXT, symbol)) {
    final = true;
    return next;
  }
  final = dlsym(RTLD_NEXT, kAlwaysThere) != nullptr;
  for (const char *library : kLibraries) {
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
      continue;
    void *function = dlsym(handle, symbol);
    dlclose(handle); // only counts down: somebody else has loaded it
    final = true;
    if (function)
      return function;
  }
  return nullptr;
}

} // namespace wavesan::hip
