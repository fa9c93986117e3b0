// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For which GPUs a program file carries code.
#ifndef WAVESAN_DRIVER_CODE_TARGETS_H
#define WAVESAN_DRIVER_CODE_TARGETS_H

#include <string>
#include <string_view>
#include <vector>

namespace wavesan::driver {

/// Targets of the uncompressed offload bundles in `bytes` (of a program, say), without features: "gfx90a". Sorted, each
/// once.
std::vector<std::string> codeTargets(std::string_view bytes);

/// Why `program` cannot run as each of `targets`, one line; empty if it can or if the file does not say (its kernels
/// may lie in a library).
std::string missingTarget(const std::string &program, const std::vector<std::string> &targets);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_CODE_TARGETS_H
