// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers, fences, clocks, traps and the hooks.
#include "handlers.h"
#include "lanes.h"
#include "workgroup.h"

#include "wavesan/abi/hooks.h"

#include <atomic>
#include <thread>

namespace wavesan::cpu::engine {

void Workgroup::completeBarrierIfDone() {
  if (barrierArrived && barrierArrived >= alive) {
    barrierArrived = 0;
    ++barrierPhase;
  }
}

void Workgroup::arrive() {
  ++barrierArrived;
  completeBarrierIfDone();
}

WaveView viewOf(Wave &w) {
  Workgroup &g = *w.group;
  return WaveView{.lds = w.lds,
                  .ldsBytes = w.ldsBytes,
                  .workgroup = {g.id[0], g.id[1], g.id[2]},
                  .wave = w.index,
                  .waveSize = w.lanes,
                  .waveCount = g.waveCount,
                  .scratch = reinterpret_cast<uint64_t>(w.scratch),
                  .scratchBytes = uint64_t(w.lanes) * w.scratchStride,
                  .workgroupData = g.hookData,
                  .dispatchData = g.launch->hookData,
                  .barriers = g.launch->barriers,
                  .turns = static_cast<WaveState &>(w).turns.data(),
                  .turnCount = uint32_t(static_cast<WaveState &>(w).turns.size()),
                  .arms = w.arms,
                  .trial = g.launch->trial};
}

namespace {

template <class T> T uniform(const Wave &w, Register r) { return w.at<T>(r)[__builtin_ctzll(w.exec)]; }

// barrierPhase of a wave: the phase that must be complete before it goes on; the scheduler compares.
void waitFor(Wave &w, uint64_t phase) {
  w.barrierPhase = phase;
  if (w.group->barrierPhase < phase)
    w.stop = Stop::Barrier;
  else
    w.tick();
}

void barrierRun(Wave &w, const Op &) {
  const uint64_t phase = w.group->barrierPhase + 1;
  w.group->arrive();
  waitFor(w, phase);
}

void signalRun(Wave &w, const Op &) {
  w.barrierPhase = w.group->barrierPhase + 1;
  w.signalled = true;
  w.group->arrive();
  w.tick();
}

void waitRun(Wave &w, const Op &) {
  const uint64_t phase = w.signalled ? w.barrierPhase : w.group->barrierPhase + 1;
  w.signalled = false;
  waitFor(w, phase);
}

template <abi::NamedBarrierOperation operation> void namedBarrierRun(Wave &wave, const Op &o) {
  using enum abi::NamedBarrierOperation;
  auto &w = static_cast<WaveState &>(wave);
  NamedBarriers &barriers = w.group->named;
  const uint32_t barrier = o.a == kNoRegister ? 0 : NamedBarriers::numberOf(uniform<uint32_t>(w, o.a));
  const uint32_t members = o.b == kNoRegister ? 0 : uniform<uint32_t>(w, o.b);
  const char *error = nullptr;
  if constexpr (operation == Init)
    error = barriers.init(barrier, members);
  else if constexpr (operation == Join)
    error = barriers.join(w.named, barrier);
  else if constexpr (operation == Signal)
    error = barriers.signal(barrier, members);
  else if constexpr (operation == Leave)
    error = barriers.leave(w.named);
  else
    error = barriers.wait(w.named);
  if (error)
    return w.raise(Outcome::Trap, o, error);
  if (w.named.waits())
    w.stop = Stop::Barrier;
  else
    w.tick();
}

// What a sleep counts in the budget of a turn: a workgroup that polls this way is soon found to wait.
constexpr uint32_t kSleepOperations = 256;
constexpr uint32_t kGridWaitOperations = 1 << 20; // more than any budget

void sleepRun(Wave &w, const Op &) {
  // A wave that sleeps usually polls: for another wave, another workgroup, or a host thread.
  static_cast<WaveState &>(w).spent += kSleepOperations;
  if (w.group->alive == 1 && w.group->launch->alone)
    std::this_thread::yield();
  w.quantum = 0;
  w.tick();
}

// a: waves that take part, less one; b: which barrier. Every wave that executes it waits for as many others.
void gridBarrierRun(Wave &wave, const Op &o) {
  auto &w = static_cast<WaveState &>(wave);
  GridBarriers &barriers = *w.group->launch->gridBarriers;
  const uint32_t first = uint32_t(__builtin_ctzll(w.exec));
  const uint64_t waves = uint64_t(w.at<uint32_t>(o.a)[first]) + 1;
  {
    std::lock_guard lock(barriers.mutex);
    GridBarriers::Barrier &b = barriers.barriers[w.at<uint32_t>(o.b)[first]];
    if (!w.atGridBarrier) {
      w.atGridBarrier = true;
      w.gridPhase = b.phase + 1;
      if (++b.arrived >= waves) {
        b.arrived = 0;
        ++b.phase;
      }
    }
    w.atGridBarrier = b.phase < w.gridPhase;
  }
  if (w.atGridBarrier) { // look again in the next turn: other workgroups must run first
    --w.pc;
    w.spent += kGridWaitOperations;
    w.stop = Stop::Yield;
    return;
  }
  w.tick();
}

void fenceRun(Wave &w, const Op &) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  w.tick();
}
/// One thread executes the workgroup.
void narrowFenceRun(Wave &w, const Op &) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  w.tick();
}

void nopRun(Wave &, const Op &) {}

void lanesMeetRun(Wave &w, const Op &) {
  if (HookHandler *handler = w.group->launch->launch->hooks) {
    WaveView view = viewOf(w);
    handler->lanesMeet(view, w.exec);
  }
}

void clockRun(Wave &w, const Op &o) {
  const uint64_t now = w.group->clock += 64; // never twice the same
  mapLanes<Cost::Cheap>(w, w.at<uint64_t>(o.d), 1, [=](uint32_t) { return now; });
}

void trapRun(Wave &w, const Op &o) { w.raise(Outcome::Trap, o, "the kernel executed a trap"); }
void unsupportedRun(Wave &w, const Op &o) {
  w.raise(Outcome::UnsupportedInstruction, o, static_cast<const char *>(o.extra));
}

void kernargCheckRun(Wave &w, const Op &o) {
  if (o.imm > w.group->launch->launch->kernargBytes)
    w.raise(Outcome::MemoryFault, o, "read beyond the kernarg segment");
}

uint32_t uniform(const Wave &w, const UniformOperand &o) {
  return o.reg == kNoRegister ? o.value : uniform<uint32_t>(w, o.reg);
}

/// Does some lane's access touch the bytes of the order? Of LDS and generic accesses alike.
template <bool isLds, bool isRange>
bool touches(const Wave &w, const HookOperands &x, uint32_t info, const ForcedOrder &order) {
  const uint64_t size = abi::accessSize(info), ldsBegin = reinterpret_cast<uint64_t>(w.lds);
  for (LaneMask rest = w.exec; rest; rest &= rest - 1) {
    const uint32_t lane = uint32_t(__builtin_ctzll(rest));
    uint64_t address = isLds ? w.at<uint32_t>(x.address)[lane] : w.at<uint64_t>(x.address)[lane];
    bool lds = isLds;
    if (!isLds && address - ldsBegin < w.ldsBytes) {
      address -= ldsBegin;
      lds = true;
    }
    const uint64_t length = isRange ? w.at<uint64_t>(x.length)[lane] : size;
    if (lds == order.lds && (address - order.begin < order.bytes || order.begin - address < length))
      return true;
  }
  return false;
}

template <abi::Hook which> void hookRun(Wave &w, const Op &o) {
  HookHandler *handler = w.group->launch->launch->hooks;
  if (!handler)
    return;
  const auto &x = *static_cast<const HookOperands *>(o.extra);
  using abi::Hook;
  constexpr bool isAccess = which == Hook::LdsAccess || which == Hook::GenericAccess || which == Hook::GlobalAccess;
  constexpr bool isRange = which == Hook::LdsRange || which == Hook::GenericRange || which == Hook::GlobalRange;
  const auto site = [&] { return uniform(w, x.site); };
  if constexpr (isAccess || isRange)
    if (OrderForcer &forcer = w.group->launch->forcer;
        forcer.active() && forcer.holds(*w.group, w, site(), [&](const ForcedOrder &order) {
          constexpr bool isLds = which == Hook::LdsAccess || which == Hook::LdsRange;
          return touches<isLds, isRange>(w, x, uniform(w, x.info), order);
        })) {
      --w.pc;
      w.quantum -= OrderForcer::kCost;
      w.stop = Stop::Yield;
      return;
    }
  WaveView view = viewOf(w);
  const auto info = [&] { return uniform(w, x.info); };
  if constexpr (which == Hook::GlobalAccess || which == Hook::GenericAccess || which == Hook::GlobalRange ||
                which == Hook::GenericRange)
    static_cast<WaveState &>(w).touchedGlobal = true;
  // Where all lanes run together and know everything, the hardware's order is complete.
  if (o.sub && w.arms)
    view.contested = w.exec != static_cast<WaveState &>(w).begun || !w.arms->allKnown();
  w.hold = false;
  if constexpr (isAccess)
    w.hold = (abi::accessBits(info()) & abi::kAccessAtomic) != 0;
  if constexpr (which == Hook::KernelBegin)
    handler->kernelBegin(view, w.exec,
                         reinterpret_cast<const abi::DispatchContext *>(uniform<uint64_t>(w, x.address)));
  else if constexpr (which == Hook::KernelEnd)
    handler->kernelEnd(view, w.exec);
  else if constexpr (which == Hook::LdsAccess)
    handler->ldsAccess(view, w.exec, w.at<uint32_t>(x.address), info(), site(), uniform(w, x.variable));
  else if constexpr (which == Hook::GenericAccess)
    handler->genericAccess(view, w.exec, w.at<uint64_t>(x.address), info(), site());
  else if constexpr (which == Hook::LdsRange)
    handler->ldsRange(view, w.exec, w.at<uint32_t>(x.address), w.at<uint64_t>(x.length), info(), site(),
                      uniform(w, x.variable));
  else if constexpr (which == Hook::GenericRange)
    handler->genericRange(view, w.exec, w.at<uint64_t>(x.address), w.at<uint64_t>(x.length), info(), site());
  else if constexpr (which == Hook::GlobalAccess)
    handler->globalAccess(view, w.exec, w.at<uint64_t>(x.address), info(), site());
  else if constexpr (which == Hook::GlobalRange)
    handler->globalRange(view, w.exec, w.at<uint64_t>(x.address), w.at<uint64_t>(x.length), info(), site());
  else if constexpr (which == Hook::AtomicDone) {
    const uint8_t *flags = w.at<uint8_t>(x.wrote);
    LaneMask wrote = 0;
    for (LaneMask rest = w.exec; rest; rest &= rest - 1)
      wrote |= LaneMask(flags[__builtin_ctzll(rest)] & 1) << __builtin_ctzll(rest);
    handler->atomicDone(view, w.exec, w.at<uint64_t>(x.address), info(), site(), wrote);
    w.tick();
  } else if constexpr (which == Hook::BarrierArrive) {
    handler->barrierArrive(view, w.exec, site());
    auto &turns = static_cast<WaveState &>(w).turns;
    for (Turn &turn : turns)
      turn.lanes &= ~w.exec;
    std::erase_if(turns, [](const Turn &turn) { return !turn.lanes; });
  } else if constexpr (which == Hook::BarrierLeave)
    handler->barrierLeave(view, w.exec, site());
  else if constexpr (which == Hook::Fence)
    handler->fence(view, w.exec, info());
  else if constexpr (which == Hook::Wait)
    handler->wait(view, w.exec, info());
  else if constexpr (which == Hook::LdsCopy)
    handler->ldsCopy(view, w.exec, w.at<uint32_t>(x.address), info(), site(), uniform(w, x.variable));
  else if constexpr (which == Hook::GridArrive)
    handler->gridArrive(view, w.exec, site());
  else if constexpr (which == Hook::GridLeave)
    handler->gridLeave(view, w.exec, site());
  else if constexpr (which == Hook::VmemIssued)
    handler->vmemIssued(view, w.exec, info());
  else if constexpr (which == Hook::NamedBarrier) {
    const auto operation = abi::NamedBarrierOperation(info());
    const NamedBarriers::Member &member = static_cast<WaveState &>(w).named;
    uint32_t barrier = NamedBarriers::numberOf(uniform(w, x.variable));
    uint64_t phase = 0;
    if (operation == abi::NamedBarrierOperation::Wait) {
      barrier = member.barrier;
      phase = member.waited;
    } else {
      if (operation == abi::NamedBarrierOperation::Leave)
        barrier = member.barrier;
      phase = w.group->named.nextPhase(barrier);
    }
    if (barrier != 0) // else the operation itself is an error
      handler->namedBarrier(view, w.exec, operation, barrier, phase);
  }
  if constexpr (isAccess || isRange)
    w.asksForValues = view.asksForValues;
  // What follows is not executed: it may be what another workgroup has seen or done something to.
  if constexpr (which == Hook::GlobalAccess || which == Hook::GenericAccess || which == Hook::GlobalRange ||
                which == Hook::GenericRange)
    if (w.group->launch->trialFailed()) [[unlikely]]
      w.stop = Stop::Cancelled;
}

} // namespace

Handler barrier() { return barrierRun; }
Handler barrierSignal() { return signalRun; }
Handler barrierWait() { return waitRun; }
Handler gridBarrier() { return gridBarrierRun; }
Handler namedBarrier(abi::NamedBarrierOperation operation) {
  using enum abi::NamedBarrierOperation;
  switch (operation) {
  case Init: return namedBarrierRun<Init>;
  case Join: return namedBarrierRun<Join>;
  case Signal: return namedBarrierRun<Signal>;
  case Leave: return namedBarrierRun<Leave>;
  case Wait: return namedBarrierRun<Wait>;
  }
  return nullptr;
}
Handler sleepOp() { return sleepRun; }
Handler fenceOp(bool beyondWorkgroup) { return beyondWorkgroup ? fenceRun : narrowFenceRun; }
Handler nop() { return nopRun; }
Handler lanesMeet() { return lanesMeetRun; }
Handler clockOp() { return clockRun; }
Handler trap() { return trapRun; }
Handler unsupported() { return unsupportedRun; }
Handler kernargCheck() { return kernargCheckRun; }

Handler hook(uint32_t index) {
  switch (abi::Hook(index)) {
#define WAVESAN_HOOK_CASE(id, symbol)                                                                                  \
  case abi::Hook::id: return hookRun<abi::Hook::id>;
    WAVESAN_HOOKS(WAVESAN_HOOK_CASE)
#undef WAVESAN_HOOK_CASE
  case abi::Hook::Count: break;
  }
  return nullptr;
}

} // namespace wavesan::cpu::engine
