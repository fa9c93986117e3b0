// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Toolchain detection.
#include "toolchain.h"

#include "file_contents.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace wavesan::driver {

namespace {

/// Stdout of `command --version`; stderr is dropped with the pipe's other end untouched.
std::optional<std::string> runVersion(const std::string &command) {
  int ends[2];
  if (pipe(ends) != 0)
    return std::nullopt;
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    execlp(command.c_str(), command.c_str(), "--version", static_cast<char *>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; child > 0 && (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(n));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return std::nullopt;
  return text;
}

/// Bitcode keeps its symbol names as plain text, so a search answers "does it mention this symbol".
bool mentions(const fs::path &file, std::string_view symbol) {
  return contentsOf(file).find(symbol) != std::string::npos;
}

bool isDirectory(const fs::path &p) {
  std::error_code ec;
  return fs::is_directory(p, ec);
}
bool isFile(const fs::path &p) {
  std::error_code ec;
  return fs::is_regular_file(p, ec);
}

bool isInPath(const Machine &machine, const std::string &name) {
  if (name.find('/') != std::string::npos)
    return isFile(machine.at(fs::absolute(name)));
  std::string path = machine.environment("PATH").value_or("");
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin && isFile(machine.at(fs::path(path.substr(begin, end - begin)) / name)))
      return true;
    begin = end + 1;
  }
  return false;
}

int defineIn(const std::string &header, std::string_view name) {
  size_t pos = header.find("#define " + std::string(name) + " ");
  if (pos == std::string::npos)
    return 0;
  int value = 0;
  const char *begin = header.data() + pos + 9 + name.size();
  std::from_chars(begin, header.data() + header.size(), value);
  return value;
}

/// Debian keeps the device libraries below the library directory of the architecture.
std::string debianDeviceLibs(const Machine &machine) {
  std::error_code ec;
  for (const fs::directory_entry &e : fs::directory_iterator(machine.at("/usr/lib"), ec)) {
    std::string name = e.path().filename().string();
    if (name.find("-linux-gnu") != std::string::npos && isFile(e.path() / "amdgcn" / "bitcode" / "ocml.bc"))
      return "/usr/lib/" + name + "/amdgcn/bitcode";
  }
  return {};
}

/// The newest /opt/rocm-X.Y.Z, as clang chooses it.
std::string newestOptRocm(const Machine &machine) {
  std::string best;
  std::error_code ec;
  for (const fs::directory_entry &e : fs::directory_iterator(machine.at("/opt"), ec)) {
    std::string name = e.path().filename().string();
    if (name.starts_with("rocm-") && isDirectory(e.path() / "include" / "hip") && name > best)
      best = name;
  }
  return best.empty() ? best : "/opt/" + best;
}

} // namespace

Machine Machine::current() {
  Machine m;
  m.environment = [](std::string_view name) -> std::optional<std::string> {
    const char *value = std::getenv(std::string(name).c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
  m.versionText = runVersion;
  return m;
}

std::string Version::text() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::optional<Version> clangVersionIn(std::string_view text) {
  constexpr std::string_view mark = "clang version ";
  size_t pos = text.find(mark);
  if (pos == std::string_view::npos)
    return std::nullopt;
  Version v;
  const char *at = text.data() + pos + mark.size(), *end = text.data() + text.size();
  int *parts[] = {&v.major, &v.minor, &v.patch};
  for (int *part : parts) {
    auto r = std::from_chars(at, end, *part);
    if (r.ec != std::errc())
      break;
    at = r.ptr;
    if (at == end || *at != '.')
      break;
    ++at;
  }
  return v.major ? std::optional<Version>(v) : std::nullopt;
}

std::optional<Compiler> findCompiler(const Machine &machine, const PluginTarget &target, const std::string &named,
                                     std::string &note, std::string &error) {
  const std::string wanted = std::to_string(target.llvmMajor) + "." + std::to_string(target.llvmMinor);
  auto matches = [&](const Version &v) { return v.major == target.llvmMajor && v.minor == target.llvmMinor; };
  auto probe = [&](const std::string &command) -> std::optional<Compiler> {
    std::optional<std::string> text = machine.versionText(command);
    std::optional<Version> version = text ? clangVersionIn(*text) : std::nullopt;
    if (!version)
      return std::nullopt;
    return Compiler{command, *version, command.substr(command.rfind('/') + 1).starts_with("hipcc")};
  };

  if (std::optional<std::string> chosen = machine.environment("WAVESAN_CXX"); chosen && !chosen->empty()) {
    std::optional<Compiler> c = probe(*chosen);
    if (!c) {
      error = "WAVESAN_CXX=" + *chosen + " cannot be run as a clang++";
      return std::nullopt;
    }
    if (!matches(c->version)) {
      error =
          "WAVESAN_CXX=" + *chosen + " is clang " + c->version.text() + ", but the plugin was built for LLVM " + wanted;
      return std::nullopt;
    }
    return c;
  }

  std::optional<Compiler> fromLine;
  if (!named.empty() && isInPath(machine, named)) {
    fromLine = probe(named);
    if (fromLine && matches(fromLine->version))
      return fromLine;
  }

  std::vector<std::string> candidates = {"clang++-" + std::to_string(target.llvmMajor)};
  if (!target.llvmBinDir.empty())
    candidates.push_back(target.llvmBinDir + "/clang++");
  candidates.insert(candidates.end(), {"clang++", "/opt/rocm/llvm/bin/clang++"});
  std::string seen;
  for (const std::string &command : candidates) {
    if (!isInPath(machine, command))
      continue;
    std::optional<Compiler> c = probe(command);
    if (c && matches(c->version)) {
      if (fromLine)
        note = named + " uses clang " + fromLine->version.text() + "; compiling with " + command +
               ", which the plugin matches";
      return c;
    }
    if (c)
      seen += (seen.empty() ? "; found " : ", ") + command + " " + c->version.text();
  }
  error = "no clang++ of LLVM " + wanted + " (for which the plugin was built) in PATH" + seen + "; install clang-" +
          std::to_string(target.llvmMajor) + " or set WAVESAN_CXX";
  return std::nullopt;
}

HipInstall findHip(const Machine &machine, const CompileLine &line, const Version &clang) {
  HipInstall hip;
  auto holdsHip = [&](const std::string &root) { return isDirectory(machine.at(root) / "include" / "hip"); };

  // The order of clang's own search: the command line, the environment, /opt/rocm, the newest /opt/rocm-*, /usr.
  std::string named = line.rocmPath;
  for (const char *variable : {"ROCM_PATH", "HIP_PATH"})
    if (named.empty())
      named = machine.environment(variable).value_or("");
  std::string root = named;
  if (root.empty() && holdsHip("/opt/rocm"))
    root = "/opt/rocm";
  if (root.empty())
    root = newestOptRocm(machine);
  if (root.empty() && holdsHip("/usr")) {
    root = "/usr";
    hip.rocmPath = root;
  }
  if (root.empty())
    return hip;
  hip.versionRoot = root;
  hip.headersAreMissing = !holdsHip(root);

  fs::path include = machine.at(root) / "include" / "hip";
  std::string version = contentsOf(include / "hip_version.h");
  hip.version = {defineIn(version, "HIP_VERSION_MAJOR"), defineIn(version, "HIP_VERSION_MINOR"),
                 defineIn(version, "HIP_VERSION_PATCH")};

  std::string deviceLibs = root + "/amdgcn/bitcode";
  if (!isDirectory(machine.at(deviceLibs)))
    deviceLibs.clear();
  bool toldElsewhere = line.hasDeviceLibPath || machine.environment("HIP_DEVICE_LIB_PATH").has_value();
  if (deviceLibs.empty() && !toldElsewhere && !line.noGpuLib && root == "/usr") {
    deviceLibs = debianDeviceLibs(machine);
    hip.deviceLibPath = deviceLibs;
  }

  hip.needsCodeObjectV4 = hip.version.major > 0 && hip.version.major < 6;
  constexpr int kFirstClangWithoutWaveSize = 22;
  fs::path detail = include / "amd_detail";
  hip.headersNeedWaveSize = clang.major >= kFirstClangWithoutWaveSize &&
                            (mentions(detail / "amd_warp_functions.h", "__AMDGCN_WAVEFRONT_SIZE;") ||
                             mentions(include / "hip_runtime.h", "__AMDGCN_WAVEFRONT_SIZE "));
  hip.headersNeedRcpF16 = mentions(detail / "amd_hip_fp16.h", "__llvm_amdgcn_rcp_f16");
  if (!deviceLibs.empty() && !line.noGpuLib) {
    fs::path libs = machine.at(deviceLibs);
    if (mentions(detail / "amd_device_functions.h", "__atomic_work_item_fence") &&
        mentions(libs / "hip.bc", "__atomic_work_item_fence"))
      hip.fenceBitcode = deviceLibs + "/hip.bc";
    if (mentions(libs / "ocml.bc", "__oclc_daz_opt")) {
      if (isFile(libs / "oclc_daz_opt_off.bc"))
        hip.denormalBitcodeOff = deviceLibs + "/oclc_daz_opt_off.bc";
      if (isFile(libs / "oclc_daz_opt_on.bc"))
        hip.denormalBitcodeOn = deviceLibs + "/oclc_daz_opt_on.bc";
    }
  }
  return hip;
}

std::optional<int> waveSizeOf(std::string_view arch, bool wave64) {
  if (!arch.starts_with("gfx"))
    return std::nullopt;
  std::string_view digits = arch.substr(3, std::min(arch.find_first_of(":-"), arch.size()) - 3);
  bool generic = arch.find("-generic") != std::string_view::npos;
  // gfx90a, gfx942, gfx1030: the last two characters are minor version and stepping. gfx9-generic: all is the major
  // version.
  if (!generic) {
    if (digits.size() < 3)
      return std::nullopt;
    digits.remove_suffix(2);
  }
  int major = 0;
  auto r = std::from_chars(digits.data(), digits.data() + digits.size(), major);
  if (r.ec != std::errc() || r.ptr != digits.data() + digits.size() || major < 6)
    return std::nullopt;
  return major >= 10 && !wave64 ? 32 : 64;
}

} // namespace wavesan::driver
