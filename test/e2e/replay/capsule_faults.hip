// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process that is killed while it writes a capsule, wherever that is, leaves none or a whole one: `wavesan replay` never takes half of one. A full
// disk leaves none, says so, and changes nothing about the program.
// A sanitizer takes the addresses where a capsule's memory must lie (docs/development.md).
// UNSUPPORTED: sanitized
// RUN: %cc -rdynamic %s -o %t -ldl
// RUN: %status 66 %run90a -- %t > %t.plain 2> %t.plain.err
//
// In the middle of its contents, in front of its header, before it is synced, before and after it gets its name.
// RUN: for at in write1 write3 header fsync rename; do rm -rf %t.d && env KILL_AT=$at %status 66 %run90a --capsule=%t.d -- %t > %t.out 2> %t.err || exit 1; \
// RUN:   FileCheck --check-prefix=KILLED --input-file=%t.err %s || exit 1; \
// RUN:   ls %t.d > %t.list; grep 'part' %t.list || exit 1; not grep 'capsule$' %t.list || exit 1; \
// RUN:   %status 2 %wavesan replay --device=cpu %t.d 2> %t.none || exit 1; FileCheck --check-prefix=NONE --input-file=%t.none %s || exit 1; \
// RUN:   if test $at != fsync && test $at != rename; then %status 2 %wavesan replay --device=cpu %t.d/*part* 2> %t.half || exit 1; \
// RUN:     FileCheck --check-prefix=HALF --input-file=%t.half %s || exit 1; fi; done
// KILLED: wavesan: program ended by signal 9 (Killed) before its summary; so far: checked {{[1-9][0-9]*}} accesses in 1 kernels: 1 races
// NONE: wavesan: error: replay: no capsule in {{.*}}.d
// HALF: wavesan: error: replay: {{.*}}.capsule.part{{.*}}: {{.+}}
// RUN: rm -rf %t.d && env KILL_AT=renamed %status 66 %run90a --capsule=%t.d -- %t 2> %t.err
// RUN: %status 0 %wavesan replay --device=cpu %t.d
//
// A killed process's leftovers are in nobody's way.
// RUN: rm -rf %t.d && env KILL_AT=write3 %status 66 %run90a --capsule=%t.d -- %t 2> %t.err
// RUN: %status 66 %run90a --capsule=%t.d -- %t 2> %t.err > %t.out
// RUN: %status 0 %wavesan replay --device=cpu %t.d
// RUN: diff %t.plain %t.out
//
// A full disk.
// RUN: rm -rf %t.d && env KILL_AT=full %status 66 %run90a --capsule=%t.d -- %t > %t.out 2> %t.err
// RUN: FileCheck --check-prefix=FULL --input-file=%t.err %s
// RUN: diff %t.plain %t.out && ls -A %t.d | count 0
// FULL: wavesan: no capsule for dispatch 1, mirror(int*): cannot write {{.*}}.capsule: File too large
// FULL: wavesan: capsules: 0 written to
// FULL: wavesan: 1 error of WaveSan itself (printed above)
#include "twin.h"

#include <csignal>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace {

bool isCapsule(int fd) {
  char target[512] = "";
  return readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target, sizeof(target) - 1) > 0 && std::strstr(target, ".capsule.part");
}
bool killsAt(const char *step) {
  const char *at = std::getenv("KILL_AT");
  return at && std::strcmp(at, step) == 0;
}

} // namespace

// In place of those of libc.
extern "C" __attribute__((visibility("default"))) ssize_t write(int fd, const void *data, size_t bytes) {
  static const auto real = reinterpret_cast<ssize_t (*)(int, const void *, size_t)>(dlsym(RTLD_NEXT, "write"));
  static int count = 0;
  if (std::getenv("KILL_AT") && isCapsule(fd)) {
    ++count;
    if (killsAt("header") && bytes == 32) // of the file, the last but one
      raise(SIGKILL);
    if (killsAt(("write" + std::to_string(count)).c_str())) {
      real(fd, data, bytes / 2);
      raise(SIGKILL);
    }
  }
  return real(fd, data, bytes);
}
extern "C" __attribute__((visibility("default"))) int fsync(int fd) {
  if (killsAt("fsync") && isCapsule(fd))
    raise(SIGKILL);
  return int(reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "fsync"))(fd));
}
extern "C" __attribute__((visibility("default"))) int rename(const char *from, const char *to) {
  const bool capsule = std::strstr(from, ".capsule.part");
  if (capsule && killsAt("rename"))
    raise(SIGKILL);
  const int status = reinterpret_cast<int (*)(const char *, const char *)>(dlsym(RTLD_NEXT, "rename"))(from, to);
  if (capsule && killsAt("renamed"))
    raise(SIGKILL);
  return status;
}

constexpr int kSize = 128;

__global__ void mirror(int *data) {
  __shared__ int tile[kSize];
  tile[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = tile[kSize - 1 - threadIdx.x];
}

int main() {
  std::vector<int> values(1 << 20); // 4 MiB that cannot be compressed away
  uint32_t random = 1;
  for (int &value : values)
    value = int(random = random * 1664525 + 1013904223 + (random >> 16));
  for (int i = 0; i < kSize; ++i)
    values[size_t(i)] = i;
  int *data = twin::onDevice(values);
  if (killsAt("full")) { // only now: HIP has written files
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 2 << 20;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  mirror<<<1, kSize>>>(data);
  const std::vector<int> after = twin::fromDevice(data, values.size());
  uint64_t hash = 1469598103934665603u;
  for (int value : after)
    hash = (hash ^ uint64_t(uint32_t(value))) * 1099511628211u;
  std::printf("hash %llx\n", static_cast<unsigned long long>(hash));
}
