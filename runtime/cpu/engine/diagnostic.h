// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outcome messages.
#ifndef WAVESAN_CPU_ENGINE_DIAGNOSTIC_H
#define WAVESAN_CPU_ENGINE_DIAGNOSTIC_H

#include "workgroup.h"

#include <string>

namespace wavesan::cpu::engine {

/// The outcome that a wave's fault stands for.
Outcome describeFault(const LaunchState &launch, const WaveState &wave);
/// "FILE:LINE" of the operation in the user's own code; empty if unknown.
std::string lineOf(const WaveState &wave, const Op *op);
/// `what` followed by the kernel and the position of the operation at which the wave stands.
std::string locate(const LaunchState &launch, const WaveState &wave, const Op *op, const std::string &what);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_DIAGNOSTIC_H
