// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a handler sees: operations, registers, and the wave that executes them. No LLVM types.
//
// A register is an array of one scalar for each lane of the wave, in the smallest of five containers (1 to 16
// bytes) that holds the scalar; integers of odd widths are kept zero-extended in theirs. A vector of n scalars is n
// registers, contiguous where an operation handles all of them at once. Registers are named by a 32-bit code: the two
// high bits select the memory they live in, the rest is a byte offset.
//
// A wave's whole state is explicit (frames with pending masks), so it can stop after any operation and go on later.
//
// Control flow: each frame holds, for each block, the mask of lanes that wait to enter it. The lowest pending block
// always runs next; blocks are numbered so that this reconverges (block_order.h). A frame's `live` lanes are those
// that entered it and have neither returned nor ended. Registers of lanes that are not live are dead: operations may
// overwrite them; registers of live but inactive lanes are never touched.
//
// Everything inline in this header is always_inline: handlers are compiled more than once with different
// instruction sets, and no copy for a newer machine may be linked into code for an older one.
#ifndef WAVESAN_CPU_ENGINE_WAVE_H
#define WAVESAN_CPU_ENGINE_WAVE_H

#include "engine.h"

#include <cstddef>
#include <cstdint>

namespace wavesan::cpu::engine {

inline constexpr uint32_t kMaxLanes = 64;

/// Container of a scalar: 1 << Width bytes.
enum class Width : uint8_t { B8, B16, B32, B64, B128 };
inline constexpr uint32_t kWidths = 5;
constexpr uint32_t bytesOf(Width w) { return 1u << uint32_t(w); }

/// In place of a turn (barrier_flow.h).
inline constexpr uint32_t kNoTurn = 0xffffffffu;

using Register = uint32_t;
enum class Bank : uint32_t { Frame, Constant, Wave, Launch };
constexpr Register makeRegister(Bank bank, uint32_t offset) { return (uint32_t(bank) << 30) | offset; }
inline constexpr Register kNoRegister = 0xffffffffu;

// Registers of the wave bank: u32 arrays.
inline constexpr uint32_t kWaveBankWorkitem = 0;  ///< x, y, z
inline constexpr uint32_t kWaveBankWorkgroup = 3; ///< x, y, z
inline constexpr uint32_t kWaveBankRegisters = 6;
// Registers of the launch bank: u64 arrays, followed by the kernel's arguments.
enum LaunchBankRegister : uint32_t { kImplicitArg, kDispatchPtr, kQueuePtr, kKernargPtr, kDispatchId, kLaunchBankRegisters };

struct Wave;
struct Op;
using Handler = void (*)(Wave &, const Op &);

/// One decoded operation. The meaning of the fields belongs to the handler; by convention `d` is the destination, `a`,
/// `b`, `c` are sources and `n` is the number of consecutive registers to process.
struct Op {
  Handler run;
  Register d = kNoRegister, a = kNoRegister, b = kNoRegister, c = kNoRegister;
  uint32_t n = 1;
  uint32_t sub = 0;
  uint64_t imm = 0;
  const void *extra = nullptr; ///< owned by the Function
};
static_assert(sizeof(Op) == 48);

enum class Stop : uint32_t { None, Yield, Barrier, Ended, Fault, Cancelled };

struct Frame;
struct Workgroup;

/// Why a wave faulted. `text` says what happened; kernel and source position are added by whoever reports it.
struct Fault {
  Outcome::Kind kind = Outcome::Success;
  const Op *op = nullptr;
  uint32_t lane = 0;
  uint64_t address = 0;
  const char *text = nullptr;       ///< static or owned by the program
  enum class Detail : uint8_t { None, LdsRange, HostAddress, PrivateRange } detail = Detail::None;
};

struct Wave {
  std::byte *bank[4] = {};
  LaneMask exec = 0;
  bool full = false;  ///< exec covers every live lane of the frame: lane loops may run over all lanes
  bool sparse = false; ///< few lanes are active: visit them one by one
  uint32_t lanes = 64; ///< wave size
  LaneMask allLanes = ~LaneMask(0); ///< mask of `lanes` bits
  const Op *pc = nullptr;
  Stop stop = Stop::None;
  int32_t quantum = 0; ///< memory and sync operations until the next switch
  /// No switch before the AtomicDone hook: what an atomic reads and writes must be what the hooks around it see.
  bool hold = false;
  bool asksForValues = false; ///< as in WaveView
  int64_t fuel = 0;    ///< operations until the next look at the cancel flag
  Frame *frame = nullptr;
  Workgroup *group = nullptr;
  LaneOrder *arms = nullptr; ///< WaveView::arms

  uint8_t *lds = nullptr;
  uint32_t ldsBytes = 0;
  uint32_t ldsAperture = 0;      ///< bytes from `lds` on that count as LDS for generic pointers
  uint8_t *scratch = nullptr;    ///< private memory of lane 0
  uint32_t scratchStride = 0;    ///< bytes of private memory of one lane, and distance between lanes
  alignas(64) uint8_t laneBytes[kMaxLanes] = {}; ///< 0xff where exec is set; valid while !full && !sparse

  uint32_t index = 0;        ///< in the workgroup
  uint32_t depth = 0;        ///< frames
  uint64_t barrierPhase = 0; ///< the phase that this wave has signalled or waits for
  bool signalled = false;
  Fault fault;

  template <class T> [[gnu::always_inline]] T *at(Register r) const {
    return reinterpret_cast<T *>(bank[r >> 30] + (r & 0x3fffffffu));
  }

  /// After a memory or synchronisation operation: other waves may run now.
  [[gnu::always_inline]] void tick() {
    if (!hold && --quantum <= 0 && stop == Stop::None)
      stop = Stop::Yield;
  }

  /// Stops the wave with a fault. `text` must outlive the launch.
  void raise(Outcome::Kind kind, const Op &op, const char *text);
  void raiseAddress(const Op &op, Fault::Detail detail, uint32_t lane, uint64_t address);

  /// Sets the active lanes (a subset of the frame's live lanes).
  void setExec(LaneMask mask);
};

} // namespace wavesan::cpu::engine

#endif // WAVESAN_CPU_ENGINE_WAVE_H
