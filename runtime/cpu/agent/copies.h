// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous copies: work that a copy thread does once its dependencies are complete, as a DMA engine would.
#ifndef WAVESAN_CPU_AGENT_COPIES_H
#define WAVESAN_CPU_AGENT_COPIES_H

#include "hsa_headers.h"

#include <functional>

namespace wavesan::agent {

/// Runs `work` on the copy thread when all dependencies are 0, then completes `completion`. A dependency with a
/// negative value has failed: the work is not done and the completion signal fails as well. Thread-safe.
void submitCopy(std::function<void()> work, uint32_t dependencyCount, const hsa_signal_t *dependencies,
                hsa_signal_t completion);

/// True while a copy runs or could run.
bool isCopying();
/// The copy thread takes up no further work (the process is ending).
void stopCopies();

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_COPIES_H
