// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source lines of the host's code.
#ifndef WAVESAN_HSA_HOST_LINES_H
#define WAVESAN_HSA_HOST_LINES_H

#include "wavesan/report/race.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// Asks a program of its own, wavesan-symbolize, which lies beside this library. Thread-safe.
class HostLines {
public:
  /// `program`: empty: the one beside this library.
  explicit HostLines(std::string program = {}) : Program(std::move(program)) {}

  /// Frames of return addresses, innermost first, calls that were inlined included. Where there is no debug info, the
  /// function and the offset in it, and line 0. The stubs through which launches go are left out, and so is everything
  /// outside of the program's main function. An address is looked up once.
  std::vector<report::Frame> framesOf(const uint64_t *addresses, size_t count);

private:
  using Frames = std::vector<report::Frame>;
  void lookUp(const std::vector<uint64_t> &addresses);

  std::string Program;
  std::mutex Mutex;
  std::map<uint64_t, Frames> Known;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_HOST_LINES_H
