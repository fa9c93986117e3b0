// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engine: executes amdgcn IR on the CPU, a wave at a time.
//
// A Program is one device module (the IR embedded in a code object). Every value is a vector of one wave's lanes,
// control flow carries an exact exec mask, so lockstep, cross-lane operations and barrier-free LDS exchange inside a
// wave behave as on the GPU. Waves are interleaved by a seeded scheduler that may switch at every memory or
// synchronisation operation. What the engine cannot execute is a named error, never a guess.
//
// This header is the only one that other parts include. It exposes no LLVM types.
#ifndef WAVESAN_CPU_ENGINE_H
#define WAVESAN_CPU_ENGINE_H

#include "wavesan/abi/dispatch.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace wavesan::cpu {

class LaneOrder;  // lane_order.h
class Trial;      // trial.h
class WriteNotes; // write_notes.h

/// Lanes are bits: lane i is bit i. Waves of 32 use the low half.
using LaneMask = uint64_t;

/// The barriers of a kernel, and the branches that decide which one a lane reaches next. Thread-safe; lives as long as
/// its Program.
class BarrierMap {
public:
  static constexpr uint32_t kAnySource = 0xffffffffu; ///< position unknown: it may be any barrier
  static constexpr uint32_t kEnd = 0xfffffffeu;       ///< not a barrier: the end of the kernel
  struct Barrier {
    uint32_t source = kAnySource; ///< number of its source position, calls it was inlined through included
    /// Written as an instruction of the target (a builtin or inline assembly), not as __syncthreads() and its like.
    bool bare = false;
  };
  struct Position {
    uint32_t line = 0, column = 0; ///< 0: unknown
    uint32_t depth = 0;            ///< of its frame in the barrier's inlining chain, counted from the kernel, which is 0
  };
  virtual ~BarrierMap() = default;
  virtual Barrier barrier(uint32_t site) const = 0;
  /// True if lanes that took this turn could have come to `source` before it, and not to it as their next barrier after.
  virtual bool leaves(uint32_t turn, uint32_t source) const = 0;
  /// Where the turn's branch stands, told by the frame it shares with the barrier.
  virtual Position position(uint32_t turn, uint32_t barrierSite) const = 0;
};

/// A branch that the lanes took since their last barrier and that left fewer barriers (or ends) to come next.
struct Turn {
  uint32_t turn; ///< for BarrierMap
  LaneMask lanes;
};

/// What a hook can see of the wave that calls it. Valid during the call.
struct WaveView {
  uint8_t *lds;          ///< host address of LDS byte 0 of this workgroup. A generic pointer into LDS is
                         ///< `lds + offset` as an integer, so [lds, lds + ldsBytes) is the shared aperture.
  uint32_t ldsBytes;     ///< size of the workgroup's group segment (the packet's group_segment_size)
  uint32_t workgroup[3]; ///< workgroup id
  uint32_t wave;         ///< index of the wave in its workgroup
  uint32_t waveSize;     ///< 32 or 64
  uint32_t waveCount;    ///< waves of this workgroup
  uint64_t scratch;      ///< generic addresses [scratch, scratch + scratchBytes) are private memory of this wave
  uint64_t scratchBytes;
  void *&workgroupData;  ///< the handler's own pointer, one per workgroup; null when the workgroup starts
  void *&dispatchData;   ///< the same, one per dispatch; shared by the threads that execute its workgroups
  const BarrierMap *barriers = nullptr; ///< null if the kernel has none
  const Turn *turns = nullptr;          ///< in the order in which they were taken
  uint32_t turnCount = 0;
  /// By the order of the hardware: who ran together since. Null where no branch of the kernel has two arms that touch
  /// memory. The handler adds the phases.
  LaneOrder *arms = nullptr;
  bool contested = false; ///< of an access hook: it may stand in one of such arms, and lanes are in another
  Trial *trial = nullptr; ///< of the dispatch; null: its workgroups run in one order
  bool asksForValues = false; ///< set by the handler of a store's access hook: HookHandler::storeFollows() is wanted
};

/// Two lanes of one store that write different values to the same bytes.
struct LaneClash {
  uint64_t address; ///< of the first byte that both write: LDS offset, or generic address
  uint32_t size;    ///< bytes that both write, from there on
  uint8_t lanes[2]; ///< in the order of their numbers
};

/// What memory holds just before a store.
class HeldBytes {
public:
  /// Whether the store writes what memory holds already to those of the `size` bytes that it writes. `address` as in
  /// LaneClash.
  virtual bool held(uint64_t address, uint32_t size) const = 0;

protected:
  ~HeldBytes() = default;
};

/// Receives the hook calls of a twin as wave-level operations. `exec` is the non-empty mask of calling lanes; arrays
/// are indexed by lane and hold garbage in inactive lanes. `site`, `info` and `variable` are wave-uniform. Called
/// from the thread that executes the workgroup; workgroups of one dispatch may run on several threads at once.
class HookHandler {
public:
  virtual ~HookHandler() = default;
  virtual void kernelBegin(WaveView &wave, LaneMask exec, const abi::DispatchContext *context) = 0;
  virtual void kernelEnd(WaveView &wave, LaneMask exec) = 0;
  virtual void ldsAccess(WaveView &wave, LaneMask exec, const uint32_t *address, uint32_t info, uint32_t site,
                         uint32_t variable) = 0;
  virtual void genericAccess(WaveView &wave, LaneMask exec, const uint64_t *address, uint32_t info, uint32_t site) = 0;
  virtual void ldsRange(WaveView &wave, LaneMask exec, const uint32_t *address, const uint64_t *length, uint32_t info,
                        uint32_t site, uint32_t variable) = 0;
  virtual void genericRange(WaveView &wave, LaneMask exec, const uint64_t *address, const uint64_t *length,
                            uint32_t info, uint32_t site) = 0;
  virtual void globalAccess(WaveView &, LaneMask, const uint64_t * /*address*/, uint32_t /*info*/, uint32_t /*site*/) {}
  virtual void globalRange(WaveView &, LaneMask, const uint64_t * /*address*/, const uint64_t * /*length*/,
                           uint32_t /*info*/, uint32_t /*site*/) {}
  /// After an atomic; no other wave has executed since the access hook before it. `wrote`: lanes whose atomic stored.
  virtual void atomicDone(WaveView &, LaneMask, const uint64_t * /*address*/, uint32_t /*info*/, uint32_t /*site*/,
                          LaneMask /*wrote*/) {}
  /// Before a store, after its access hook, if its lanes clash: the first clash. `variable` is kNoVariable unless the store
  /// is through an LDS pointer (`lds`).
  virtual void laneClash(WaveView &, const LaneClash &, bool /*lds*/, uint32_t /*info*/, uint32_t /*site*/,
                         uint32_t /*variable*/) {}
  /// Before a store, if the access hook before it has asked (WaveView::asksForValues); no other wave of the workgroup
  /// has executed since. Several stores of one text of inline assembly have all their hooks in front: their sites tell.
  /// `lds`: the store is through an LDS pointer.
  virtual void storeFollows(WaveView &, bool /*lds*/, uint32_t /*site*/, const HeldBytes &) {}
  /// Lanes do something that needs one another: a cross-lane operation, a wave barrier.
  virtual void lanesMeet(WaveView &, LaneMask) {}
  virtual void barrierArrive(WaveView &wave, LaneMask exec, uint32_t site) = 0;
  virtual void barrierLeave(WaveView &wave, LaneMask exec, uint32_t site) = 0;
  virtual void fence(WaveView &wave, LaneMask exec, uint32_t info) = 0;
  virtual void wait(WaveView &wave, LaneMask exec, uint32_t info) = 0;
  virtual void ldsCopy(WaveView &, LaneMask, const uint32_t * /*address*/, uint32_t /*info*/, uint32_t /*site*/,
                       uint32_t /*variable*/) {}
  /// Around a barrier of the whole grid.
  virtual void gridArrive(WaveView &, LaneMask, uint32_t /*site*/) {}
  virtual void gridLeave(WaveView &, LaneMask, uint32_t /*site*/) {}
  virtual void vmemIssued(WaveView &, LaneMask, uint32_t /*info*/) {}
  /// Before a named barrier is initialised, signalled or left: the next phase that it completes is number `phase`. Behind a
  /// wait: that is the phase that the wave waited for. Phases of a barrier are numbered from 1 on; `barrier`: 1 to 16.
  virtual void namedBarrier(WaveView &, LaneMask, abi::NamedBarrierOperation, uint32_t /*barrier*/, uint64_t /*phase*/) {}
  /// The dispatch is over, after its last workgroupEnd (also after an error); releases dispatchData.
  virtual void dispatchEnd(void * /*dispatchData*/) {}
  /// Whether the handler fails a trial before anything is executed by which workgroups could tell one another
  /// something, and instead of reporting anything.
  virtual bool takesTrials() const { return false; }
  /// The same as dispatchEnd for a trial that has not held: puts back what memory held before it, reports nothing.
  virtual void dispatchUndo(void * /*dispatchData*/) {}
  /// The workgroup has ended (also after an error); releases workgroupData.
  virtual void workgroupEnd(void *workgroupData) = 0;
};

/// Two accesses of different waves, in the order in which they are to happen where the program allows it.
struct ForcedOrder {
  struct Side {
    uint32_t site; ///< as hooks name it
    uint32_t workgroup[3];
    uint32_t wave;
  };
  Side first, second;
  /// The bytes that both touch: an access of a site counts only if some lane's overlaps them. `bytes` 0: each counts.
  bool lds; ///< byte offsets in LDS; else addresses of global memory
  uint64_t begin, bytes;
  /// Which of the two waves runs when both could.
  enum class Preference : uint8_t { None, First, Second } preference = Preference::None;
};

/// One dispatch. All pointers stay valid and unchanged for the call; device memory is host memory.
struct Launch {
  std::string_view kernel;   ///< linkage name, without ".kd"
  const void *packet;        ///< the 64-byte hsa_kernel_dispatch_packet_t (llvm.amdgcn.dispatch.ptr)
  const uint8_t *kernarg;    ///< kernarg segment
  uint32_t kernargBytes;     ///< from the kernel descriptor; reads beyond it are an error
  uint32_t grid[3];          ///< in work-items; partial workgroups at the edges are executed
  uint32_t workgroup[3];     ///< in work-items
  uint32_t fixedLdsBytes;    ///< group_segment_fixed_size of the kernel descriptor: dynamic LDS begins there
  uint32_t groupSegmentBytes; ///< whole group segment of the packet
  uint64_t seed;             ///< of the wave scheduler
  uint64_t queue = 0;        ///< hsa_queue_t* (llvm.amdgcn.queue.ptr)
  uint64_t dispatchId = 0;   ///< llvm.amdgcn.dispatch.id
  HookHandler *hooks = nullptr; ///< null: hook calls do nothing
  /// Operations without anything new after which waves that go in a circle through global memory, while others of their
  /// workgroup wait at its barrier, are an error (stuck_check.h); 0: never.
  uint64_t stuckLimit = uint64_t(1) << 32;
  const ForcedOrder *forced = nullptr; ///< needs `hooks`
  bool perturb = false; ///< the seed also decides which workgroups run side by side, and when they take turns
  /// If the dispatch still runs after this time, and after twice as long each time again, `standing` gets a text of several
  /// lines: how far it is, and at which source lines its waves stand. 0: never.
  uint64_t watchAfterMs = 0;
  std::function<void(const std::string &)> standing = nullptr;
  const std::atomic<bool> *cancel = nullptr; ///< set from another thread: the dispatch stops with an error soon
  /// Most threads that execute workgroups, the calling one among them. More than one do where workgroups are
  /// independent (independence.h), and neither `forced` nor `perturb` asks for an order; those of checked kernels on
  /// trial (trial.h).
  uint32_t threads = 1;
  /// Hears of all global memory before the dispatch writes to it; null: nobody asks. Kernels are decoded anew for it.
  const WriteNotes *notes = nullptr;
  /// Trial::Memory; null: all that can be mapped.
  std::function<bool(uint64_t address, uint64_t bytes)> trialMemory = nullptr;
  /// Called on each of several threads; calls its argument.
  std::function<void(const std::function<void()> &work)> aroundThread = nullptr;
};

/// Outcome of a dispatch. `message` is one line that names the instruction or intrinsic, the kernel and the source
/// position (file:line) where known, e.g. "image.sample is not supported by the CPU agent (kernel blur, blur.hip:12)".
struct Outcome {
  enum Kind { Success, UnsupportedInstruction, MemoryFault, Trap, Deadlock, InvalidLaunch, Cancelled } kind = Success;
  std::string message;
  bool orderMade = false; ///< Launch::forced: the second access was made behind the first, at least once
  explicit operator bool() const { return kind == Success; }
};

/// A decoded device module. Thread-safe: run() may be called from several threads at once.
class Program {
public:
  /// `bitcode`: contents of the IR section (copied). `resolve`: host address of a global variable of the loaded
  /// code object by linkage name, or 0 when the code object does not define it (the program then allocates and
  /// initialises its own, e.g. internal constants). `target`: e.g. "gfx90a".
  /// `hookBodies`: bitcode of the device runtime: the engine then executes the hooks' bodies as a GPU would, and
  /// Launch::hooks receives no calls. Empty: hook calls go to Launch::hooks.
  /// On failure returns null and one line in `error`.
  static std::unique_ptr<Program> load(std::string_view bitcode, std::string_view target,
                                       std::function<uint64_t(std::string_view)> resolve, std::string &error,
                                       std::string_view hookBodies = {});
  virtual ~Program() = default;
  /// True if the module defines this kernel.
  virtual bool hasKernel(std::string_view name) const = 0;
  virtual uint32_t waveSize() const = 0;
  /// Runs one dispatch to its end; workgroups may wait for one another (interleave.h). Never hangs on a deadlocked
  /// workgroup, never aborts the process because of what the IR contains. The outcome does not depend on the number of
  /// threads, nor does what is in memory then, unless workgroups race.
  virtual Outcome run(const Launch &launch) = 0;
};

} // namespace wavesan::cpu

#endif // WAVESAN_CPU_ENGINE_H
