// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A made-up machine for tests of detection.
#ifndef WAVESAN_TEST_DESCRIBED_MACHINE_H
#define WAVESAN_TEST_DESCRIBED_MACHINE_H

#include "temporary_directory.h"
#include "toolchain.h"

#include <map>
#include <optional>
#include <string>

namespace wavesan::test {

/// A machine below a temporary root.
struct Described {
  TemporaryDirectory dir;
  std::map<std::string, std::string> variables = {{"PATH", "/usr/bin"}};
  std::map<std::string, std::string> compilers; ///< command -> version text

  driver::Machine machine() {
    driver::Machine m;
    m.root = dir.path();
    m.environment = [this](std::string_view name) -> std::optional<std::string> {
      auto it = variables.find(std::string(name));
      return it == variables.end() ? std::nullopt : std::optional<std::string>(it->second);
    };
    m.versionText = [this](const std::string &command) -> std::optional<std::string> {
      auto it = compilers.find(command);
      return it == compilers.end() ? std::nullopt : std::optional<std::string>(it->second);
    };
    return m;
  }
  void compiler(const std::string &path, const std::string &command, const std::string &version) {
    dir.write(path, "");
    compilers[command] = "clang version " + version + " (somewhere)\n";
  }
  void oldDebianHip() {
    dir.write("usr/include/hip/hip_version.h",
              "#define HIP_VERSION_MAJOR 5\n#define HIP_VERSION_MINOR 2\n#define HIP_VERSION_PATCH 21153\n");
    dir.write("usr/include/hip/amd_detail/amd_warp_functions.h",
              "static constexpr int warpSize = __AMDGCN_WAVEFRONT_SIZE;\n");
    dir.write("usr/include/hip/amd_detail/amd_device_functions.h", "__atomic_work_item_fence(0)");
    dir.write("usr/include/hip/amd_detail/amd_hip_fp16.h", "__llvm_amdgcn_rcp_f16(x)");
    dir.write("usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc", "..__oclc_daz_opt..");
    dir.write("usr/lib/x86_64-linux-gnu/amdgcn/bitcode/hip.bc", "..__atomic_work_item_fence..");
    dir.write("usr/lib/x86_64-linux-gnu/amdgcn/bitcode/oclc_daz_opt_off.bc", "");
    dir.write("usr/lib/x86_64-linux-gnu/amdgcn/bitcode/oclc_daz_opt_on.bc", "");
  }
};

} // namespace wavesan::test

#endif // WAVESAN_TEST_DESCRIBED_MACHINE_H
