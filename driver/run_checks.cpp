// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks that running depends on.
#include "checks.h"

#include "gpu_probe.h"
#include "library_search.h"

#include <cstring>
#include <fstream>

#include <dlfcn.h>
#include <elf.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace wavesan::driver {

namespace {

using State = Check::State;

bool isElf(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  char magic[SELFMAG] = {};
  return in.read(magic, sizeof magic) && std::memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/// Why the dynamic linker refuses `library`; empty if it does not. In a child process: the library's threads and
/// constructors must not stay with this one.
std::string whyNotLoadable(const fs::path &library) {
  int ends[2];
  if (pipe(ends) != 0)
    return {};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const char *why = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL) ? "" : dlerror();
    const size_t length = std::strlen(why);
    _exit(write(ends[1], why, length) == ssize_t(length) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[1024];
  for (ssize_t n; child > 0 && (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(n));
  close(ends[0]);
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status))
    return "it ended the loading process by signal " + std::to_string(WTERMSIG(status));
  return text;
}

Check checkPart(const char *name, const fs::path &file, const char *what, bool load) {
  if (std::string missing = missingPart(file, what); !missing.empty())
    return {name, State::Problem, missing};
  if (!isElf(file))
    return {name, State::Problem,
            std::string(what) + " is damaged: " + file.string() +
                " is no ELF file; build or install WaveSan completely"};
  if (load)
    if (std::string why = whyNotLoadable(file); !why.empty())
      return {name, State::Problem,
              std::string(what) + " cannot be loaded (" + why + "); install what it lacks, or rebuild WaveSan here"};
  return {name, State::Ok, file.string()};
}

} // namespace

Check checkHsaTool(const Layout &layout, bool load) {
  return checkPart("hsa-tool", layout.hsaTool, "the HSA tool library", load);
}

Check checkAgent(const Layout &layout, bool load) {
  return checkPart("cpu-agent", layout.agent(), "the CPU agent", load);
}

Check checkHipTool(const Layout &layout, bool load) {
  return checkPart("hip-tool", layout.hipTool(), "the HIP interposer", load);
}

Check checkWaitChecker(const Layout &layout) {
  return checkPart("wait-checker", layout.waitChecker(), "the wait checker", false);
}

Check checkReplayer(const Layout &layout) {
  return checkPart("replayer", layout.replayer(), "the program that replays capsules", false);
}

Check checkHsaRuntime(const Machine &machine, bool gpuWanted) {
  const std::string library = findLibrary(machine, "libhsa-runtime64.so.1", "");
  if (!library.empty())
    return {"hsa-runtime", State::Ok, library};
  if (gpuWanted)
    return {"hsa-runtime", State::Problem,
            "no HSA runtime (libhsa-runtime64.so.1) found, which runs on a GPU need; install libhsa-runtime64-1 or "
            "ROCm's hsa-rocr"};
  return {"hsa-runtime", State::Note,
          "no libhsa-runtime64.so.1; only runs on a GPU need it (Debian: libhsa-runtime64-1)"};
}

Check checkGpu(const Machine &machine) {
  const std::string why = whyNoGpu(machine.root);
  if (why.empty())
    return {"gpu", State::Ok, "an AMD GPU is there"};
  std::error_code ec;
  if (fs::exists(machine.at("/dev/kfd"), ec))
    return {"gpu", State::Problem,
            "no usable AMD GPU (" + why +
                "); add this user to the groups render and video (usermod -aG render,video), "
                "and check that the amdgpu driver lists the GPU (rocminfo)"};
  return {"gpu", State::Note, "no usable AMD GPU (" + why + "); programs run on the CPU agent"};
}

} // namespace wavesan::driver
