// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "page_share.h"

#include "fault_handler.h"

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace wavesan::agent {
namespace {

/// A run of pages of one mapping.
struct Run {
  char *begin;
  size_t bytes;
  int protection;
  bool shared;
};

/// The mappings that make up [pages, pages + bytes). False if there is a hole.
bool findRuns(char *pages, size_t bytes, std::vector<Run> &runs) {
  FILE *maps = std::fopen("/proc/self/maps", "re");
  if (!maps)
    return false;
  auto at = reinterpret_cast<uintptr_t>(pages);
  const uintptr_t end = at + bytes;
  char line[4352];
  while (at < end && std::fgets(line, sizeof(line), maps)) {
    uintptr_t first, last;
    char flags[5];
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &first, &last, flags) != 3 || last <= at)
      continue;
    if (first > at)
      break;
    const uintptr_t stop = std::min(last, end);
    const int protection = (flags[0] == 'r' ? PROT_READ : 0) | (flags[1] == 'w' ? PROT_WRITE : 0);
    runs.push_back({reinterpret_cast<char *>(at), stop - at, protection, flags[3] == 's'});
    at = stop;
  }
  std::fclose(maps);
  return at == end;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WAVESAN_COPY_UNSEEN
#endif
#endif

/// Copies whole pages: with what was registered also the heap's bytes around it, which sanitizers must not judge.
#ifdef WAVESAN_COPY_UNSEEN
__attribute__((no_sanitize("address", "thread"))) void copyPages(char *to, const char *from, size_t bytes) {
  auto *out = reinterpret_cast<volatile uint64_t *>(to); // volatile: or the compiler makes it memcpy again
  auto *in = reinterpret_cast<const volatile uint64_t *>(from);
  for (size_t i = 0; i < bytes / sizeof(uint64_t); ++i)
    out[i] = in[i];
}
#else
void copyPages(char *to, const char *from, size_t bytes) { std::memcpy(to, from, bytes); }
#endif

/// Puts the file's pages, which hold the same bytes, in the place of `run`. A system call of its own: sanitizers take
/// mmap() for a write to everything that lies there, while other threads may be using it.
bool replacePages(const Run &run, int fd) {
  return syscall(SYS_mmap, run.begin, run.bytes, run.protection, MAP_SHARED | MAP_FIXED, fd, 0L) ==
         reinterpret_cast<long>(run.begin);
}

bool moveRun(const Run &run, char *alias) {
  if (run.shared) // can be mapped again as it is
    return mremap(run.begin, 0, run.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, alias) != MAP_FAILED;
  if (!(run.protection & PROT_READ))
    return false;
  const int fd = memfd_create("wavesan-registered", MFD_CLOEXEC);
  if (fd < 0)
    return false;
  bool done = false;
  if (ftruncate(fd, off_t(run.bytes)) == 0 &&
      mmap(alias, run.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == alias) {
    MovingPages moving(run.begin, run.bytes);
    if (mprotect(run.begin, run.bytes, PROT_READ) == 0) {
      copyPages(alias, run.begin, run.bytes);
      done = replacePages(run, fd);
      if (!done)
        mprotect(run.begin, run.bytes, run.protection);
    }
  }
  close(fd);
  return done;
}

bool share(char *pages, size_t bytes, char *alias) {
  std::vector<Run> runs;
  if (!findRuns(pages, bytes, runs))
    return false;
  for (const Run &run : runs)
    if (!moveRun(run, alias + (run.begin - pages)))
      return false;
  return true;
}

} // namespace

bool sharePages(char *pages, size_t bytes, char *alias) {
  static std::mutex &mutex = *new std::mutex;
  std::lock_guard lock(mutex);
  // On a thread of its own: the pages may hold the caller's stack, which must not change while they move.
  bool done = false;
  try {
    std::thread([&] { done = share(pages, bytes, alias); }).join();
  } catch (const std::system_error &) { // no thread: not shared
  }
  return done;
}

} // namespace wavesan::agent
