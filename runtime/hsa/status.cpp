// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "status.h"

#include "wavesan/abi/hooks.h"

#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wavesan::hsa {

namespace {
/// Above the descriptors that programs expect to get from open().
constexpr int kLowestDescriptor = 100;

/// Null and one line in `why` when `text` does not name a usable page.
abi::StatusPage *mapPage(const char *text, int &descriptor, const char *&why) {
  char *end = nullptr;
  long fd = std::strtol(text, &end, 10);
  if (*end != '\0' || fd < 0 || fd > INT_MAX) {
    why = "not a file descriptor";
    return nullptr;
  }
  // The descriptor may have been closed, or be another file by now: look before mapping, check the magic after.
  struct stat info;
  if (fstat(int(fd), &info) != 0 || info.st_size < off_t(sizeof(abi::StatusPage))) {
    why = "the descriptor is closed or not the page";
    return nullptr;
  }
  void *memory = mmap(nullptr, sizeof(abi::StatusPage), PROT_READ | PROT_WRITE, MAP_SHARED, int(fd), 0);
  if (memory == MAP_FAILED) {
    why = "cannot be mapped";
    return nullptr;
  }
  auto *page = static_cast<abi::StatusPage *>(memory);
  if (page->magic != abi::kStatusMagic || page->version != abi::kAbiVersion) {
    munmap(memory, sizeof(abi::StatusPage));
    why = "belongs to another version of WaveSan";
    return nullptr;
  }
  descriptor = fcntl(int(fd), F_DUPFD_CLOEXEC, kLowestDescriptor); // the program may close the one it inherited
  return page;
}
} // namespace

Status::Status(std::string &error) {
  const char *text = std::getenv(abi::kStatusFdVariable);
  if (!text || !*text)
    return;
  const char *why = nullptr;
  Page = mapPage(text, Descriptor, why);
  if (Page) {
    uint64_t none = 0;
    const uint64_t self = uint64_t(getpid());
    First = Page->firstProcess.compare_exchange_strong(none, self) || none == self;
  } else
    error = std::string("status page (") + abi::kStatusFdVariable + "): " + why;
}

Status::~Status() {
  if (Descriptor >= 0)
    close(Descriptor);
  if (Page)
    munmap(Page, sizeof(abi::StatusPage));
}

void Status::add(std::atomic<uint64_t> abi::StatusPage::*counter, uint64_t n) {
  if (Page && n != 0)
    (Page->*counter).fetch_add(n, std::memory_order_relaxed);
}

void Status::subtract(std::atomic<uint64_t> abi::StatusPage::*counter, uint64_t n) {
  if (Page && n != 0)
    (Page->*counter).fetch_sub(n, std::memory_order_relaxed);
}

} // namespace wavesan::hsa
