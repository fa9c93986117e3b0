// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding HIP's own functions behind the interposed ones.
#ifndef WAVESAN_HIP_REAL_HIP_H
#define WAVESAN_HIP_REAL_HIP_H

namespace wavesan::hip {

/// HIP's function of that symbol: the next one in the order of the dynamic linker, or one in a HIP library that was
/// loaded out of its sight (dlopen without RTLD_GLOBAL). Null: no HIP library that is loaded has it; `final` says
/// whether there is a HIP library at all, so that asking again is useless. Thread-safe. Loads nothing.
void *findRealFunction(const char *symbol, bool &final);

} // namespace wavesan::hip

#endif // WAVESAN_HIP_REAL_HIP_H
