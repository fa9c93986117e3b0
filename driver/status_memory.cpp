// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creating the status page.
#include "status_memory.h"

#include "wavesan/abi/hooks.h"

#include <cerrno>
#include <cstring>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

namespace wavesan::driver {

StatusMemory::StatusMemory(std::string &error) {
  auto failed = [&](const char *call) { error = std::string("status page: ") + call + ": " + std::strerror(errno); };
  Fd = memfd_create("wavesan-status", 0); // no MFD_CLOEXEC: the program inherits it
  if (Fd < 0) {
    failed("memfd_create");
    return;
  }
  if (ftruncate(Fd, sizeof(abi::StatusPage)) != 0) {
    failed("ftruncate");
    return;
  }
  void *memory = mmap(nullptr, sizeof(abi::StatusPage), PROT_READ | PROT_WRITE, MAP_SHARED, Fd, 0);
  if (memory == MAP_FAILED) {
    failed("mmap");
    return;
  }
  Page = new (memory) abi::StatusPage{};
  Page->version = abi::kAbiVersion;
  Page->magic = abi::kStatusMagic;
}

StatusMemory::~StatusMemory() {
  if (Page)
    munmap(Page, sizeof(abi::StatusPage));
  if (Fd >= 0)
    close(Fd);
}

std::string countsOf(const abi::StatusPage &page) {
  return "checked " + std::to_string(page.checkedAccesses.load()) + " accesses in " +
         std::to_string(page.kernels.load()) + " kernels: " + std::to_string(page.races.load()) + " races" +
         (page.waitHazards.load() ? ", " + std::to_string(page.waitHazards.load()) + " wait hazards" : std::string());
}

} // namespace wavesan::driver
