// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds to the status page that `wavesan run` shares with its processes (abi/status_page.h).
#ifndef WAVESAN_HSA_STATUS_H
#define WAVESAN_HSA_STATUS_H

#include "wavesan/abi/status_page.h"

#include <string>

namespace wavesan::hsa {

/// Thread-safe. Without a page (the program was not started by `wavesan run`) adding does nothing.
class Status {
public:
  /// Maps the page named by the environment. When it is named but cannot be used, `error` gets one line.
  explicit Status(std::string &error);
  ~Status();
  Status(const Status &) = delete;
  Status &operator=(const Status &) = delete;

  bool attached() const { return Page != nullptr; }
  /// Whether this process is the first one of the run that became an HSA program; true without a page.
  bool isFirstProcess() const { return First; }
  /// A descriptor that all processes of the run have in common, for locks; -1 without a page. Stays open.
  int sharedDescriptor() const { return Descriptor; }
  void add(std::atomic<uint64_t> abi::StatusPage::*counter, uint64_t n = 1);
  void subtract(std::atomic<uint64_t> abi::StatusPage::*counter, uint64_t n = 1);

private:
  abi::StatusPage *Page = nullptr;
  int Descriptor = -1;
  bool First = true;
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_STATUS_H
