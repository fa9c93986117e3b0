// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stuck_check.h"

#include <cstring>

namespace wavesan::cpu::engine {

namespace {

struct Hash {
  uint64_t value = 0x9e3779b97f4a7c15u;
  void add(uint64_t v) {
    value = (value ^ v) * 0xff51afd7ed558ccdu;
    value ^= value >> 32;
  }
  void add(const void *memory, size_t bytes) {
    const auto *p = static_cast<const std::byte *>(memory);
    for (; bytes >= 8; p += 8, bytes -= 8) {
      uint64_t v;
      std::memcpy(&v, p, 8);
      add(v);
    }
    if (bytes) {
      uint64_t v = 0;
      std::memcpy(&v, p, bytes);
      add(v);
    }
  }
};

/// Where the wave is and all that it remembers.
void addWave(Hash &hash, const WaveState &w) {
  hash.add(w.index);
  hash.add(reinterpret_cast<uint64_t>(w.pc));
  hash.add(w.exec);
  hash.add(w.copies.size());
  for (uint32_t d = 0; d < w.depth; ++d) {
    const Frame &f = w.frames[d];
    hash.add(reinterpret_cast<uint64_t>(f.pc));
    hash.add(f.live);
    hash.add(f.exec);
    hash.add(f.pending, f.function->blockCount() * sizeof(LaneMask));
    hash.add(f.registers, f.function->registerBytes);
  }
  if (w.scratchStride)
    hash.add(w.scratch, size_t(w.lanes) * w.scratchStride);
}

} // namespace

bool StuckCheck::sample(LaunchState &launch, const Workgroup &group, const WaveState &wave) {
  NextSample = Quiet + kInterval;
  if (Quiet < kFirstSample + kInterval)
    Seen.clear(); // the first sample
  // Without hooks nobody says which memory is accessed.
  Global |= wave.touchedGlobal || !group.hookData;
  Hash hash;
  addWave(hash, wave);
  hash.add(wave.lds, wave.ldsBytes);
  hash.add(group.named.pending());
  if (Seen.size() >= kMaxSeen)
    Seen.clear();
  if (Seen.insert(hash.value).second) {
    LastNew = Quiet;
    Others = launch.progress.fetch_add(1, std::memory_order_relaxed) + 1;
    return false;
  }
  const uint64_t limit = launch.launch->stuckLimit;
  if (limit == 0)
    return false;
  if (!Global)
    return Quiet - LastNew > (limit < kLdsLimit ? limit : kLdsLimit);
  if (const uint64_t now = launch.progress.load(std::memory_order_relaxed); Others != now) {
    Others = now;
    LastNew = Quiet;
    return false;
  }
  return Quiet - LastNew > limit;
}

} // namespace wavesan::cpu::engine
