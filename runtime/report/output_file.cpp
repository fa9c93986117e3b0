// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/output_file.h"

#include "wavesan/report/quiet_write.h"

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

OutputFile::OutputFile(const std::string &path, std::string &error, int lock) : Name(path), Lock(lock) {
  if (path == "stdout") {
    Descriptor = duplicate(STDOUT_FILENO);
    return;
  }
  if (path != "stderr" && !path.empty()) {
    Name = expandProcessId(path);
    int fd = open(Name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd >= 0) {
      Descriptor = duplicate(fd);
      if (Descriptor >= 0)
        close(fd);
      else
        Descriptor = fd;
      return;
    }
    error = "log_path: cannot open '" + Name + "': " + std::strerror(errno) + "; reports go to stderr";
  }
  Name = "stderr";
  IsStderr = true;
  Descriptor = duplicate(STDERR_FILENO);
}

OutputFile::~OutputFile() {
  if (Descriptor >= 0)
    close(Descriptor);
}

bool OutputFile::isTerminal() const { return Descriptor >= 0 && isatty(Descriptor); }

namespace {

/// Holds a lock between processes while it lives. Whoever cannot get it in time writes without: a stopped process must
/// not stop the others. Locks of this kind end with their process.
class ProcessLock {
public:
  explicit ProcessLock(int fd) : Descriptor(fd) {
    for (int i = 0; Descriptor >= 0 && i < kTries; ++i) {
      if (set(F_WRLCK) || (errno != EAGAIN && errno != EACCES))
        return;
      usleep(kPauseMicroseconds);
    }
  }
  ~ProcessLock() {
    if (Descriptor >= 0)
      set(F_UNLCK);
  }
  ProcessLock(const ProcessLock &) = delete;
  ProcessLock &operator=(const ProcessLock &) = delete;

private:
  static constexpr int kTries = 2000;
  static constexpr useconds_t kPauseMicroseconds = 500;

  bool set(short type) const {
    struct flock range{};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_len = 1;
    return fcntl(Descriptor, F_SETLK, &range) == 0;
  }
  int Descriptor;
};

} // namespace

std::string OutputFile::write(std::string_view text) {
  std::lock_guard threads(Mutex);
  ProcessLock processes(Lock);
  return writeLocked(text);
}

std::string OutputFile::writeLocked(std::string_view text) {
  const int failure = Descriptor < 0 ? EBADF : writeQuietly(Descriptor, text);
  if (failure == 0)
    return {};
  const std::string error = "log_path: cannot write to '" + Name + "': " + std::strerror(failure);
  if (IsStderr) {
    const bool first = !Failed;
    Failed = true;
    return first ? error : std::string();
  }
  // From here on to stderr, this text included.
  if (Descriptor >= 0)
    close(Descriptor);
  Descriptor = duplicate(STDERR_FILENO);
  IsStderr = true;
  Name = "stderr";
  writeLocked("wavesan: " + error + "; reports go to stderr\n" + std::string(text));
  return error;
}

} // namespace wavesan::report
