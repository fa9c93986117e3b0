// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wavesan/capsule/capsule.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace wavesan::capsule {

struct RegionDigest::State {
  XXH64_state_t hash;
};

RegionDigest::RegionDigest() : S(std::make_unique<State>()) { XXH64_reset(&S->hash, 0); }
RegionDigest::~RegionDigest() = default;
void RegionDigest::add(const void *bytes, size_t count) { XXH64_update(&S->hash, bytes, count); }
uint64_t RegionDigest::value() const { return XXH64_digest(&S->hash); }

uint64_t Capsule::memoryBytes() const {
  uint64_t bytes = 0;
  for (const Region &region : regions)
    bytes += region.bytes.size();
  return bytes;
}

} // namespace wavesan::capsule
