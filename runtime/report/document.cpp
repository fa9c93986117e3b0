// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/report/document.h"

#include "wavesan/report/quiet_write.h"
#include "wavesan/report/output_file.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace wavesan::report {

namespace {

/// 0 or errno. Some file systems report a full disk only when the file is closed.
int writeAndClose(int fd, std::string_view text) {
  int failure = writeQuietly(fd, text);
  if (close(fd) != 0 && failure == 0)
    failure = errno;
  return failure;
}

/// A file without a name in the directory of `target`, so that nothing is left behind when the process is killed; -1 where
/// the file system has no such thing.
int openUnnamed(const std::string &target) {
  const size_t slash = target.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : slash == 0 ? "/" : target.substr(0, slash);
  return open(directory.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
}

int nameFile(int fd, const std::string &name) {
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  unlink(name.c_str());
  return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

int replaceFile(const std::string &path, std::string_view text) {
  // A link keeps pointing where it points.
  std::string target = path;
  if (char *resolved = realpath(path.c_str(), nullptr)) {
    target = resolved;
    std::free(resolved);
  }
  const std::string temporary = target + ".tmp-" + std::to_string(getpid());
  int failure = 0;
  int fd = openUnnamed(target);
  if (fd >= 0) {
    failure = writeQuietly(fd, text);
    if (failure == 0 && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
      failure = errno; // some file systems report a full disk only now
    if (failure == 0 && nameFile(fd, temporary) != 0) { // no /proc: the old way
      close(fd);
      fd = -1;
    }
  }
  if (fd >= 0) {
    if (close(fd) != 0 && failure == 0)
      failure = errno;
  } else {
    fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
      return errno;
    failure = writeAndClose(fd, text);
  }
  if (failure == 0 && rename(temporary.c_str(), target.c_str()) != 0)
    failure = errno;
  if (failure != 0)
    unlink(temporary.c_str());
  return failure;
}

} // namespace

std::string writeDocument(const std::string &path, std::string_view text) {
  struct stat info;
  int failure = 0;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    failure = fd < 0 ? errno : writeAndClose(fd, text);
  } else {
    failure = replaceFile(path, text);
  }
  return failure == 0 ? std::string() : "cannot write '" + path + "': " + std::strerror(failure);
}

void removeStaleDocument(const std::string &path) {
  struct stat info;
  if (lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode))
    unlink(path.c_str());
}

DocumentSink::DocumentSink(std::string option, const std::string &path, std::string directory,
                           std::string (*format)(const Document &))
    : Option(std::move(option)), Path(expandProcessId(path)), Format(format) {
  Contents.directory = std::move(directory);
  removeStaleDocument(Path);
}

std::string DocumentSink::onSummary(const Summary &summary) {
  Contents.summary += summary;
  std::string error = writeDocument(Path, Format(Contents));
  return error.empty() ? error : Option + ": " + error;
}

} // namespace wavesan::report
