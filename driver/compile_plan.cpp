// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what a command line asks for to the command that is run. What is added goes in front of the user's arguments, so
// that theirs win wherever both speak; a flag that only a repair needs is added only where its cause was detected.
#include "compile_plan.h"

#include <algorithm>

namespace wavesan::driver {

namespace {

constexpr char kDefaultArch[] = "gfx90a";

/// __AMDGCN_WAVEFRONT_SIZE, once per target: two targets of one compilation may differ.
bool addWaveSizes(const CompileLine &line, const std::vector<std::string> &archs, CompilePlan &plan) {
  const std::string define = "-D__AMDGCN_WAVEFRONT_SIZE=";
  for (const std::string &arch : archs) {
    std::optional<int> size = waveSizeOf(arch, line.wave64);
    if (!size) {
      plan.error = "unknown GPU target '" + arch +
                   "': the installed HIP headers need its wave size; give "
                   "-D__AMDGCN_WAVEFRONT_SIZE=32 or 64 yourself";
      return false;
    }
    if (!line.hostOnly) // clang would warn of an option that it has no use for
      plan.command.insert(plan.command.end(), {"-Xarch_" + arch, define + std::to_string(*size)});
  }
  // Host code reads warpSize too; 64 is what clang itself used to define there.
  plan.command.insert(plan.command.end(), {"-Xarch_host", define + "64"});
  return true;
}

void addBitcode(const std::string &file, std::vector<std::string> &command) {
  // There is no device-only spelling of this flag. Nothing is linked into host code, which refers to none of it.
  command.insert(command.end(), {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", file});
}

/// The user's arguments, with the language in front of files that the compiler would take for something else.
void addUserArguments(const CompileLine &line, bool markLanguages, std::vector<std::string> &command) {
  bool marks = markLanguages && std::any_of(line.inputs.begin(), line.inputs.end(),
                                            [](const CompileInput &i) { return i.needsLanguage; });
  if (!marks) {
    command.insert(command.end(), line.verbatimArgs.begin(), line.verbatimArgs.end());
    return;
  }
  auto input = line.inputs.begin();
  for (size_t i = 0; i < line.args.size(); ++i) {
    while (input != line.inputs.end() && input->index < i)
      ++input;
    bool mark = input != line.inputs.end() && input->index == i && input->needsLanguage;
    if (mark)
      command.insert(command.end(), {"-x", "hip"});
    command.push_back(line.args[i]);
    if (mark && std::next(input) != line.inputs.end()) // clang warns of one behind the last file
      command.insert(command.end(), {"-x", "none"});
  }
}

} // namespace

CompilePlan planCompile(const CompileLine &line, const Compiler &compiler, const HipInstall &hip,
                        const Layout &layout) {
  CompilePlan plan;
  plan.command = {compiler.command};
  std::vector<std::string> &c = plan.command;
  auto add = [&](std::initializer_list<std::string> words) { c.insert(c.end(), words); };

  if (!line.hasHipSource()) {
    // hipcc links HIP programs from objects alone; clang++ is told to.
    if ((line.isHipcc() || line.linksHipObjects) && !compiler.isHipcc && line.phase == CompilePhase::Link &&
        !line.inputs.empty() && !line.hasSource()) {
      if (!line.hipLink)
        add({"--hip-link"});
      if (!hip.rocmPath.empty())
        add({"--rocm-path=" + hip.rocmPath});
    }
    addUserArguments(line, false, c);
    return plan;
  }

  if (line.relocatableDevice) {
    plan.error = "-fgpu-rdc is not supported: the plugin instruments whole device programs; compile without it";
    return plan;
  }

  std::vector<std::string> archs = line.offloadArchs;
  if (archs.empty()) {
    archs = {kDefaultArch};
    add({std::string("--offload-arch=") + kDefaultArch});
    plan.notes.push_back(std::string("no --offload-arch given, compiling for ") + kDefaultArch);
  }
  bool native = std::find(archs.begin(), archs.end(), "native") != archs.end();

  // 1. The HIP installation, where clang would not find it; hipcc knows its own.
  if (!compiler.isHipcc) {
    if (!hip.rocmPath.empty())
      add({"--rocm-path=" + hip.rocmPath});
    if (!hip.deviceLibPath.empty())
      add({"--rocm-device-lib-path=" + hip.deviceLibPath});
    if (line.isHipcc() && !line.hasOptimization)
      add({"-O3"}); // hipcc's default
  }

  // 2. Repairs for an old HIP under a new clang.
  if (hip.headersNeedWaveSize && !line.definesWaveSize && !line.noGpuInc) {
    if (native) {
      plan.error = "--offload-arch=native: the installed HIP headers need the wave size; name the GPU target instead";
      return plan;
    }
    if (!addWaveSizes(line, archs, plan))
      return plan;
  }
  if (hip.headersNeedRcpF16 && !line.noGpuInc)
    add({"-include", layout.compatHeader.string()});
  bool generatesCode = line.phase != CompilePhase::Preprocess;
  // Preprocessing, too: the compiler looks for the device library of the version before it does anything.
  if (hip.needsCodeObjectV4 && !line.hasCodeObjectVersion)
    add({"-mcode-object-version=4"});
  const std::string &denormals = line.flushDenormals ? hip.denormalBitcodeOn : hip.denormalBitcodeOff;
  if (generatesCode && !line.hostOnly && (!hip.fenceBitcode.empty() || !denormals.empty())) {
    if (!hip.fenceBitcode.empty())
      addBitcode(hip.fenceBitcode, c);
    if (!denormals.empty())
      addBitcode(denormals, c);
    add({"-Xarch_host", "-Wno-linker-warnings"}); // "different target triples": see addBitcode
  }

  // 3. Instrumentation, of device code only: host code stays as it would be. Both get line tables: races between
  // commands name the lines of the HIP calls.
  if (generatesCode && !line.hostOnly) {
    add({"-Xarch_device", "-fpass-plugin=" + layout.plugin.string()});
    if (line.checksHost)
      add({"-Xarch_host", "-fpass-plugin=" + layout.plugin.string()});
    if (!line.hasDebugInfo)
      add({"-gline-tables-only"});
    if (line.deniesDebugInfo)
      plan.notes.push_back(
          "-g0: reports will name no source lines, and waves that wait at different barriers cannot be "
          "told apart");
    // The plugin's options are known once it is loaded. There is no device-only spelling; host code ignores them.
    if (!line.pluginOptions.empty())
      add({"-fplugin=" + layout.plugin.string()});
    for (const std::string &option : line.pluginOptions)
      add({"-Xclang", "-mllvm", "-Xclang", option});
  }

  addUserArguments(line, !compiler.isHipcc, c);
  return plan;
}

} // namespace wavesan::driver
