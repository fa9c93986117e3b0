// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The outputs that the options ask for.
#ifndef WAVESAN_HSA_SINKS_H
#define WAVESAN_HSA_SINKS_H

#include "status.h"

#include "wavesan/abi/options.h"
#include "wavesan/report/sink.h"

#include <memory>
#include <string>
#include <vector>

namespace wavesan::hsa {

/// `errors` get one line for each option that cannot be obeyed, `notes` one for each file that got another name than
/// the option says, because another process of the run writes that. Files for machines (JSON, SARIF, JUnit) are kept
/// for the whole process: a later call with the same path continues the same document.
struct Sinks {
  std::unique_ptr<report::Sink> text;
  std::vector<std::shared_ptr<report::Sink>> documents;

  static Sinks make(const abi::Options &options, const Status &status, std::vector<std::string> &notes,
                    std::vector<std::string> &errors);
};

} // namespace wavesan::hsa

#endif // WAVESAN_HSA_SINKS_H
