// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "copies.h"

#include "lane_pointer.h"
#include "workgroup.h"

#include <cstring>

namespace wavesan::cpu::engine {

void performCopies(WaveState &w, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    PendingCopy &c = w.copies[k];
    size_t at = 0;
    for (LaneMask rest = c.lanes; rest; rest &= rest - 1, at += c.bytes) {
      const uint32_t i = uint32_t(__builtin_ctzll(rest));
      if (c.toLds)
        std::memcpy(w.lds + c.lds[i], c.loaded.data() + at, c.bytes);
      else
        std::memcpy(reinterpret_cast<void *>(c.global[i]), w.lds + c.lds[i], c.bytes);
    }
  }
  w.copies.erase(w.copies.begin(), w.copies.begin() + long(count));
}

void performSomeCopies(WaveState &w) {
  // Seldom, so that a missing wait shows often.
  if (!w.copies.empty() && w.group->random.below(8) == 0)
    performCopies(w, 1 + w.group->random.below(uint32_t(w.copies.size())));
}

namespace {

/// Performs copies up to the newest one that `chosen` names.
template <class F> void performThrough(WaveState &w, F chosen) {
  for (size_t k = w.copies.size(); k-- > 0;)
    if (chosen(w.copies[k]))
      return performCopies(w, k + 1);
}

// a: global addresses (u64), b: LDS addresses (u32), imm: offset of both, extra: CopyShape, c: kNoRegister, or bytes in
// range of a buffer (u32), whose addresses hold the offset already: lanes out of range read zero.
void issueCopyRun(Wave &wave, const Op &o) {
  auto &w = static_cast<WaveState &>(wave);
  const auto &shape = *static_cast<const CopyShape *>(o.extra);
  const uint32_t *inRange = o.c == kNoRegister ? nullptr : w.at<uint32_t>(o.c);
  const LaneMask all = w.exec;
  LaneMask reading = all;
  if (inRange)
    forEachLane(all, [&](uint32_t i) { reading &= ~(LaneMask(inRange[i] < shape.globalBytes) << i); });
  const uint64_t globalOffset = inRange ? 0 : o.imm;
  w.exec = reading;
  const bool good = checkLanes<Space::Flat>(w, o, o.a, globalOffset, shape.globalBytes);
  w.exec = all;
  if (!good)
    return;
  PendingCopy c{};
  c.toLds = shape.toLds;
  c.fenced = shape.fenced;
  c.asyncCounter = shape.asyncCounter;
  c.bytes = shape.ldsBytes;
  c.lanes = w.exec;
  const uint32_t *address = w.at<uint32_t>(o.b);
  const uint32_t first = address[__builtin_ctzll(w.exec)];
  for (LaneMask rest = w.exec; rest; rest &= rest - 1) {
    const uint32_t i = uint32_t(__builtin_ctzll(rest));
    // Lane i is i elements behind the first lane's address, whichever lanes are active.
    const uint64_t at =
        uint64_t(shape.consecutive ? first + uint64_t(i) * shape.ldsBytes : address[i]) + uint32_t(o.imm);
    if (at + shape.ldsBytes > w.ldsBytes)
      return w.raiseAddress(o, Fault::Detail::LdsRange, i, at);
    c.lds[i] = uint32_t(at);
    c.global[i] = reinterpret_cast<uint64_t>(lanePointer<Space::Flat>(w, o.a, i, globalOffset));
  }
  if (shape.toLds) {
    c.loaded.resize(size_t(__builtin_popcountll(w.exec)) * shape.ldsBytes); // zero beyond what is loaded
    size_t at = 0;
    for (LaneMask rest = w.exec; rest; rest &= rest - 1, at += shape.ldsBytes)
      if (reading & rest & -rest)
        std::memcpy(c.loaded.data() + at, reinterpret_cast<const void *>(c.global[__builtin_ctzll(rest)]),
                    shape.globalBytes);
  }
  c.number = shape.asyncCounter ? ++w.asyncIssued : ++w.vmemIssued;
  w.copies.push_back(std::move(c));
  w.tick();
}

// sub: count of vector memory that may remain, n: the same of asynchronous copies; kNoWaitCount: no wait.
void waitCopiesRun(Wave &wave, const Op &o) {
  auto &w = static_cast<WaveState &>(wave);
  if (!w.copies.empty())
    performThrough(w, [&](const PendingCopy &c) {
      // vmemIssued is the most that may have been issued, so a copy that may be complete is completed.
      return c.asyncCounter ? o.n != kNoWaitCount && w.asyncIssued - c.number >= o.n
                            : o.sub != kNoWaitCount && w.vmemIssued - c.number >= o.sub;
    });
  w.tick();
}

void fenceCopiesRun(Wave &wave, const Op &) {
  auto &w = static_cast<WaveState &>(wave);
  if (!w.copies.empty())
    performThrough(w, [](const PendingCopy &c) { return c.fenced; });
}

void countVmemRun(Wave &wave, const Op &o) { static_cast<WaveState &>(wave).vmemIssued += o.imm; }

void setM0Run(Wave &w, const Op &o) { static_cast<WaveState &>(w).m0 = w.at<uint32_t>(o.a)[__builtin_ctzll(w.exec)]; }
void getM0Run(Wave &w, const Op &o) {
  const uint32_t m0 = static_cast<WaveState &>(w).m0;
  uint32_t *d = w.at<uint32_t>(o.d);
  forEachLane(w.exec, [&](uint32_t i) { d[i] = m0; });
}

} // namespace

Handler issueCopy() { return issueCopyRun; }
Handler waitCopies() { return waitCopiesRun; }
Handler fenceCopies() { return fenceCopiesRun; }
Handler setM0() { return setM0Run; }
Handler getM0() { return getM0Run; }
Handler countVmem() { return countVmemRun; }

} // namespace wavesan::cpu::engine
