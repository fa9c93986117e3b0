// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The MessagePack metadata of a code object (LLVM's AMDGPU user guide, "Code Object Metadata").
#ifndef WAVESAN_CPU_AGENT_KERNEL_METADATA_H
#define WAVESAN_CPU_AGENT_KERNEL_METADATA_H

#include "code_object.h"

namespace wavesan::agent {

/// Whether the bytes are a MessagePack document, a map. What it says is not looked at.
bool isReadableMetadata(std::string_view messagePack);

/// The named arguments of each kernel, by its name. Empty if the metadata is malformed.
ArgumentsByKernel readKernelArguments(std::string_view messagePack);

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_KERNEL_METADATA_H
