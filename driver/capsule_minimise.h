// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef WAVESAN_DRIVER_CAPSULE_MINIMISE_H
#define WAVESAN_DRIVER_CAPSULE_MINIMISE_H

#include "capsule_run.h"

namespace wavesan::driver {

/// Takes workgroups and memory away from `capsule`, as long as an execution still shows the races `wanted`, and writes
/// the rest beside `file`, as NAME.min.capsule. At most `trials` executions. Says what it did. Empty, or why nothing
/// was written.
std::string minimiseCapsule(const CapsuleSetting &setting, capsule::Capsule &capsule,
                            const std::set<std::string> &wanted, const std::string &file, uint32_t trials);

} // namespace wavesan::driver

#endif // WAVESAN_DRIVER_CAPSULE_MINIMISE_H
