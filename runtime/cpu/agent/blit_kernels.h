// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels that the HIP runtime brings along for fills, copies and stream operations.
//
// HIP compiles them from OpenCL source in every process, so they carry no IR. They are recognised by name and executed
// natively; arguments are found by name in the code object's metadata, so that another argument order or another
// hidden-argument layout of another HIP version cannot be misread.
#ifndef WAVESAN_CPU_AGENT_BLIT_KERNELS_H
#define WAVESAN_CPU_AGENT_BLIT_KERNELS_H

#include "dispatch.h"
#include "executable.h"

namespace wavesan::agent {

/// True for every kernel with a name of the HIP runtime, known or not.
bool isHipRuntimeKernel(std::string_view kernelName);
/// An unknown one, or one whose arguments are not the known ones, is an error.
DispatchResult runBlit(const hsa_kernel_dispatch_packet_t &packet, const KernelReference &kernel,
                       const std::atomic<bool> &cancel);

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_BLIT_KERNELS_H
