// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The status page: one page of shared memory between `wavesan run` and the processes it starts.
//
// The driver creates it (memfd), keeps the descriptor open across exec and names it in kStatusFdVariable. Every
// process of the program that loads the HSA tool maps it and adds to it with atomics. It lets the driver return the
// race exit status and print the last line even when the program ends by _exit, abort or a signal.
#ifndef WAVESAN_ABI_STATUS_PAGE_H
#define WAVESAN_ABI_STATUS_PAGE_H

#include <atomic>
#include <cstdint>

namespace wavesan::abi {

inline constexpr char kStatusFdVariable[] = "WAVESAN_STATUS_FD";
inline constexpr uint32_t kStatusMagic = 0x31505357u; // "WSP1"

struct StatusPage {
  uint32_t magic;
  uint32_t version;                          ///< kAbiVersion
  std::atomic<uint64_t> processesAttached;   ///< processes that loaded the tool (became HSA programs)
  std::atomic<uint64_t> summariesPrinted;    ///< processes that printed their own last line
  std::atomic<uint64_t> races;               ///< distinct races reported, all processes
  std::atomic<uint64_t> checkedAccesses;     ///< see DispatchCounters
  std::atomic<uint64_t> kernels;             ///< distinct kernels checked, summed over processes
  std::atomic<uint64_t> dispatchesUnchecked; ///< dispatches without a twin
  std::atomic<uint64_t> errors;              ///< failures of the tool itself (each printed where it happened)
  std::atomic<uint64_t> firstProcess;        ///< id of the process that attached first; 0: none yet
  std::atomic<uint64_t> dispatchesPending;   ///< checked dispatches whose results have not been read yet
  std::atomic<uint64_t> waitHazards;         ///< missing waits in machine code (option check_waits), all processes
  std::atomic<uint64_t> racesLost;           ///< conflicts that found no place in a race table (DispatchCounters)
  std::atomic<uint64_t> tracedProcesses;     ///< processes whose HIP calls were seen (libwavesan-hip.so)
  std::atomic<uint64_t> traceFirstProcess;   ///< id of the one that was first; 0: none yet
  std::atomic<uint64_t> graphsRecorded;      ///< regions that `wavesan record` has written
  std::atomic<uint64_t> traceErrors;         ///< trace files that could not be written (each said where it happened)
  std::atomic<uint64_t> onlyCommands;        ///< processes that ran no kernel, but commands that were compared
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(StatusPage) == 136);

} // namespace wavesan::abi

#endif // WAVESAN_ABI_STATUS_PAGE_H
