// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The MessagePack metadata of a code object (LLVM's AMDGPU user guide, "Code Object Metadata").
#ifndef WAVESAN_CPU_AGENT_KERNEL_METADATA_H
#define WAVESAN_CPU_AGENT_KERNEL_METADATA_H

#include "code_object.h"

namespace wavesan::agent {

/// The named arguments of a kernel. Empty if the metadata is malformed or does not describe the kernel.
KernelArguments readKernelArguments(std::string_view messagePack, std::string_view kernelName);

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_KERNEL_METADATA_H
