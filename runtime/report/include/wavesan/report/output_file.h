// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The destination of a text log: stderr, stdout or a file.
#ifndef WAVESAN_REPORT_OUTPUT_FILE_H
#define WAVESAN_REPORT_OUTPUT_FILE_H

#include <string>
#include <string_view>

namespace wavesan::report {

/// Owns a descriptor of its own, so that a program which closes or redirects its stderr loses no report and gets none
/// of them into its files. Each write() is one write of the operating system where it accepts that, so lines
/// of several processes do not mix. Thread-safe.
class OutputFile {
public:
  /// `path`: "stderr", "stdout" or a file name in which %p stands for the process id (appended to). When the file
  /// cannot be opened, stderr is used and `error` gets one line.
  OutputFile(const std::string &path, std::string &error);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  /// Text that cannot be written is dropped.
  void write(std::string_view text);
  bool isTerminal() const;

private:
  int Descriptor = -1;
};

/// `path` with every %p replaced by the process id.
std::string expandProcessId(const std::string &path);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_OUTPUT_FILE_H
