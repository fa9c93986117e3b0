// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding the compiler and the HIP installation, and what is old about the latter.
//
// Everything is read from the file system below a root directory and from an environment handed in, so that tests can
// describe a machine; only the version of a compiler is asked by running it.
#ifndef WAVESAN_DRIVER_TOOLCHAIN_H
#define WAVESAN_DRIVER_TOOLCHAIN_H

#include "compile_line.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace wavesan::driver {

/// Where detection looks.
struct Machine {
  std::filesystem::path root = "/"; ///< all absolute paths are looked up below this; results carry no root
  std::function<std::optional<std::string>(std::string_view)> environment; ///< value of a variable
  /// Full text of `COMPILER --version`, or nothing when it cannot be run.
  std::function<std::optional<std::string>(const std::string &compiler)> versionText;

  /// This machine. Thread-safe as far as getenv is.
  static Machine current();
  std::filesystem::path at(const std::filesystem::path &absolute) const { return root / absolute.relative_path(); }
};

struct Version {
  int major = 0, minor = 0, patch = 0;
  std::string text() const;
};

/// "... clang version 22.1.8 (1~deb12u1) ..." -> 22.1.8. Nothing where no LLVM version is named.
std::optional<Version> clangVersionIn(std::string_view versionText);

struct Compiler {
  std::string command; ///< as executed: a path, or a name that was found in PATH
  Version version;
  bool isHipcc = false; ///< hipcc itself is run and adds its own flags
};

/// What the plugin was built for.
struct PluginTarget {
  int llvmMajor, llvmMinor;
  std::string llvmBinDir; ///< of the LLVM it was built against; may not exist here
};

/// Chooses the compiler: WAVESAN_CXX; else the one named on the command line, where its LLVM matches the plugin; else
/// clang++-<major> in PATH, the LLVM that the plugin was built against, clang++ in PATH, ROCm's. `note` says when a
/// compiler named on the command line was replaced. On failure returns nothing and one line in `error`.
std::optional<Compiler> findCompiler(const Machine &machine, const PluginTarget &target, const std::string &named,
                                     std::string &note, std::string &error);

/// The HIP installation a compilation uses, and the repairs it needs for a new clang.
struct HipInstall {
  std::string rocmPath;           ///< what clang must be told by --rocm-path; empty: it finds it by itself
  std::string deviceLibPath;      ///< what clang must be told by --rocm-device-lib-path; empty: it finds it by itself
  std::string versionRoot;        ///< directory that holds include/hip; empty: no HIP found
  Version version;                ///< 0.0.0 when hip_version.h was not found
  bool headersAreMissing = false; ///< versionRoot was named by the user or the environment and holds no include/hip

  // Causes, each detected in the installed files:
  bool headersNeedWaveSize = false; ///< HIP headers read __AMDGCN_WAVEFRONT_SIZE, which clang 22 no longer defines
  bool headersNeedRcpF16 = false;   ///< hip_fp16.h calls __llvm_amdgcn_rcp_f16
  bool needsCodeObjectV4 = false;   ///< HIP before 6 rejects newer code objects
  std::string fenceBitcode;         ///< hip.bc, where it defines the __atomic_work_item_fence that headers call
  std::string denormalBitcodeOff;   ///< oclc_daz_opt_off.bc, where ocml.bc still needs it
  std::string denormalBitcodeOn;
};

HipInstall findHip(const Machine &machine, const CompileLine &line, const Version &clang);

/// Lanes per wave of a target such as "gfx90a:xnack+"; `wave64`: -mwavefrontsize64 is in force. Nothing for a name that
/// is not a gfx target.
std::optional<int> waveSizeOf(std::string_view arch, bool wave64);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_TOOLCHAIN_H
