// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A resident workgroup: its waves with their whole state, its barrier, and what they share with the launch.
// Everything here belongs to the thread that executes the workgroup.
#ifndef WAVESAN_CPU_ENGINE_WORKGROUP_H
#define WAVESAN_CPU_ENGINE_WORKGROUP_H

#include "copies.h"
#include "forced_order.h"
#include "function.h"
#include "lane_order.h"
#include "named_barriers.h"
#include "random.h"
#include "trial.h"
#include "wave.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace wavesan::cpu::engine {

/// Frames of one wave. Blocks are reused from workgroup to workgroup; addresses stay valid until popped.
class RegisterStack {
public:
  /// Returns `bytes` bytes, 64-byte aligned; `mark` receives what pop() needs to undo this push.
  std::byte *push(size_t bytes, size_t &mark);
  void pop(size_t mark);
  void clear() { chunk = used = 0; }

private:
  struct Free {
    void operator()(std::byte *p) const;
  };
  struct Chunk {
    std::unique_ptr<std::byte[], Free> memory;
    size_t size;
  };
  std::vector<Chunk> chunks;
  size_t chunk = 0, used = 0;
};

struct WaveState : Wave {
  RegisterStack stack;
  std::vector<Frame> frames;
  std::unique_ptr<std::byte[]> bankMemory; ///< of Bank::Wave
  bool ended = false;
  bool atBarrier = false;
  std::vector<Turn> turns; ///< since each lane's last barrier
  LaneOrder armOrder;      ///< of Wave::arms
  LaneMask begun = 0;      ///< lanes that exist
  std::vector<PendingCopy> copies; ///< the oldest first
  uint32_t m0 = 0;
  bool atGridBarrier = false;
  uint64_t gridPhase = 0; ///< to be complete before it leaves
  NamedBarriers::Member named;
  uint64_t vmemIssued = 0, asyncIssued = 0; ///< by counters: at most so many, and so many
  bool touchedGlobal = false; ///< by a hook, since the workgroup's last progress (stuck_check.h)
  uint32_t spent = 0; ///< memory and synchronisation operations in this turn of the workgroup
};

/// Barriers between the workgroups of a launch. Shared by its threads.
struct GridBarriers {
  struct Barrier {
    uint64_t phase = 0, arrived = 0;
  };
  std::mutex mutex;
  std::map<uint32_t, Barrier> barriers;
};

/// What the waves of a launch need from the program. Shared by all threads of the launch.
struct LaunchState {
  const Launch *launch = nullptr;
  const Function *entry = nullptr;
  std::byte *launchBank = nullptr;
  uint32_t waveSize = 64;
  uint32_t staticLdsBytes = 0;
  /// Waves take turns of up to so many more operations, as powers of two: where nobody watches, most turns may be longer.
  uint32_t quantumBits = 0;
  uint64_t implicitArg = 0;
  /// Decodes on first use; null with *error set when the function has no body. Thread-safe.
  const Function *(*function)(LaunchState &, const void *llvmFunction, const char **error) = nullptr;
  /// The function whose address is `address`, decoded; null if there is none. Thread-safe.
  const Function *(*functionAt)(LaunchState &, uint64_t address, const char **error) = nullptr;
  void *program = nullptr; ///< for the two above
  void *kernel = nullptr;
  const std::vector<std::string> *namedBarriers = nullptr; ///< their names, from number 1 on
  const BarrierMap *barriers = nullptr; ///< null if the kernel has none, or if nobody listens
  void *hookData = nullptr; ///< WaveView::dispatchData
  GridBarriers *gridBarriers = nullptr;
  OrderForcer forcer;
  bool alone = true;        ///< no other workgroup of the launch is resident; changes only where one thread executes it
  Trial *trial = nullptr;   ///< null: the launch is none
  /// The lowest workgroup that has failed (crew.h): those behind it are given up.
  std::atomic<uint64_t> failedAt{~uint64_t(0)};
  bool trialFailed() const { return trial && trial->failed(); }
  alignas(64) std::atomic<uint64_t> progress{0}; ///< grows when a workgroup does something new (stuck_check.h)
};

class WatchPost;

struct Workgroup {
  LaunchState *launch = nullptr;
  uint32_t id[3] = {};
  uint64_t linearId = 0;
  std::vector<std::unique_ptr<WaveState>> waves; ///< the first waveCount are in use
  uint32_t waveCount = 0;
  void *hookData = nullptr;

  // Barrier: a phase completes when all waves that have not ended have arrived.
  uint64_t barrierPhase = 0;
  uint32_t barrierArrived = 0;
  uint32_t alive = 0;
  NamedBarriers named;

  Random random;
  uint32_t quantumRange = 1;
  uint64_t clock = 0; ///< operations executed; what the clock intrinsics read
  WatchPost *watch = nullptr; ///< of the thread that executes the workgroup; null: nobody watches (watchdog.h)

  void arrive();
  void completeBarrierIfDone();
  /// Whether a wave that stopped at a barrier, its workgroup's or a named one, has to stay there.
  bool mustWait(const WaveState &w) const {
    return w.named.waits() ? !named.passed(w.named) : w.barrierPhase > barrierPhase;
  }
  /// The trial has failed, or another workgroup has, and this one is not waited for: it stands behind that one, or has
  /// executed so much that it may never end.
  bool givenUp() const {
    const uint64_t failed = launch->failedAt.load(std::memory_order_relaxed);
    return launch->trialFailed() || failed < linearId || (failed != ~uint64_t(0) && clock > kPatience);
  }
  static constexpr uint64_t kPatience = uint64_t(1) << 24;
  int32_t nextQuantum() { return 1 + int32_t(random.below(quantumRange)); }
};

/// What a hook that this wave calls now may see.
WaveView viewOf(Wave &w);
/// Enters `function` with `lanes`; arguments are copied from the caller's registers. Faults on overflow.
bool pushFrame(WaveState &w, const Function &function, LaneMask lanes, const CallSite *site);
/// Makes the lowest pending block of the innermost frame with lanes the current one; ends the wave if there is none.
void resumePending(WaveState &w);
/// Adds lanes to a block's pending mask.
void addPending(Frame &f, uint32_t block, LaneMask lanes);

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_WORKGROUP_H
