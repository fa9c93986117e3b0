// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing a trace's file.
#include "trace_file.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wavesan::hip {

namespace {

constexpr size_t kFlushBytes = 64 << 10;
constexpr uint64_t kFlushNanoseconds = 1'000'000'000;
/// Above the descriptors that programs expect to get from open().
constexpr int kLowestDescriptor = 100;

/// Writes all of it; a pipe without reader must not end the program by SIGPIPE. Returns errno or 0.
int writeAll(int fd, std::string_view text) {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  const bool wasPending = sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  int error = 0;
  while (!text.empty() && error == 0) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n >= 0)
      text.remove_prefix(size_t(n));
    else if (errno != EINTR)
      error = errno;
  }
  if (error == EPIPE && !wasPending) {
    const timespec none{};
    sigtimedwait(&pipe, nullptr, &none);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

} // namespace

TraceFile::TraceFile(std::string path) : Path(std::move(path)) {
  struct stat info;
  const bool special = stat(Path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  if (!special) {
    Temporary = Path + ".partial";
    unlink(Path.c_str());
  }
  const std::string &name = special ? Path : Temporary;
  int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) {
    fail("open");
    return;
  }
  Descriptor = fcntl(fd, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (Descriptor < 0)
    Descriptor = fd;
  else
    close(fd);
  Buffer.reserve(kFlushBytes);
}

TraceFile::~TraceFile() { abandon(); }

TraceFile::TraceFile(TraceFile &&other) noexcept
    : Path(std::move(other.Path)), Temporary(std::move(other.Temporary)), Buffer(std::move(other.Buffer)),
      Error(std::move(other.Error)), Descriptor(std::exchange(other.Descriptor, -1)), LastFlush(other.LastFlush) {}

void TraceFile::write(std::string_view piece, uint64_t now) {
  if (!isOpen())
    return;
  if (LastFlush == 0)
    LastFlush = now;
  Buffer += piece;
  if (Buffer.size() >= kFlushBytes || (now > LastFlush && now - LastFlush >= kFlushNanoseconds)) {
    flush();
    LastFlush = now;
  }
}

void TraceFile::flush() {
  if (!isOpen())
    return;
  const int error = writeAll(Descriptor, Buffer);
  Buffer.clear();
  if (error) {
    errno = error;
    fail("write");
  }
}

void TraceFile::fail(const char *what) {
  Error = std::string("cannot ") + what + " the trace '" + Path + "': " + std::strerror(errno);
  const bool written = isOpen();
  abandon();
  if (written && !Temporary.empty())
    unlink(Temporary.c_str());
}

void TraceFile::finish() {
  flush();
  if (!isOpen())
    return;
  if (!Temporary.empty() && rename(Temporary.c_str(), Path.c_str()) != 0)
    return fail("rename");
  abandon();
}

void TraceFile::abandon() {
  if (isOpen())
    close(Descriptor);
  Descriptor = -1;
  Buffer.clear();
}

std::string TraceFile::takeError() { return std::exchange(Error, {}); }

} // namespace wavesan::hip
