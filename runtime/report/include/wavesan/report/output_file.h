// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The destination of a text log: stderr, stdout or a file.
#ifndef WAVESAN_REPORT_OUTPUT_FILE_H
#define WAVESAN_REPORT_OUTPUT_FILE_H

#include <mutex>
#include <string>
#include <string_view>

namespace wavesan::report {

/// Owns a descriptor of its own, so that a program which closes or redirects its stderr loses no report and gets none
/// of them into its files. What one write() gets is written as a whole: lines of several processes do not mix, where
/// they share a lock also when the text is longer than a pipe takes at once. Thread-safe.
class OutputFile {
public:
  /// `path`: "stderr", "stdout" or a file name in which %p stands for the process id (appended to). When the file
  /// cannot be opened, stderr is used and `error` gets one line. `lock`: a descriptor of a file that all processes of a
  /// run have in common (not owned, kept open by the caller), or -1.
  OutputFile(const std::string &path, std::string &error, int lock = -1);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  /// When a file cannot be written to (a full disk), that is said on stderr, and this text and all further ones go
  /// there. Returns one line on failure, once, else nothing.
  std::string write(std::string_view text);
  bool isTerminal() const;

private:
  std::string writeLocked(std::string_view text);

  std::mutex Mutex;
  std::string Name; ///< for messages
  int Descriptor = -1, Lock = -1;
  bool IsStderr = false, Failed = false;
};

/// `path` with every %p replaced by the process id.
std::string expandProcessId(const std::string &path);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_OUTPUT_FILE_H
