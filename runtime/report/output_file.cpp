// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/output_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace wavesan::report {

namespace {
/// Above the descriptors that programs expect to get from open().
constexpr int kLowestDescriptor = 100;

int duplicate(int fd) {
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, kLowestDescriptor);
  return copy >= 0 ? copy : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}
} // namespace

std::string expandProcessId(const std::string &path) {
  std::string out;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '%' && i + 1 < path.size() && path[i + 1] == 'p') {
      out += std::to_string(getpid());
      ++i;
    } else {
      out += path[i];
    }
  }
  return out;
}

OutputFile::OutputFile(const std::string &path, std::string &error) {
  if (path == "stdout") {
    Descriptor = duplicate(STDOUT_FILENO);
    return;
  }
  if (path != "stderr" && !path.empty()) {
    std::string name = expandProcessId(path);
    int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd >= 0) {
      Descriptor = duplicate(fd);
      if (Descriptor >= 0)
        close(fd);
      else
        Descriptor = fd;
      return;
    }
    error = "log_path: cannot open '" + name + "': " + std::strerror(errno) + "; reports go to stderr";
  }
  Descriptor = duplicate(STDERR_FILENO);
}

OutputFile::~OutputFile() {
  if (Descriptor >= 0)
    close(Descriptor);
}

bool OutputFile::isTerminal() const { return Descriptor >= 0 && isatty(Descriptor); }

void OutputFile::write(std::string_view text) {
  while (Descriptor >= 0 && !text.empty()) {
    ssize_t written = ::write(Descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return;
    text.remove_prefix(size_t(written));
  }
}

} // namespace wavesan::report
