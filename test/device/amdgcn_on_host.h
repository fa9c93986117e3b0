// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The amdgcn builtins of the device runtime for a host compiler: waves of one lane, one host thread per wave where
// waves have to meet. LDS byte offsets are host addresses below 4 GiB.
#ifndef WAVESAN_TEST_DEVICE_AMDGCN_ON_HOST_H
#define WAVESAN_TEST_DEVICE_AMDGCN_ON_HOST_H

#include <barrier>
#include <cstdint>
#include <functional>
#include <thread>

namespace wavesan::test {
inline thread_local uint32_t workItem = 0, workgroup = 7;
inline std::barrier<> *meeting = nullptr; ///< of the threads that execute a barrier
inline std::function<void()> asleep;      ///< what happens during a sleep; empty: others may run
inline void sleep() { asleep ? asleep() : std::this_thread::yield(); }
} // namespace wavesan::test

#define __builtin_amdgcn_mbcnt_lo(mask, add) ((void)(mask), uint32_t(add))
#define __builtin_amdgcn_mbcnt_hi(mask, add) ((void)(mask), uint32_t(add))
#define __builtin_amdgcn_read_exec() uint64_t(1)
#define __builtin_amdgcn_ballot_w64(bit) uint64_t(bit)
#define __builtin_amdgcn_readfirstlane(value) (value)
#define __builtin_amdgcn_workgroup_id_x() (::wavesan::test::workgroup)
#define __builtin_amdgcn_workgroup_id_y() 0u
#define __builtin_amdgcn_workgroup_id_z() 0u
#define __builtin_amdgcn_workitem_id_x() (::wavesan::test::workItem)
#define __builtin_amdgcn_workitem_id_y() 0u
#define __builtin_amdgcn_workitem_id_z() 0u
#define __builtin_amdgcn_fence(...) __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __builtin_amdgcn_s_barrier() ::wavesan::test::meeting->arrive_and_wait()
#define __builtin_amdgcn_s_sleep(n) ::wavesan::test::sleep()
#define __builtin_amdgcn_is_shared(pointer) (uint64_t(pointer) < (uint64_t(1) << 32))
#define __builtin_amdgcn_is_private(pointer) ((void)(pointer), false)

#endif // WAVESAN_TEST_DEVICE_AMDGCN_ON_HOST_H
