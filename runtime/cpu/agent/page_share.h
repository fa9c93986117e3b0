// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mapping pages of the program at a second address.
#ifndef WAVESAN_CPU_AGENT_PAGE_SHARE_H
#define WAVESAN_CPU_AGENT_PAGE_SHARE_H

#include <cstddef>

namespace wavesan::agent {

/// Maps the `bytes` bytes at `pages` at `alias` too (replacing what is mapped there). Both are page-aligned.
///
/// Private memory is moved into shared memory for that. Other threads may go on using it: while pages move, writes to
/// them wait in a fault handler, and every write lands before or after the move. A system call that is writing into
/// these very pages at that moment fails with EFAULT. After a fork, parent and child share the pages. Returns false if
/// the pages cannot be shared; they are unchanged then.
bool sharePages(char *pages, size_t bytes, char *alias);

} // namespace wavesan::agent

#endif // WAVESAN_CPU_AGENT_PAGE_SHARE_H
