// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The API tables of this runtime, and the declarations of the functions that fill them.
//
// Exported symbols jump through these tables, so an override that a tool writes into a table (HSA_TOOLS_LIB) takes
// effect for every caller. Functions inside this library call each other directly: a tool sees what the program did.
#ifndef WAVESAN_CPU_AGENT_API_TABLE_H
#define WAVESAN_CPU_AGENT_API_TABLE_H

#include "hsa_headers.h"

namespace wavesan::agent {

/// The implementations, one per WAVESAN_HSA_FUNCTION of api_functions.def, with the type that the header declares.
namespace impl {
#define WAVESAN_HSA_FUNCTION(Table, Name, Export) decltype(::Name) Name;
#include "api_functions.def"
} // namespace impl

/// The root table handed to tools. Filled when the library is loaded.
HsaApiTable &apiTable();

/// Puts the library's own functions back into all tables (tools have been unloaded).
void resetApiTables();

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_API_TABLE_H
