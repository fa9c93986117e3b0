// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hooks: the calls that the pass plugin inserts into a kernel twin.
//
// One list, read by the three parts that must agree on it: the pass (which emits the calls), the device
// runtime (which defines the bodies as amdgcn bitcode) and the CPU agent's engine (which executes the calls as
// native wave-level operations). Freestanding: no host headers beyond <stdint.h>.
//
// Every hook receives the wave's private state as its first argument: a pointer in address space 5 to an
// alloca of kWaveStateBytes in the twin's entry block. Where everything is inlined the state lives in registers.
// The CPU engine keeps its own state for a wave and ignores the pointer.
//
// All hooks are executed by the active lanes of a wave. Access hooks are called immediately BEFORE the access.
#ifndef WAVESAN_ABI_HOOKS_H
#define WAVESAN_ABI_HOOKS_H

#include <stdint.h>

namespace wavesan::abi {

/// Bumped whenever a hook signature, a record or the meaning of a field changes. The pass writes it into the
/// site table; the runtime refuses a code object that carries another one ("built by another version").
inline constexpr uint32_t kAbiVersion = 10;

/// A kernel `k` has the twin `k` + kTwinSuffix. The suffix is for people reading symbol tables; programs find the
/// twin through metadata (IR: !wavesan.twins; code object: the kernel entries of the site table).
inline constexpr char kTwinSuffix[] = ".wavesan";

/// Module metadata: one node per twin, !{ptr @original, ptr @twin}.
inline constexpr char kTwinMetadata[] = "wavesan.twins";

/// Name of the twin's extra last explicit argument: ptr addrspace(1) to a DispatchContext (abi/dispatch.h).
inline constexpr char kContextArgName[] = "wavesan.ctx";

/// Function attribute of a twin: each of its accesses, and of those of the functions it calls, to memory that lanes
/// share and that is not constant has a hook, or one that covers it. None is skipped or ignored.
inline constexpr char kChecksAllAttribute[] = "wavesan-checks-all";

/// Code-object sections. Site table: abi/site_table.h. IR: bitcode of the whole device module after
/// instrumentation and before hook bodies are linked (hooks are declarations), originals and twins alike.
inline constexpr char kSiteTableSection[] = ".wavesan.sites";
inline constexpr char kIrSection[] = ".wavesan.ir";

inline constexpr uint32_t kWaveStateBytes = 64;
inline constexpr uint32_t kWaveStateAlign = 8;

/// `variable` operand of an LDS hook when the accessed LDS variable is not known statically.
inline constexpr uint32_t kNoVariable = 0xffffffffu;

//                     symbol                        signature (LLVM types; p5 = ptr addrspace(5), p1 = ptr addrspace(1))
#define WAVESAN_HOOKS(X)                                                                                                   \
  /* First instruction of a twin. ctx: the DispatchContext. All waves of the workgroup call it. */                        \
  X(KernelBegin, "__wavesan_kernel_begin") /* void(p5 state, p1 ctx) */                                                   \
  /* Before every return of a twin and before endpgm. */                                                                  \
  X(KernelEnd, "__wavesan_kernel_end") /* void(p5 state) */                                                               \
  /* An access through an LDS (address space 3) pointer. address: LDS byte offset; info: see accessInfo();                */ \
  /* variable: LDS byte offset of the accessed variable's first byte, or kNoVariable. */                                  \
  X(LdsAccess, "__wavesan_lds_access") /* void(p5 state, i32 address, i32 info, i32 site, i32 variable) */                \
  /* An access through a generic (flat) pointer: the hook looks whether it is LDS, by address. */                         \
  X(GenericAccess, "__wavesan_generic_access") /* void(p5 state, ptr address, i32 info, i32 site) */                      \
  /* memcpy, memmove, memset: `length` bytes in any lane; info carries size 0. */                                         \
  X(LdsRange, "__wavesan_lds_range") /* void(p5 state, i32 address, i64 length, i32 info, i32 site, i32 variable) */      \
  X(GenericRange, "__wavesan_generic_range") /* void(p5 state, ptr address, i64 length, i32 info, i32 site) */            \
  /* An access through a pointer that is known to be global memory (address space 1), cast to generic. */                \
  X(GlobalAccess, "__wavesan_global_access") /* void(p5 state, ptr address, i32 info, i32 site) */                        \
  X(GlobalRange, "__wavesan_global_range") /* void(p5 state, ptr address, i64 length, i32 info, i32 site) */              \
  /* Immediately after an atomic of any address space, address cast to generic. info and site as in the access hook */    \
  /* before it. wrote: false for a load and for a compare-exchange that failed. Nothing else executes between the */      \
  /* access hook, the atomic and this hook, so what the atomic read is what the hooks see. */                             \
  X(AtomicDone, "__wavesan_atomic_done") /* void(p5 state, ptr address, i32 info, i32 site, i1 wrote) */                  \
  /* Around every workgroup barrier: immediately before s_barrier (or the signal half of a split barrier), and */        \
  /* immediately after it (after the wait half). */                                                                       \
  X(BarrierArrive, "__wavesan_barrier_arrive") /* void(p5 state, i32 site) */                                             \
  X(BarrierLeave, "__wavesan_barrier_leave") /* void(p5 state, i32 site) */                                               \
  /* Immediately after a fence instruction; before an atomic with release or stronger ordering, and after an */           \
  /* atomic with acquire or stronger ordering. info: see fenceInfo(). */                                                  \
  X(Fence, "__wavesan_fence") /* void(p5 state, i32 info) */                                                              \
  /* Immediately after a wait named in the source (s_waitcnt, s_wait_dscnt, ...). info: see waitInfo(). */                \
  X(Wait, "__wavesan_wait") /* void(p5 state, i32 info) */                                                                \
  /* Immediately before an asynchronous copy to or from LDS, for its LDS side: an access that is ordered behind what its */ \
  /* wave did before, and before what anyone does later only once the wave has waited for it. info: see copyInfo().       */ \
  X(LdsCopy, "__wavesan_lds_copy") /* void(p5 state, i32 address, i32 info, i32 site, i32 variable) */                    \
  /* Around a barrier of the whole grid (ds_gws_barrier, which cooperative grid sync ends in), by every wave that executes */ \
  /* it: immediately before and after. */                                                                                 \
  X(GridArrive, "__wavesan_grid_arrive") /* void(p5 state, i32 site) */                                                   \
  X(GridLeave, "__wavesan_grid_leave") /* void(p5 state, i32 site) */                                                     \
  /* Before vector memory instructions that no other hook stands for, in functions that wait for a count above zero. */   \
  /* info: see issuedInfo(). */                                                                                           \
  X(VmemIssued, "__wavesan_vmem_issued") /* void(p5 state, i32 info) */                                                   \
  /* Immediately before an operation on a named barrier (gfx1250), a wait: immediately after it. barrier: its address, of */ \
  /* which bits 4 to 9 are its number; 0 for the barrier that the wave has joined. operation: NamedBarrierOperation.     */ \
  X(NamedBarrier, "__wavesan_named_barrier") /* void(p5 state, i32 barrier, i32 operation, i32 site) */

enum class Hook : uint32_t {
#define WAVESAN_HOOK_ENUM(id, symbol) id,
  WAVESAN_HOOKS(WAVESAN_HOOK_ENUM)
#undef WAVESAN_HOOK_ENUM
      Count
};

inline constexpr const char *kHookSymbols[] = {
#define WAVESAN_HOOK_NAME(id, symbol) symbol,
    WAVESAN_HOOKS(WAVESAN_HOOK_NAME)
#undef WAVESAN_HOOK_NAME
};

/// What an access does. Bits, so that a read-modify-write is Read|Write|Atomic.
enum AccessBits : uint32_t {
  kAccessRead = 1,
  kAccessWrite = 2,
  kAccessAtomic = 4,
};

/// info operand of access hooks: bits 0-7 AccessBits, bits 8-22 size in bytes of one lane's access (0: range hook); of
/// atomics also bit 23 kAtomicMayFail, bits 24-26 Scope, bit 27 acquire, bit 28 release (both set: acq_rel or seq_cst;
/// atomicInfo()), bit 29 kAtomicFailureRelaxed. Bits 30 and 31: kAccessOneInstruction, kAccessOfCopy.
constexpr uint32_t accessInfo(uint32_t bits, uint32_t sizeBytes) { return (bits & 0xffu) | (sizeBytes << 8); }
/// Of an instruction in inline assembly: one instruction of the machine, whatever the compiler does.
constexpr uint32_t kAccessOneInstruction = 1u << 30;
/// No instruction of its own: the global side of an asynchronous copy, the second half of a paired LDS instruction; of
/// AtomicDone: device free or malloc, without an access hook before it.
constexpr uint32_t kAccessOfCopy = 1u << 31;
constexpr uint32_t accessBits(uint32_t info) { return info & 0xffu; }
constexpr uint32_t accessSize(uint32_t info) { return (info >> 8) & 0x7fffu; }

/// Scope of a fence or atomic, ordered: a larger value includes more lanes (LLVM AMDGPU memory model).
enum class Scope : uint32_t { SingleThread = 0, Wavefront = 1, Workgroup = 2, Cluster = 3, Agent = 4, System = 5 };

constexpr uint32_t kAtomicAcquire = 1u << 27, kAtomicRelease = 1u << 28;
/// A compare-exchange: only its AtomicDone hook knows whether it wrote, and so released, anything.
constexpr uint32_t kAtomicMayFail = 1u << 23;
/// A compare-exchange whose success acquires and whose failure does not.
constexpr uint32_t kAtomicFailureRelaxed = 1u << 29;
constexpr uint32_t atomicInfo(uint32_t bits, uint32_t sizeBytes, Scope scope, bool acquire, bool release) {
  return accessInfo(bits, sizeBytes) | (uint32_t(scope) << 24) | (acquire ? kAtomicAcquire : 0u) |
         (release ? kAtomicRelease : 0u);
}
constexpr Scope atomicScope(uint32_t info) { return Scope((info >> 24) & 7u); }
constexpr bool atomicAcquires(uint32_t info) { return (info & kAtomicAcquire) != 0; }
/// Does an atomic that was executed acquire? `wrote`: it stored something.
constexpr bool executedAtomicAcquires(uint32_t info, bool wrote) {
  return atomicAcquires(info) && (wrote || (info & kAtomicFailureRelaxed) == 0);
}
constexpr bool atomicReleases(uint32_t info) { return (info & kAtomicRelease) != 0; }
/// Is an access to LDS atomic with respect to the other waves of its workgroup? A narrower atomic excludes them no more
/// than a plain access does.
constexpr bool atomicInWorkgroup(uint32_t info) {
  return (info & kAccessAtomic) != 0 && atomicScope(info) >= Scope::Workgroup;
}

enum FenceBits : uint32_t {
  kFenceAcquire = 1,
  kFenceRelease = 2,
  kFenceLds = 4,    ///< orders LDS (not limited to other address spaces by MMRA "amdgpu-synchronize-as")
  kFenceGlobal = 8, ///< orders global memory
  kFenceSeqCst = 16,
  kFenceImplied = 32, ///< not a fence instruction: the ordering of the atomic next to it
};
/// info operand of the fence hook: bits 0-7 FenceBits, bits 8-11 Scope.
constexpr uint32_t fenceInfo(uint32_t bits, Scope scope) { return (bits & 0xffu) | (uint32_t(scope) << 8); }
constexpr uint32_t fenceBits(uint32_t info) { return info & 0xffu; }
constexpr Scope fenceScope(uint32_t info) { return Scope((info >> 8) & 0xfu); }

/// What a wait for zero waits for.
enum WaitCompleted : uint32_t {
  kWaitLds = 1,   ///< LDS (DS) instructions: lgkmcnt(0) / dscnt(0)
  kWaitVmem = 2,  ///< vector memory loads: vmcnt(0) / loadcnt(0)
  kWaitAsync = 4, ///< asynchronous copies of gfx1250: asynccnt(0)
};
/// On this target (gfx9) the counter of loads counts stores as well.
constexpr uint32_t kWaitVmemCountsStores = 128;

/// operation operand of the named barrier hook. By LLVM's model of barriers a signal and a leave of one phase come before the
/// waits that the phase ends.
enum class NamedBarrierOperation : uint32_t {
  Init,   ///< sets how many signals complete a phase
  Join,   ///< makes it the barrier that the wave's waits and leaves are about
  Signal, ///< counts one
  Leave,  ///< from now on one signal less completes a phase
  Wait,   ///< for the next phase since the join or the last wait
};

/// info operand of the wait hook: bits 0-7 WaitCompleted and kWaitVmemCountsStores; then counts above zero that were
/// waited for, 0 for none: bits 8-15 of vector memory, bits 16-23 of asynchronous copies, bits 24-31 of LDS.
constexpr uint32_t waitInfo(uint32_t completed, uint32_t vmemCount, uint32_t asyncCount, uint32_t ldsCount = 0) {
  return (completed & 0xffu) | (vmemCount & 0xffu) << 8 | (asyncCount & 0xffu) << 16 | (ldsCount & 0xffu) << 24;
}
constexpr uint32_t waitCompleted(uint32_t info) { return info & 0x7fu; }
constexpr uint32_t waitVmemCount(uint32_t info) { return (info >> 8) & 0xffu; }
constexpr uint32_t waitAsyncCount(uint32_t info) { return (info >> 16) & 0xffu; }
constexpr uint32_t waitLdsCount(uint32_t info) { return (info >> 24) & 0xffu; }

/// info operand of the copy hook: accessInfo() and
enum CopyBits : uint32_t {
  /// Lane i accesses `address` of the first active lane plus i times the lane's bytes (at least 4); otherwise each lane
  /// has its own address.
  kCopyConsecutive = 1u << 24,
  /// The compiler knows of it: fences that order LDS in the workgroup wait for it.
  kCopyFenced = 1u << 25,
  kCopyAsyncCounter = 1u << 26, ///< counted by asynccnt, not with vector memory
};
constexpr uint32_t copyInfo(uint32_t bits, uint32_t sizeBytes, uint32_t copyBits) {
  return accessInfo(bits, sizeBytes) | copyBits;
}
/// Bytes from one lane's data to the next lane's where they are consecutive.
constexpr uint32_t copyStride(uint32_t sizeBytes) { return sizeBytes < 4 ? 4 : sizeBytes; }

/// info operand of the issued hook: bits 0-7 loads and bits 8-15 stores that are issued for certain, bits 16-23 loads and
/// bits 24-31 stores that may be; 255 of the latter: any number.
constexpr uint32_t issuedInfo(uint32_t loads, uint32_t stores, uint32_t maybeLoads, uint32_t maybeStores) {
  return (loads & 0xffu) | (stores & 0xffu) << 8 | (maybeLoads & 0xffu) << 16 | (maybeStores & 0xffu) << 24;
}

} // namespace wavesan::abi

#endif // WAVESAN_ABI_HOOKS_H
