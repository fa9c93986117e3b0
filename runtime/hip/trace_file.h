// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that grows while the program runs and gets its name when it is complete.
#ifndef WAVESAN_HIP_TRACE_FILE_H
#define WAVESAN_HIP_TRACE_FILE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace wavesan::hip {

/// Written as NAME.partial and renamed by finish(). A process that is killed leaves NAME.partial with whole pieces up
/// to the last flush (64 KiB, or a second of time). When writing fails, the file is removed and error() says why. What
/// is no regular file, such as a pipe, is written to under its own name. Not thread-safe; movable.
class TraceFile {
public:
  /// A file of that name that an earlier run left is removed.
  explicit TraceFile(std::string path);
  ~TraceFile();
  TraceFile(TraceFile &&) noexcept;
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;

  bool isOpen() const { return Descriptor >= 0; }
  /// A piece that is not torn apart by a flush. `now`: nanoseconds.
  void write(std::string_view piece, uint64_t now);
  void finish();
  /// Forgets the file without touching it.
  void abandon();
  /// One line, once.
  std::string takeError();

private:
  void flush();
  void fail(const char *what);

  std::string Path, Temporary; ///< Temporary is empty where the file is no regular one
  std::string Buffer, Error;
  int Descriptor = -1;
  uint64_t LastFlush = 0;
};

} // namespace wavesan::hip

#endif // WAVESAN_HIP_TRACE_FILE_H
