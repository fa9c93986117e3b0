// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an installation needs, one function for each thing. `wavesan doctor` asks them all; `cc` and `run` ask those
// that they depend on and fail with the same line. All look below Machine::root only, except where noted; none prints.
#ifndef WAVESAN_DRIVER_CHECKS_H
#define WAVESAN_DRIVER_CHECKS_H

#include "layout.h"
#include "plugin_identity.h"
#include "toolchain.h"

#include <optional>
#include <string>
#include <vector>

namespace wavesan::driver {

struct Check {
  enum class State {
    Ok,
    Note,    ///< missing, and nothing depends on it here
    Problem, ///< `text` says what to install or to change
  };
  std::string name; ///< one word, stable: scripts read it (`wavesan doctor --json`)
  State state = State::Ok;
  std::string text; ///< one line

  bool isProblem() const { return state == State::Problem; }
};

// For compiling.

/// The header that bridges an old HIP (Layout::compatHeader).
Check checkCompatHeader(const Layout &layout);

/// What a compiler must match: the plugin's LLVM, or the LLVM of this build where the plugin does not say.
PluginTarget pluginTarget(const std::optional<PluginIdentity> &identity);

/// The plugin's file, its version, and the LLVM that it was built for. Not below the root: `layout` is this process's.
Check checkPlugin(const Layout &layout, std::optional<PluginIdentity> &identity);

/// `note` as from findCompiler.
Check checkCompiler(const Machine &machine, const PluginTarget &target, const std::string &named,
                    std::optional<Compiler> &compiler, std::string &note);

/// HIP's headers.
Check checkHip(const HipInstall &hip);

/// HIP's library, to link with and to run with, and whether it is the headers' version.
Check checkHipRuntime(const Machine &machine, const HipInstall &hip);

/// Where the device libraries are; empty if nowhere.
std::string findDeviceLibraries(const Machine &machine, const CompileLine &line, const HipInstall &hip,
                                const Compiler &compiler);

/// "gfx900", "gfx90a", ... in ascending order: the targets that the libraries in `directory` serve.
std::vector<std::string> targetsOf(const Machine &machine, const std::string &directory);

/// The device libraries, and whether they serve each of `line`'s targets.
Check checkDeviceLibraries(const Machine &machine, const CompileLine &line, const HipInstall &hip,
                           const Compiler &compiler);

/// The lld that clang will run to link device code.
Check checkLinker(const Machine &machine, const Compiler &compiler);

/// The program of LLVM that joins device and host code of one object; Debian has it in a package of its own.
Check checkBundler(const Machine &machine, const CompileLine &line, const Compiler &compiler);

/// The directory in which clang puts its temporary files. Makes a file there and removes it.
Check checkTemporaryDirectory(const Machine &machine);

// For running.

/// The tool library and the agent, on disk. With `load`, each is loaded in a child process, so that a library that they
/// lack is named too.
Check checkHsaTool(const Layout &layout, bool load);
Check checkAgent(const Layout &layout, bool load);
Check checkHipTool(const Layout &layout, bool load);

/// The program behind `wavesan check`.
Check checkWaitChecker(const Layout &layout);

/// The program behind `wavesan replay`.
Check checkReplayer(const Layout &layout);

/// ROCr: needed on a GPU only, so its absence is a problem only with `gpuWanted`.
Check checkHsaRuntime(const Machine &machine, bool gpuWanted);

/// A note where there is none; a problem where there is one that may not be used.
Check checkGpu(const Machine &machine);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_CHECKS_H
