// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, calls and returns.
#include "function.h"
#include "handlers.h"
#include "lanes.h"
#include "watchdog.h"
#include "workgroup.h"

#include <algorithm>

namespace wavesan::cpu::engine {

namespace {

constexpr int64_t kFuel = 8192;
constexpr uint32_t kMaxDepth = 4096;
constexpr uint64_t kMaxStackBytes = uint64_t(64) << 20; // registers of one wave

WaveState &stateOf(Wave &w) { return static_cast<WaveState &>(w); }

void enterBlock(Wave &w, const Function &f, uint32_t block) {
  w.pc = f.block(block);
  w.fuel -= f.blockOps(block);
  if (w.fuel > 0) [[likely]]
    return;
  w.group->clock += uint64_t(kFuel - w.fuel);
  w.fuel = kFuel;
  if (WatchPost *watch = w.group->watch)
    watch->look();
  const auto *cancel = w.group->launch->launch->cancel;
  const bool cancelled = (cancel && cancel->load(std::memory_order_relaxed)) || w.group->givenUp();
  if (cancelled && w.stop != Stop::Fault)
    w.stop = Stop::Cancelled;
}

template <class T> void moveLanes(const Wave &w, const Move &m, LaneMask lanes, bool all) {
  T *to = w.at<T>(m.to);
  const T *from = w.at<T>(m.from);
  if (all) {
    std::memmove(to, from, size_t(m.n) * w.lanes * sizeof(T)); // merged moves may overlap
    return;
  }
  for (uint32_t k = 0; k < m.n; ++k)
    forEachLane(lanes, [&](uint32_t i) { to[k * w.lanes + i] = from[k * w.lanes + i]; });
}

void applyMoves(const Wave &w, const std::vector<Move> &moves, LaneMask lanes) {
  const bool all = lanes == w.frame->live;
  for (const Move &m : moves)
    switch (m.width) {
    case Width::B8: moveLanes<uint8_t>(w, m, lanes, all); break;
    case Width::B16: moveLanes<uint16_t>(w, m, lanes, all); break;
    case Width::B32: moveLanes<uint32_t>(w, m, lanes, all); break;
    case Width::B64: moveLanes<uint64_t>(w, m, lanes, all); break;
    case Width::B128: moveLanes<u128>(w, m, lanes, all); break;
    }
}

/// Lanes whose i1 is set, of all lanes (inactive ones are garbage).
LaneMask maskOf(const uint8_t *flags, uint32_t lanes) {
  LaneMask mask = 0;
  for (uint32_t i = 0; i < lanes; i += 8) {
    const uint64_t bytes = loadUnaligned<uint64_t>(flags + i) & 0x0101010101010101u;
    mask |= ((bytes * 0x0102040810204080u) >> 56) << i;
  }
  return mask;
}

/// All active lanes follow `edge`.
void follow(Wave &w, const Edge &edge) {
  Frame &f = *w.frame;
  if (!edge.moves.empty())
    applyMoves(w, edge.moves, w.exec);
  if (!f.pendingCount) [[likely]]
    return enterBlock(w, *f.function, edge.block);
  addPending(f, edge.block, w.exec);
  resumePending(stateOf(w));
}

void branchRun(Wave &w, const Op &o) { follow(w, *static_cast<const Edge *>(o.extra)); }

void conditionalRun(Wave &w, const Op &o) {
  const Edge *edges = static_cast<const Edge *>(o.extra);
  const LaneMask taken = maskOf(w.at<uint8_t>(o.a), w.lanes) & w.exec;
  if (taken == w.exec)
    return follow(w, edges[0]);
  if (!taken)
    return follow(w, edges[1]);
  const LaneMask rest = w.exec & ~taken;
  applyMoves(w, edges[0].moves, taken);
  applyMoves(w, edges[1].moves, rest);
  addPending(*w.frame, edges[0].block, taken);
  addPending(*w.frame, edges[1].block, rest);
  resumePending(stateOf(w));
}

/// Remembers a turn (barrier_flow.h) of some lanes. The list stays short: a lane takes each turn once between barriers.
void noteTurn(Wave &wave, uint32_t turn, LaneMask lanes) {
  if (turn == kNoTurn || !lanes || !wave.group->launch->barriers)
    return;
  auto &turns = stateOf(wave).turns;
  if (!turns.empty() && turns.back().turn == turn)
    turns.back().lanes |= lanes;
  else
    turns.push_back({turn, lanes});
}

void turningRun(Wave &w, const Op &o) {
  const LaneMask taken = maskOf(w.at<uint8_t>(o.a), w.lanes) & w.exec;
  noteTurn(w, uint32_t(o.imm), taken);
  noteTurn(w, uint32_t(o.imm >> 32), w.exec & ~taken);
  conditionalRun(w, o);
}

template <class T> uint64_t laneValue(const Wave &w, Register r, uint32_t lane) { return uint64_t(w.at<T>(r)[lane]); }
uint64_t laneValue(const Wave &w, Register r, Width width, uint32_t lane) {
  switch (width) {
  case Width::B8: return laneValue<uint8_t>(w, r, lane);
  case Width::B16: return laneValue<uint16_t>(w, r, lane);
  case Width::B32: return laneValue<uint32_t>(w, r, lane);
  default: return laneValue<uint64_t>(w, r, lane);
  }
}

void switchRun(Wave &w, const Op &o) {
  const auto &table = *static_cast<const SwitchTable *>(o.extra);
  for (LaneMask rest = w.exec; rest;) {
    const uint64_t value = laneValue(w, o.a, table.width, uint32_t(__builtin_ctzll(rest)));
    LaneMask same = 0;
    forEachLane(rest, [&](uint32_t i) { same |= LaneMask(laneValue(w, o.a, table.width, i) == value) << i; });
    rest &= ~same;
    const auto found = std::lower_bound(table.values.begin(), table.values.end(), value);
    const bool isCase = found != table.values.end() && *found == value;
    const uint32_t target = isCase ? table.target[size_t(found - table.values.begin())] : 0;
    const Edge &edge = table.edges[target];
    if (!table.turns.empty())
      noteTurn(w, table.turns[target], same);
    applyMoves(w, edge.moves, same);
    addPending(*w.frame, edge.block, same);
  }
  resumePending(stateOf(w));
}

void callRun(Wave &wave, const Op &o) {
  WaveState &w = stateOf(wave);
  const auto &site = *static_cast<const CallSite *>(o.extra);
  LaunchState &launch = *w.group->launch;
  Frame &f = *w.frame;
  LaneMask lanes = w.exec;
  const char *error = nullptr;
  const Function *callee;
  if (site.llvmFunction) {
    callee = site.callee.load(std::memory_order_acquire);
    if (!callee) {
      callee = launch.function(launch, site.llvmFunction, &error);
      site.callee.store(callee, std::memory_order_release);
    }
  } else {
    // One target at a time; the call is executed again for the lanes that are left.
    if (!f.callRest)
      f.callRest = w.exec;
    const uint64_t *target = w.at<uint64_t>(o.a);
    const uint64_t first = target[__builtin_ctzll(f.callRest)];
    lanes = 0;
    forEachLane(f.callRest, [&](uint32_t i) { lanes |= LaneMask(target[i] == first) << i; });
    f.callRest &= ~lanes;
    callee = launch.functionAt(launch, first, &error);
    if (callee && (callee->arguments != site.argumentWidths || callee->results != site.resultWidths)) {
      callee = nullptr;
      error = "indirect call of a function with another signature";
    }
    if (!callee && !error)
      return w.raise(Outcome::MemoryFault, o, "indirect call through a pointer that is no function");
  }
  if (!callee)
    return w.raise(Outcome::UnsupportedInstruction, o, error);
  f.exec = w.exec;
  f.pc = &o + 1;
  pushFrame(w, *callee, lanes, &site);
}

void copyResult(const Wave &w, Width width, Register from, std::byte *to) {
  const std::byte *source = w.at<std::byte>(from);
  const uint32_t bytes = bytesOf(width);
  if (w.full && w.exec == w.allLanes) {
    std::memcpy(to, source, size_t(w.lanes) * bytes);
    return;
  }
  forEachLane(w.exec, [&](uint32_t i) { std::memcpy(to + i * bytes, source + i * bytes, bytes); });
}

void returnRun(Wave &wave, const Op &o) {
  WaveState &w = stateOf(wave);
  Frame &f = *w.frame;
  if (const auto *values = static_cast<const ReturnValues *>(o.extra); values && w.depth > 1) {
    const Frame &caller = w.frames[w.depth - 2];
    const Op &callOp = caller.pc[-1];
    if (callOp.d != kNoRegister) {
      std::byte *to = caller.registers + callOp.d;
      for (size_t i = 0; i < values->from.size(); ++i) {
        copyResult(w, values->widths[i], values->from[i], to);
        to += size_t(w.lanes) * bytesOf(values->widths[i]);
      }
    }
  }
  f.live &= ~w.exec;
  resumePending(w);
}

void endProgramRun(Wave &wave, const Op &) {
  WaveState &w = stateOf(wave);
  const LaneMask ended = w.exec;
  for (uint32_t d = 0; d < w.depth; ++d) {
    Frame &f = w.frames[d];
    f.live &= ~ended;
    f.exec &= ~ended;
    f.callRest &= ~ended;
    for (uint32_t b = 0; b < f.function->blockCount(); ++b)
      if (f.pending[b]) {
        f.pending[b] &= ~ended;
        if (!f.pending[b]) {
          f.pendingBits[b / 64] &= ~(uint64_t(1) << (b % 64));
          --f.pendingCount;
        }
      }
  }
  resumePending(w);
}

void unreachableRun(Wave &w, const Op &o) { w.raise(Outcome::Trap, o, "reached code that the program marks unreachable"); }

void copyByVal(const WaveState &w, const Frame &f) {
  for (const Function::ByVal &v : f.function->byVal) {
    const uint32_t *source = reinterpret_cast<const uint32_t *>(f.registers + v.argument);
    forEachLane(f.live, [&](uint32_t i) {
      uint8_t *lane = w.scratch + size_t(i) * w.scratchStride;
      if (uint64_t(source[i]) + v.bytes <= w.scratchStride)
        std::memmove(lane + f.privateBase + v.offset, lane + source[i], v.bytes);
    });
    uint32_t *pointer = reinterpret_cast<uint32_t *>(f.registers + v.argument);
    forEachLane(f.live, [&](uint32_t i) { pointer[i] = f.privateBase + v.offset; });
  }
}

} // namespace

void addPending(Frame &f, uint32_t block, LaneMask lanes) {
  if (!f.pending[block]) {
    f.pendingBits[block / 64] |= uint64_t(1) << (block % 64);
    ++f.pendingCount;
  }
  f.pending[block] |= lanes;
}

void resumePending(WaveState &w) {
  for (;;) {
    Frame &f = *w.frame;
    if (f.pendingCount) {
      uint32_t word = 0;
      while (!f.pendingBits[word])
        ++word;
      const uint32_t block = word * 64 + uint32_t(__builtin_ctzll(f.pendingBits[word]));
      f.pendingBits[word] &= f.pendingBits[word] - 1;
      --f.pendingCount;
      const LaneMask lanes = f.pending[block];
      f.pending[block] = 0;
      w.setExec(lanes);
      if (w.arms)
        w.arms->meet(lanes);
      return enterBlock(w, *f.function, block);
    }
    w.stack.pop(f.stackMark);
    if (--w.depth == 0) {
      w.frame = nullptr;
      w.exec = 0;
      w.stop = Stop::Ended;
      return;
    }
    Frame &caller = w.frames[w.depth - 1];
    w.frame = &caller;
    w.bank[uint32_t(Bank::Frame)] = caller.registers;
    w.bank[uint32_t(Bank::Constant)] = const_cast<std::byte *>(caller.function->constants.data());
    if (caller.exec) {
      w.setExec(caller.exec);
      w.pc = caller.callRest ? caller.pc - 1 : caller.pc;
      return;
    }
  }
}

bool pushFrame(WaveState &w, const Function &function, LaneMask lanes, const CallSite *site) {
  const Frame *caller = w.depth ? &w.frames[w.depth - 1] : nullptr;
  const Op &callOp = caller ? caller->pc[-1] : function.ops[0];
  if (w.depth >= kMaxDepth) {
    w.raise(Outcome::MemoryFault, callOp, "call depth exceeds the limit of 4096");
    return false;
  }
  const uint32_t privateBase = caller ? (caller->privateBase + caller->function->privateBytes + 15) & ~15u : 0;
  if (uint64_t(privateBase) + function.privateBytes > w.scratchStride) {
    w.raise(Outcome::MemoryFault, callOp, "private memory (stack) of a lane overflows");
    return false;
  }
  const uint32_t blocks = function.blockCount();
  const size_t maskBytes = (size_t(blocks) * sizeof(LaneMask) + 63) & ~size_t(63);
  const size_t bitBytes = ((blocks + 63) / 64 * sizeof(uint64_t) + 63) & ~size_t(63);
  const size_t bytes = maskBytes + bitBytes + function.registerBytes;
  Frame f;
  std::byte *memory = w.stack.push(bytes, f.stackMark);
  if ((f.stackMark >> 40) * (size_t(256) << 10) > kMaxStackBytes) {
    w.stack.pop(f.stackMark);
    w.raise(Outcome::MemoryFault, callOp, "registers of nested calls exceed 64 MiB for one wave");
    return false;
  }
  // Registers start as zero where that shows: what a cross-lane operation reads from a lane that never wrote is repeatable.
  std::memset(memory, 0, function.readsOtherLanes ? bytes : maskBytes + bitBytes);
  f.function = &function;
  f.pending = reinterpret_cast<LaneMask *>(memory);
  f.pendingBits = reinterpret_cast<uint64_t *>(memory + maskBytes);
  f.registers = memory + maskBytes + bitBytes;
  f.live = lanes;
  f.privateBase = privateBase;
  if (site) {
    for (const Move &m : site->arguments)
      std::memcpy(f.registers + m.to, w.at<std::byte>(m.from), size_t(m.n) * w.lanes * bytesOf(m.width));
  }
  if (w.frames.size() <= w.depth)
    w.frames.resize(w.depth + 1);
  w.frames[w.depth++] = f;
  w.frame = &w.frames[w.depth - 1];
  w.bank[uint32_t(Bank::Frame)] = f.registers;
  w.bank[uint32_t(Bank::Constant)] = const_cast<std::byte *>(function.constants.data());
  if (function.privateBytes)
    for (uint32_t i = 0; i < w.lanes; ++i)
      std::memset(w.scratch + size_t(i) * w.scratchStride + privateBase, 0, function.privateBytes);
  if (!function.byVal.empty())
    copyByVal(w, *w.frame);
  w.setExec(lanes);
  enterBlock(w, function, 0);
  return true;
}

Handler branch() { return branchRun; }
Handler conditionalBranch() { return conditionalRun; }
Handler turningBranch() { return turningRun; }
Handler switchOp() { return switchRun; }
Handler call() { return callRun; }
Handler returnOp() { return returnRun; }
Handler endProgram() { return endProgramRun; }
Handler unreachable() { return unreachableRun; }

} // namespace wavesan::cpu::engine
