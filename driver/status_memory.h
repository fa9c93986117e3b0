// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver's side of the status page (abi/status_page.h): creates it and hands it to the program.
#ifndef WAVESAN_DRIVER_STATUS_MEMORY_H
#define WAVESAN_DRIVER_STATUS_MEMORY_H

#include "wavesan/abi/status_page.h"

#include <string>

namespace wavesan::driver {

/// Owns the memfd and its mapping. The descriptor stays open across exec. Not copyable.
class StatusMemory {
public:
  /// On failure `error` is one line and page() is null.
  explicit StatusMemory(std::string &error);
  ~StatusMemory();
  StatusMemory(const StatusMemory &) = delete;
  StatusMemory &operator=(const StatusMemory &) = delete;

  int descriptor() const { return Fd; }
  abi::StatusPage *page() const { return Page; }

private:
  int Fd = -1;
  abi::StatusPage *Page = nullptr;
};

/// "checked 12 accesses in 1 kernels: 0 races", from the counters.
std::string countsOf(const abi::StatusPage &page);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_STATUS_MEMORY_H
