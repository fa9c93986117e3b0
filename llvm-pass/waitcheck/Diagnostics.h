// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the checker says: one struct per finding, made for every output format alike.
#ifndef WAVESAN_WAITCHECK_DIAGNOSTICS_H
#define WAVESAN_WAITCHECK_DIAGNOSTICS_H

#include "Model.h"

#include <string>
#include <vector>

namespace wavesan::waitcheck {

/// One side of a hazard, or a step of the path between the sides.
struct Place {
  uint64_t offset = 0; ///< from the start of the function
  std::string text;    ///< disassembly
  std::string file;    ///< source; empty if there is no line table
  unsigned line = 0, column = 0;
  bool present = false; ///< false: there is no such instruction (caller's operations)
};

struct Diagnostic {
  HazardCode code;
  Confidence confidence;
  std::string function;
  bool isKernel = true;
  Place producer, consumer;
  std::string registers;   ///< "v[4:7]", "s8", "v3.h"; empty: LDS
  std::string counter;     ///< "vmcnt"; empty: wait states
  int emittedWait = -1;    ///< the number of the last wait for that counter on the path; -1: none
  int sufficientWait = -1; ///< the weakest that would do (for wait states: the number of them)
  std::vector<Place> path; ///< the branches taken from the producer to the consumer, both excluded
};

/// A wait that is stronger than anything behind it needs.
struct AuditNote {
  std::string function;
  Place wait;
  std::string counter;
  int emitted = 0;
  int sufficient = -1; ///< -1: guards no register and no LDS access; may order memory
  bool ordersMemory = false; ///< memory writes are pending on this counter: the wait may be a release
};

/// "W01" and so on.
std::string codeName(HazardCode code);
/// "result read before it is complete" and so on.
const char *codeTitle(HazardCode code);
/// One sentence for catalogues (SARIF rules, documentation).
const char *codeHelp(HazardCode code);
const char *confidenceName(Confidence c);
inline constexpr unsigned numHazardCodes = 9;

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_DIAGNOSTICS_H
