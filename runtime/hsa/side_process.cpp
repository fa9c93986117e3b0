// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "side_process.h"

#include "wavesan/abi/options.h"
#include "wavesan/abi/status_page.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace wavesan::hsa {

namespace {

/// The process's environment without what would bring this tool, or the agent, into the other one as well.
std::vector<char *> cleanEnvironment() {
  std::vector<char *> out;
  for (char **e = environ; *e; ++e) {
    const std::string_view setting = *e;
    bool left = true;
    for (const char *name : {"HSA_TOOLS_LIB", "LD_PRELOAD", abi::kOptionsVariable, abi::kStatusFdVariable})
      left &= !(setting.starts_with(name) && setting.substr(std::strlen(name)).starts_with("="));
    if (left)
      out.push_back(*e);
  }
  out.push_back(nullptr);
  return out;
}

struct Descriptor {
  int fd = -1;
  ~Descriptor() { reset(); }
  void reset() {
    if (fd >= 0)
      close(fd);
    fd = -1;
  }
};

std::string lastError(const char *what) { return std::string(what) + ": " + std::strerror(errno); }

/// The text as a file without a name. False: errno says why.
bool putIntoMemory(std::string_view text, Descriptor &memory) {
  memory.fd = memfd_create("wavesan-input", MFD_CLOEXEC);
  if (memory.fd < 0)
    return false;
  while (!text.empty()) {
    const ssize_t n = write(memory.fd, text.data(), text.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    text.remove_prefix(size_t(n));
  }
  return lseek(memory.fd, 0, SEEK_SET) == 0;
}

} // namespace

std::string besideThisLibrary(const char *name) {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&besideThisLibrary), &info) || !info.dli_fname)
    return {};
  const std::string file = info.dli_fname;
  const size_t slash = file.rfind('/');
  return (slash == std::string::npos ? std::string(".") : file.substr(0, slash)) + "/" + name;
}

SideProcess runBeside(std::vector<std::string> words, std::string_view input) {
  SideProcess process;
  auto failure = [&](const std::string &why) {
    process.problem = why;
    return process;
  };
  Descriptor memory, reading, writing;
  if (!putIntoMemory(input, memory))
    return failure(lastError("memory for a copy"));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return failure(lastError("pipe"));
  reading.fd = ends[0];
  writing.fd = ends[1];

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, memory.fd, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, writing.fd, STDOUT_FILENO);
  // The program's blocked signals are none of the other one's.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char *> arguments;
  for (std::string &w : words)
    arguments.push_back(w.data());
  arguments.push_back(nullptr);
  std::vector<char *> environment = cleanEnvironment();
  pid_t child = 0;
  const int started =
      posix_spawn(&child, words[0].c_str(), &actions, &attributes, arguments.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (started != 0)
    return failure(words[0] + ": " + std::strerror(started));
  writing.reset();

  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = read(reading.fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    process.output.append(buffer, size_t(n));
  }
  // The program may have taken the child's status (a handler that waits for any child): the output says enough.
  int status = 0;
  pid_t waited;
  while ((waited = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  if (waited == child && WIFSIGNALED(status))
    process.problem = "the checker was ended by signal " + std::to_string(WTERMSIG(status));
  return process;
}

} // namespace wavesan::hsa
