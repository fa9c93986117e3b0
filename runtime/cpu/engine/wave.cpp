// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wave.h"

#include "function.h"
#include "handlers.h"
#include "memory_check.h"
#include "workgroup.h"

#include <array>
#include <cstring>

namespace wavesan::cpu::engine {

void Wave::raise(Outcome::Kind kind, const Op &op, const char *text) {
  if (stop == Stop::Fault)
    return;
  fault = Fault{.kind = kind, .op = &op, .text = text};
  stop = Stop::Fault;
}

void Wave::raiseAddress(const Op &op, Fault::Detail detail, uint32_t lane, uint64_t address) {
  if (stop == Stop::Fault)
    return;
  fault = Fault{.kind = Outcome::MemoryFault, .op = &op, .lane = lane, .address = address, .detail = detail};
  stop = Stop::Fault;
}

void raiseFlat(Wave &w, const Op &op, const uint64_t *address) {
  LaneMask bad = 0;
  forEachLane(w.exec, [&](uint32_t i) {
    if (isBadFlat(flatBadness(address[i] + op.imm)))
      bad |= LaneMask(1) << i;
  });
  const uint32_t lane = bad ? uint32_t(__builtin_ctzll(bad)) : 0;
  w.raiseAddress(op, Fault::Detail::HostAddress, lane, address[lane] + op.imm);
}

void raiseSegment(Wave &w, const Op &op, const uint32_t *address, uint64_t bytes, uint64_t size, Space space) {
  LaneMask bad = 0;
  forEachLane(w.exec, [&](uint32_t i) {
    if (address[i] + bytes > size)
      bad |= LaneMask(1) << i;
  });
  const uint32_t lane = bad ? uint32_t(__builtin_ctzll(bad)) : 0;
  w.raiseAddress(op, space == Space::Lds ? Fault::Detail::LdsRange : Fault::Detail::PrivateRange, lane, address[lane]);
}

// Below this many lanes, visiting them one by one is cheaper than evaluating and blending all of them.
static constexpr int kSparseLanes = 6;

static constexpr auto kByteMasks = [] {
  std::array<uint64_t, 256> table{};
  for (uint32_t bits = 0; bits < 256; ++bits)
    for (uint32_t i = 0; i < 8; ++i)
      if (bits >> i & 1)
        table[bits] |= uint64_t(0xff) << (8 * i);
  return table;
}();

void Wave::setExec(LaneMask mask) {
  exec = mask;
  full = mask == frame->live;
  if (full)
    return;
  sparse = __builtin_popcountll(mask) <= kSparseLanes;
  if (sparse)
    return;
  for (uint32_t i = 0; i < kMaxLanes / 8; ++i)
    std::memcpy(laneBytes + 8 * i, &kByteMasks[mask >> (8 * i) & 0xff], 8);
}

void RegisterStack::Free::operator()(std::byte *p) const { ::operator delete[](p, std::align_val_t(64)); }

std::byte *RegisterStack::push(size_t bytes, size_t &mark) {
  constexpr size_t kChunkBytes = size_t(256) << 10;
  bytes = (bytes + 63) & ~size_t(63);
  // A mark is the chunk in the high and the offset in the low half.
  mark = (chunk << 40) | used;
  if (chunks.empty() || used + bytes > chunks[chunk].size) {
    size_t next = chunks.empty() ? 0 : chunk + 1;
    if (next < chunks.size() && chunks[next].size < bytes)
      chunks.resize(next);
    if (next == chunks.size()) {
      const size_t size = bytes > kChunkBytes ? bytes : kChunkBytes;
      chunks.push_back({std::unique_ptr<std::byte[], Free>(new (std::align_val_t(64)) std::byte[size]), size});
    }
    chunk = next;
    used = 0;
  }
  std::byte *p = chunks[chunk].memory.get() + used;
  used += bytes;
  return p;
}

void RegisterStack::pop(size_t mark) {
  chunk = mark >> 40;
  used = mark & ((size_t(1) << 40) - 1);
}

} // namespace wavesan::cpu::engine
