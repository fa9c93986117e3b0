// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From hazards to diagnostics: one per producer, consumer and kind, with registers, path, waits and source lines.
#ifndef WAVESAN_WAITCHECK_EXPLAIN_H
#define WAVESAN_WAITCHECK_EXPLAIN_H

#include "Checker.h"
#include "LineTable.h"

namespace wavesan::waitcheck {

/// Appends to result.diagnostics and its counts.
void explainHazards(const IsaContext &isa, const Function &f, const FunctionResult &found, LineTable &lines, const CheckOptions &options,
                    CheckResult &result);

/// Appends a note for every wait of the function that asks for more than anything behind it needs.
void auditWaits(const IsaContext &isa, const Function &f, const Solution &s, LineTable &lines, CheckResult &result);

/// The instruction as a place.
Place placeOf(const IsaContext &isa, const Function &f, uint32_t instruction, LineTable &lines);

} // namespace wavesan::waitcheck

#endif // WAVESAN_WAITCHECK_EXPLAIN_H
