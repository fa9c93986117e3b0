// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HSA tool libraries (HSA_TOOLS_LIB).
#ifndef WAVESAN_CPU_AGENT_TOOLS_H
#define WAVESAN_CPU_AGENT_TOOLS_H

namespace wavesan::agent {

/// Loads the libraries named in HSA_TOOLS_LIB (separated by spaces) and calls their OnLoad with the API tables. A
/// library that cannot be loaded is named on stderr. Call with the initialisation lock held.
void loadTools();
/// Calls OnUnload of every loaded tool, last loaded first, once. The libraries stay mapped.
void unloadTools();

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_TOOLS_H
