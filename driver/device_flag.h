// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --device of the commands that run something.
#ifndef WAVESAN_DRIVER_DEVICE_FLAG_H
#define WAVESAN_DRIVER_DEVICE_FLAG_H

#include "commands.h"

#include <CLI/CLI.hpp>

#include <string>

namespace wavesan::driver {

/// Adds the flag to `app`, which must be parsed while this object lives.
class DeviceFlag {
public:
  explicit DeviceFlag(CLI::App &app) {
    app.add_option("--device", Name, "auto: the GPU if there is one, else the CPU agent; gpu; cpu")
        ->check(CLI::IsMember({"auto", "gpu", "cpu"}));
  }
  DeviceFlag(const DeviceFlag &) = delete;
  DeviceFlag &operator=(const DeviceFlag &) = delete;

  RunRequest::Device device() const {
    return Name == "gpu" ? RunRequest::Device::Gpu : Name == "cpu" ? RunRequest::Device::Cpu : RunRequest::Device::Auto;
  }

private:
  std::string Name = "auto";
};

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_DEVICE_FLAG_H
