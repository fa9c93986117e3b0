// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks that compiling depends on.
#include "checks.h"

#include "build_info.h"
#include "library_search.h"

#include "wavesan/abi/hooks.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace fs = std::filesystem;

namespace wavesan::driver {

namespace {

using State = Check::State;

bool isFile(const fs::path &p) {
  std::error_code ec;
  return fs::is_regular_file(p, ec);
}

/// The directory of the executable behind `command`, links followed, without the machine's root.
fs::path directoryOfCommand(const Machine &machine, const std::string &command) {
  fs::path file = command;
  if (command.find('/') == std::string::npos)
    file = findInPath(machine, command);
  std::error_code ec;
  const fs::path real = fs::canonical(machine.at(fs::absolute(file)), ec);
  if (ec)
    return {};
  const fs::path root = fs::canonical(machine.root, ec);
  return fs::path("/") / real.parent_path().lexically_relative(root);
}

std::string withoutFeatures(const std::string &arch) { return arch.substr(0, arch.find(':')); }

/// Of the targets that WaveSan knows: older ones would only make the line long.
std::string supportedOnes(const std::vector<std::string> &targets) {
  std::string out;
  for (const std::string &t : targets) {
    const bool old = t.size() < 6 || t.starts_with("gfx6") || t.starts_with("gfx7") || t.starts_with("gfx8");
    if (!old)
      out += (out.empty() ? "" : " ") + t;
  }
  return out.empty() ? "none" : out;
}

} // namespace

Check checkCompatHeader(const Layout &layout) {
  if (std::string missing = missingPart(layout.compatHeader, "the header for old HIP versions"); !missing.empty())
    return {"compat-header", State::Problem, missing};
  return {"compat-header", State::Ok, layout.compatHeader.string()};
}

PluginTarget pluginTarget(const std::optional<PluginIdentity> &identity) {
  if (!identity)
    return {kLlvmMajor, kLlvmMinor, kLlvmBinDir};
  // The LLVM that this build found is of use for a plugin of its version only.
  const bool sameLlvm = identity->llvmMajor == kLlvmMajor && identity->llvmMinor == kLlvmMinor;
  return {identity->llvmMajor, identity->llvmMinor, sameLlvm ? kLlvmBinDir : ""};
}

Check checkPlugin(const Layout &layout, std::optional<PluginIdentity> &identity) {
  if (std::string missing = missingPart(layout.plugin, "the compiler plugin"); !missing.empty())
    return {"plugin", State::Problem, missing};
  identity = readPluginIdentity(layout.plugin);
  if (!identity)
    return {"plugin", State::Problem,
            layout.plugin.string() +
                " is no WaveSan plugin, or a damaged or much older one; build or install WaveSan completely"};
  if (identity->version != kVersion || identity->abi != abi::kAbiVersion)
    return {"plugin", State::Problem,
            "the compiler plugin " + layout.plugin.string() + " is of WaveSan " + identity->version + " (ABI " +
                std::to_string(identity->abi) + "), this command of WaveSan " + kVersion + " (ABI " +
                std::to_string(abi::kAbiVersion) + "); build or install both from one version"};
  return {"plugin", State::Ok,
          "for LLVM " + std::to_string(identity->llvmMajor) + "." + std::to_string(identity->llvmMinor) + ": " +
              layout.plugin.string()};
}

Check checkCompiler(const Machine &machine, const PluginTarget &target, const std::string &named,
                    std::optional<Compiler> &compiler, std::string &note) {
  std::string error;
  compiler = findCompiler(machine, target, named, note, error);
  if (!compiler)
    return {"compiler", State::Problem, error};
  return {"compiler", State::Ok,
          compiler->command + ", clang " + compiler->version.text() + (note.empty() ? "" : " (" + note + ")")};
}

Check checkHip(const HipInstall &hip) {
  if (hip.versionRoot.empty())
    return {"hip-headers", State::Problem,
            "no HIP installation found (looked for include/hip below /opt/rocm and /usr); install libamdhip64-dev or "
            "give --rocm-path=DIR"};
  if (hip.headersAreMissing)
    return {"hip-headers", State::Problem,
            "no HIP headers in " + hip.versionRoot +
                "/include/hip; give the directory of a HIP installation by "
                "--rocm-path=DIR or ROCM_PATH, or install libamdhip64-dev"};
  return {"hip-headers", State::Ok, "HIP " + hip.version.text() + " in " + hip.versionRoot + "/include/hip"};
}

Check checkHipRuntime(const Machine &machine, const HipInstall &hip) {
  const std::string name = "libamdhip64.so";
  const std::string library = findLibrary(machine, name, hip.versionRoot);
  if (library.empty()) {
    const std::string versioned = findLibrary(machine, name + "." + std::to_string(hip.version.major), hip.versionRoot);
    return {"hip-runtime", State::Problem,
            versioned.empty()
                ? "no HIP runtime (libamdhip64.so) found; install libamdhip64-dev or ROCm's hip-runtime-amd"
                : "only " + versioned + " found, without libamdhip64.so to link with; install libamdhip64-dev"};
  }
  // libamdhip64.so -> libamdhip64.so.5 -> libamdhip64.so.5.2.21153
  std::error_code ec;
  const std::string real = fs::canonical(machine.at(library), ec).filename().string();
  int major = 0, minor = 0;
  const bool known = !ec && std::sscanf(real.c_str(), "libamdhip64.so.%d.%d", &major, &minor) >= 1;
  if (known && hip.version.major > 0 && major != hip.version.major)
    return {"hip-runtime", State::Problem,
            "the HIP headers in " + hip.versionRoot + " are version " + hip.version.text() + ", but the library " +
                library + " is " + real + "; install both of one version, or give --rocm-path=DIR of one installation"};
  return {"hip-runtime", State::Ok, library + (known ? " (" + real + ")" : "")};
}

std::string findDeviceLibraries(const Machine &machine, const CompileLine &line, const HipInstall &hip,
                                const Compiler &compiler) {
  std::vector<fs::path> places;
  if (!line.deviceLibPath.empty())
    places = {line.deviceLibPath};
  else if (std::optional<std::string> told = machine.environment("HIP_DEVICE_LIB_PATH"); told && !told->empty())
    places = {*told};
  else {
    if (!hip.deviceLibPath.empty())
      places.emplace_back(hip.deviceLibPath);
    if (!hip.versionRoot.empty())
      for (const char *below : {"amdgcn/bitcode", "lib/llvm/amdgcn/bitcode"})
        places.push_back(fs::path(hip.versionRoot) / below);
    const fs::path resources = directoryOfCommand(machine, compiler.command).parent_path() / "lib/clang" /
                               std::to_string(compiler.version.major);
    for (const char *below : {"lib/amdgcn/bitcode", "amdgcn/bitcode"})
      places.push_back(resources / below);
  }
  for (const fs::path &place : places)
    if (isFile(machine.at(fs::absolute(place)) / "ockl.bc"))
      return place.string();
  return {};
}

std::vector<std::string> targetsOf(const Machine &machine, const std::string &directory) {
  constexpr std::string_view start = "oclc_isa_version_", end = ".bc";
  std::vector<std::string> targets;
  std::error_code ec;
  for (const fs::directory_entry &e : fs::directory_iterator(machine.at(fs::absolute(directory)), ec)) {
    const std::string name = e.path().filename().string();
    if (name.starts_with(start) && name.ends_with(end))
      targets.push_back("gfx" + name.substr(start.size(), name.size() - start.size() - end.size()));
  }
  // gfx90a before gfx1030: by length first.
  std::sort(targets.begin(), targets.end(), [](const std::string &a, const std::string &b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return targets;
}

Check checkDeviceLibraries(const Machine &machine, const CompileLine &line, const HipInstall &hip,
                           const Compiler &compiler) {
  const std::string directory = findDeviceLibraries(machine, line, hip, compiler);
  if (directory.empty())
    return {"device-libraries", State::Problem,
            "no AMD device libraries (ockl.bc) found" +
                (line.deviceLibPath.empty() ? std::string() : " in " + line.deviceLibPath) +
                "; install rocm-device-libs or give --rocm-device-lib-path=DIR"};
  const std::vector<std::string> targets = targetsOf(machine, directory);
  for (const std::string &given : line.offloadArchs) {
    const std::string arch = withoutFeatures(given);
    if (arch.starts_with("gfx") && std::find(targets.begin(), targets.end(), arch) == targets.end())
      return {"device-libraries", State::Problem,
              "the device libraries in " + directory + " do not serve " + arch + " (they serve " +
                  supportedOnes(targets) +
                  "); install newer ones (rocm-device-libs), give --rocm-device-lib-path=DIR, "
                  "or name another --offload-arch"};
  }
  return {"device-libraries", State::Ok, "for " + supportedOnes(targets) + " in " + directory};
}

/// Of the programs that clang starts: it looks in its own directory, then in PATH. Empty: not in the first.
static fs::path besideCompiler(const Machine &machine, const Compiler &compiler, const char *program) {
  const fs::path directory = directoryOfCommand(machine, compiler.command);
  return !directory.empty() && isFile(machine.at(directory / program)) ? directory / program : fs::path();
}

Check checkLinker(const Machine &machine, const Compiler &compiler) {
  const std::string package = "lld-" + std::to_string(compiler.version.major);
  fs::path found = besideCompiler(machine, compiler, "lld");
  if (!found.empty())
    return {"linker", State::Ok, found.string()};
  found = findInPath(machine, "lld");
  if (found.empty())
    return {"linker", State::Problem,
            "no lld beside " + compiler.command + " or in PATH, which links device code; install " + package};
  const std::optional<std::string> text = machine.versionText(found.string());
  int major = 0;
  const size_t at = text ? text->find("LLD ") : std::string::npos;
  if (at == std::string::npos || std::sscanf(text->c_str() + at, "LLD %d", &major) != 1)
    return {"linker", State::Problem, found.string() + " cannot be run as lld; install " + package};
  if (major < compiler.version.major)
    return {"linker", State::Problem,
            found.string() + " is LLD " + std::to_string(major) + ", older than clang " + compiler.version.text() +
                "; install " + package};
  return {"linker", State::Ok, found.string() + " (LLD " + std::to_string(major) + ")"};
}

Check checkBundler(const Machine &machine, const CompileLine &line, const Compiler &compiler) {
  const bool newDriver = std::find(line.args.begin(), line.args.end(), "--offload-new-driver") != line.args.end() &&
                         std::find(line.args.begin(), line.args.end(), "--no-offload-new-driver") == line.args.end();
  const char *const tool = newDriver ? "clang-linker-wrapper" : "clang-offload-bundler";
  fs::path found = besideCompiler(machine, compiler, tool);
  if (found.empty())
    found = findInPath(machine, tool);
  if (found.empty())
    return {"bundler", State::Problem,
            std::string("no ") + tool + " beside " + compiler.command +
                " or in PATH, which puts device code into host objects; install clang-tools-" +
                std::to_string(compiler.version.major)};
  return {"bundler", State::Ok, found.string()};
}

Check checkTemporaryDirectory(const Machine &machine) {
  std::string directory, variable;
  for (const char *name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) // clang's order
    if (std::optional<std::string> value = machine.environment(name); directory.empty() && value && !value->empty()) {
      directory = *value;
      variable = name;
    }
  if (directory.empty())
    directory = "/tmp";
  std::string pattern = (machine.at(fs::absolute(directory)) / "wavesan-XXXXXX").string();
  const int fd = mkstemp(pattern.data());
  if (fd < 0)
    return {"temporary-directory", State::Problem,
            "cannot write to the temporary directory " + directory + " (" + std::strerror(errno) + "); " +
                (variable.empty() ? "set TMPDIR" : "change " + variable) + " to a directory that can be written"};
  unlink(pattern.c_str());
  // A full disk lets files be made, empty ones.
  char block[4096] = {};
  const bool full = write(fd, block, sizeof block) != ssize_t(sizeof block);
  close(fd);
  if (full)
    return {"temporary-directory", State::Problem,
            "the temporary directory " + directory + " is full; free some space or set TMPDIR"};
  return {"temporary-directory", State::Ok, directory};
}

} // namespace wavesan::driver
