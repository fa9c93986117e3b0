// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Is there an AMD GPU that this process may use?
#ifndef WAVESAN_DRIVER_GPU_PROBE_H
#define WAVESAN_DRIVER_GPU_PROBE_H

#include <filesystem>
#include <string>

namespace wavesan::driver {

/// Empty if /dev/kfd opens for reading and writing and the topology has a node with compute units, else the reason,
/// e.g.
/// "/dev/kfd: No such file or directory". `root` is "/" except in tests.
std::string whyNoGpu(const std::filesystem::path &root = "/");

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_GPU_PROBE_H
