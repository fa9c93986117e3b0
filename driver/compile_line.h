// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a clang++/hipcc command line asks for. Reading only: nothing here adds or drops an argument.
#ifndef WAVESAN_DRIVER_COMPILE_LINE_H
#define WAVESAN_DRIVER_COMPILE_LINE_H

#include <cstddef>
#include <string>
#include <vector>

namespace wavesan::driver {

/// An input file of the command line.
struct CompileInput {
  size_t index; ///< in CompileLine::args
  std::string path;
  std::string language; ///< the -x in force at this place; empty: by file name
  bool isSource;        ///< false: object, archive, library
  bool isHip;           ///< compiled as HIP once the command is complete
  bool needsLanguage;   ///< the compiler would not take it as HIP by itself: `-x hip` goes in front
};

/// How far the compiler goes.
enum class CompilePhase {
  Preprocess, ///< -E, -M, -MM, -fsyntax-only: no code is generated
  Compile,    ///< -c, -S, -emit-llvm: no link
  Link,       ///< sources (or objects) to an executable
};

struct CompileLine {
  std::string compiler;          ///< leading compiler name, stripped ("hipcc", "clang++", a path); empty if none
  std::vector<std::string> args; ///< the rest; response files expanded
  std::vector<std::string> verbatimArgs; ///< the rest as given
  bool usedResponseFile = false;

  std::vector<CompileInput> inputs;
  CompilePhase phase = CompilePhase::Link;
  std::vector<std::string> offloadArchs; ///< as given, e.g. "gfx90a:xnack+"; duplicates dropped
  std::string rocmPath;                  ///< --rocm-path= or --hip-path=
  bool hasDeviceLibPath = false;         ///< --rocm-device-lib-path= or --hip-device-lib-path=
  std::string deviceLibPath;             ///< its value
  bool hasLibraryPath = false;           ///< any -L, or no standard libraries: what is linked is the user's business
  bool assemblyOnly = false;             ///< -S or -emit-llvm: device code is not linked
  bool hasDebugInfo = false;             ///< any -g option that asks for line numbers (not -g0, -ggdb0)
  bool deniesDebugInfo = false;          ///< -g0 or -ggdb0 is the last of them
  bool hasOptimization = false;          ///< any -O
  bool hasCodeObjectVersion = false;
  bool definesWaveSize = false;   ///< -D or -U of __AMDGCN_WAVEFRONT_SIZE
  bool wave64 = false;            ///< -mwavefrontsize64
  bool relocatableDevice = false; ///< -fgpu-rdc in force
  bool hostOnly = false;          ///< --cuda-host-only, --offload-host-only
  bool noGpuLib = false;
  bool noGpuInc = false;
  bool flushDenormals = false;            ///< -fgpu-flush-denormals-to-zero
  bool hipLink = false;                   ///< --hip-link
  bool linksHipObjects = false;           ///< not from this line: linksHipObjects() in hip_objects.h
  bool checksHost = false;        ///< --check-host of `wavesan cc`
  std::vector<std::string> pluginOptions; ///< from `wavesan cc`'s own options, not from this line

  bool isHipcc() const;
  bool hasSource() const;
  bool hasHipSource() const;
};

/// Reads `words` (everything after `wavesan cc`). Response files (@file, GNU quoting) are read here, nested ones too.
/// On failure `error` is one line.
CompileLine readCompileLine(const std::vector<std::string> &words, std::string &error);

/// Splits the text of a response file the way the compiler does: blanks separate, quotes group, backslash escapes.
std::vector<std::string> splitResponseFile(const std::string &text);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_COMPILE_LINE_H
