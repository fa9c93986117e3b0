// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A missing or too weak wait in the machine code of a code object that was loaded (option check_waits). What the codes
// mean is in docs/waitcheck.md.
#ifndef WAVESAN_REPORT_WAIT_HAZARD_H
#define WAVESAN_REPORT_WAIT_HAZARD_H

#include <cstdint>
#include <optional>
#include <string>

namespace wavesan::report {

/// An instruction.
struct CodePlace {
  std::string instruction; ///< disassembly
  uint64_t offset = 0;     ///< from the start of the kernel, in bytes
  std::string file;        ///< empty without a line table
  uint32_t line = 0, column = 0;

  bool operator==(const CodePlace &) const = default;
};

/// Names and texts are printable; one struct for all formats.
struct WaitHazard {
  std::string code;  ///< "W01"
  std::string title; ///< what the code means, in words
  bool proven = false;
  bool isKernel = true;              ///< false: a function that kernels call
  std::string kernel, kernelMangled; ///< or function
  std::string target;                ///< "gfx90a"
  std::string registers;             ///< "v[4:7]"; empty: LDS
  std::string counter;               ///< "vmcnt"; empty: wait states
  std::optional<uint32_t> emittedWait;
  uint32_t sufficientWait = 0;       ///< the weakest number that would do; without a counter: wait states
  std::optional<CodePlace> producer; ///< nothing: the caller's operations
  CodePlace consumer;

  bool operator==(const WaitHazard &) const = default;
};

/// "vmcnt is not waited for in between; 0 or less is needed".
std::string waitNeedText(const WaitHazard &hazard);
/// "register read before ...: v3 (proven)": title, registers, confidence.
std::string waitHeadText(const WaitHazard &hazard);

} // namespace wavesan::report

#endif // WAVESAN_REPORT_WAIT_HAZARD_H
