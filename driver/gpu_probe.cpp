// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looking for a usable AMD GPU, by the two things that ROCr itself needs.
#include "gpu_probe.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace wavesan::driver {

static bool hasComputeUnits(const fs::path &properties) {
  std::ifstream in(properties);
  std::string name;
  unsigned long long value;
  while (in >> name >> value)
    if (name == "simd_count" && value > 0)
      return true;
  return false;
}

std::string whyNoGpu(const fs::path &root) {
  fs::path kfd = root / "dev" / "kfd";
  int fd = open(kfd.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0)
    return std::string("/dev/kfd: ") + std::strerror(errno);
  close(fd);
  std::error_code ec;
  for (const fs::directory_entry &node : fs::directory_iterator(root / "sys/class/kfd/kfd/topology/nodes", ec))
    if (hasComputeUnits(node.path() / "properties"))
      return {};
  return "/dev/kfd is there, but /sys/class/kfd lists no GPU";
}

} // namespace wavesan::driver
