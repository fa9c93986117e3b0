// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The status page that the driver and the tool share.
#ifndef WAVESAN_TEST_HSA_SHARED_PAGE_H
#define WAVESAN_TEST_HSA_SHARED_PAGE_H

#include "wavesan/abi/hooks.h"
#include "wavesan/abi/status_page.h"

#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace wavesan::test {

/// A status page as the driver makes it, announced in the environment.
struct SharedPage {
  SharedPage() {
    Descriptor = memfd_create("wavesan-status", 0);
    if (ftruncate(Descriptor, 4096) != 0)
      std::abort();
    page = static_cast<abi::StatusPage *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, Descriptor, 0));
    page->magic = abi::kStatusMagic;
    page->version = abi::kAbiVersion;
    setenv(abi::kStatusFdVariable, std::to_string(Descriptor).c_str(), 1);
  }
  ~SharedPage() {
    unsetenv(abi::kStatusFdVariable);
    munmap(page, 4096);
    close(Descriptor);
  }
  int Descriptor;
  abi::StatusPage *page;
};

} // namespace wavesan::test

#endif // WAVESAN_TEST_HSA_SHARED_PAGE_H
