// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for a program with the HSA tool library: attaches to the status page, adds to it, and ends as told.
//   status_client [attach] [races=N] [checked=N] [kernels=N] [errors=N] [pending=N] [lost=N] [summary] [exit=N | signal=N]
#include "wavesan/abi/hooks.h"
#include "wavesan/abi/status_page.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <sys/mman.h>

int main(int argc, char **argv) {
  using namespace wavesan::abi;
  const char *fd = std::getenv(kStatusFdVariable);
  if (!fd)
    return 90;
  void *memory = mmap(nullptr, sizeof(StatusPage), PROT_READ | PROT_WRITE, MAP_SHARED, std::atoi(fd), 0);
  if (memory == MAP_FAILED)
    return 91;
  auto *page = static_cast<StatusPage *>(memory);
  if (page->magic != kStatusMagic || page->version != kAbiVersion)
    return 92;
  int status = 0;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    size_t equals = word.find('=');
    int n = equals == std::string_view::npos ? 0 : std::atoi(argv[i] + equals + 1);
    std::string_view name = word.substr(0, equals);
    if (name == "attach")
      page->processesAttached += 1;
    else if (name == "races")
      page->races += n;
    else if (name == "checked")
      page->checkedAccesses += n;
    else if (name == "kernels")
      page->kernels += n;
    else if (name == "errors")
      page->errors += n;
    else if (name == "pending")
      page->dispatchesPending += n;
    else if (name == "lost")
      page->racesLost += n;
    else if (name == "summary")
      page->summariesPrinted += 1;
    else if (name == "exit")
      status = n;
    else if (name == "signal")
      std::raise(n);
    else
      return 93;
  }
  return status;
}
