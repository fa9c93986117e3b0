// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory locked for the GPU (hipHostRegister, and HIP's own pinning of large copies).
//
// The GPU has another address for locked memory than the host; HIP 5.2 aborts when they are equal. Both must reach the
// same bytes. Copies and fills of this runtime translate the GPU's address themselves, so the many short-lived locks
// around copies cost one reserved address range each. Before a kernel runs, materializeLocks() makes the GPU's
// addresses real: the host's pages move into shared memory that is mapped at both places.
#ifndef WAVESAN_CPU_AGENT_HOST_LOCK_H
#define WAVESAN_CPU_AGENT_HOST_LOCK_H

#include "hsa_headers.h"

#include <cstddef>

namespace wavesan::agent {

/// Locks [host, host + size); `*out` is the GPU's address of `host`. Locking the same range again counts.
hsa_status_t lockHostMemory(void *host, size_t size, uint32_t globalFlags, void **out);
hsa_status_t unlockHostMemory(void *host);

/// An address that this thread can read and write now for an address that the program names in a copy or fill.
void *hostView(void *address);
inline const void *hostView(const void *address) { return hostView(const_cast<void *>(address)); }

/// Makes the GPU addresses of all locked memory usable by kernels. False, with one line in stderr, if that failed.
bool materializeLocks();

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_HOST_LOCK_H
