// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tracing as WAVESAN_OPTIONS ask for it: file names, the status page of `wavesan trace`, fork.
#ifndef WAVESAN_HIP_TRACE_SESSION_H
#define WAVESAN_HIP_TRACE_SESSION_H

#include "tracer.h"

#include "wavesan/abi/status_page.h"

namespace wavesan::hip {

/// The process's tracer. Never destroyed: calls may come while the process ends.
Tracer &processTracer();

/// Whether the interposed functions tell processTracer() of calls (interposer.cpp).
void setTracing(bool on);

/// Starts processTracer() if the options trace_csv, trace_json or trace_perfetto ask for it.
void startFromEnvironment();

/// A line on stderr, with the product's name in front.
void sayLine(const std::string &line);

/// The file that process `pid` writes for option value `path`: %p is the process id; without it the process with the
/// id `first` (0: any) writes `path` itself, the others PATH with their id in front of the extension.
std::string traceFileName(const std::string &path, uint64_t pid, uint64_t first);

} // namespace wavesan::hip

#endif // WAVESAN_HIP_TRACE_SESSION_H
