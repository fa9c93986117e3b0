// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wait checker: a code object in, findings out.
#ifndef WAVESAN_WAITCHECK_CHECKER_H
#define WAVESAN_WAITCHECK_CHECKER_H

#include "CodeObject.h"
#include "Crew.h"
#include "Diagnostics.h"
#include "PathSearch.h"

#include <functional>

namespace wavesan::waitcheck {

struct CheckOptions {
  std::string kernelPattern;  ///< glob over kernel names; empty: all. Functions are analysed whenever they are called.
  bool audit = false;         ///< also compare every wait with the weakest sufficient one
  bool provenOnly = false;    ///< leave out what is only possible
  unsigned maxPerKernel = 50; ///< diagnostics kept per function; the rest is counted
  unsigned jobs = 1;
};

/// What was looked at, and what was not. Everything that is not analysed is counted here.
struct CheckCounts {
  uint64_t kernels = 0, functions = 0, instructions = 0, memoryOperations = 0, waits = 0;
  uint64_t steps = 0;               ///< instruction visits of the fixpoint
  uint64_t infeasible = 0;          ///< hazards whose every path contradicts a known scalar fact
  uint64_t dropped = 0;             ///< diagnostics beyond maxPerKernel
  uint64_t belowConfidence = 0;     ///< left out by provenOnly
  uint64_t incompleteFunctions = 0; ///< functions with gaps, and sections with code in no function
  Gaps gaps;                        ///< summed
  void add(const CheckCounts &other);
};

struct CheckResult {
  std::string target;
  std::vector<Diagnostic> diagnostics; ///< by function address, then consumer
  std::vector<AuditNote> audit;
  std::vector<std::string> notAnalysed; ///< one line for each of those
  CheckCounts counts;
};

/// Checks one code object. The image must stay alive during the call.
llvm::Expected<CheckResult> checkObject(llvm::MemoryBufferRef image, const CheckOptions &options, Decoders &decoders);
/// The same with the threads of a crew that other objects share, instead of options.jobs of its own. Results do not
/// depend on their number.
llvm::Expected<CheckResult> checkObject(llvm::MemoryBufferRef image, const CheckOptions &options, Decoders &decoders,
                                        Crew &crew);

/// Everything about one function that its own analysis yields (tests use it directly).
struct FunctionResult {
  Solution solution;
  std::vector<Hazard> hazards;
  std::vector<uint32_t> unknownIndices; ///< instructions that may be hazards, by an index without known bounds
};
FunctionResult analyseFunction(const IsaContext &isa, const Function &f, CalleeFacts callee);

/// Formats sorted slots as the assembler would: "v[4:7]", "s8", "v3.l".
std::string formatRegisters(const IsaContext &isa, std::vector<std::pair<uint16_t, uint8_t>> registers);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_CHECKER_H
