// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD's HSA headers, included in the one way in which the installed set works.
#ifndef WAVESAN_CPU_AGENT_HSA_HEADERS_H
#define WAVESAN_CPU_AGENT_HSA_HEADERS_H

#define AMD_INTERNAL_BUILD // hsa_api_trace.h then finds its neighbours without an inc/ folder
#include <hsa/hsa.h>

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>

#endif // WAVESAN_CPU_AGENT_HSA_HEADERS_H
