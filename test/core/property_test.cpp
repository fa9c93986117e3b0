// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Property: on random programs the packed detector and the vector-clock reference name the same racy bytes, and every
// pair the packed one names is a race in the reference - under any schedule. A failing program is shrunk and printed.
#include "workgroup_model.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

namespace wavesan {
using namespace test;

namespace {

struct Op {
  enum Kind { Access, Fence } kind;
  uint32_t lane, site, address, size;
  bool write, atomic;
};
struct Phase {                      // what happens between two barriers
  std::vector<std::vector<Op>> ops; // [wave]
  std::vector<bool> fenceBefore, fenceAfter;
};
struct Program {
  uint32_t waves, ldsBytes, granuleLog2;
  std::vector<Phase> phases;
  std::vector<uint32_t> endsAfter; // [wave]: number of phases it executes

  std::string text() const {
    std::ostringstream out;
    out << waves << " waves, " << ldsBytes << " bytes, granule " << (1u << granuleLog2) << "\n";
    for (size_t p = 0; p < phases.size(); ++p)
      for (uint32_t w = 0; w < waves; ++w) {
        out << "phase " << p << " wave " << w << (p >= endsAfter[w] ? " (ended)" : "") << ":";
        for (const Op &op : phases[p].ops[w])
          if (op.kind == Op::Fence)
            out << " fence";
          else
            out << (op.atomic ? " atomic-" : " ") << (op.write ? "write" : "read") << "[" << op.address << "+"
                << op.size << "] s" << op.site << " l" << op.lane;
        out << (phases[p].fenceBefore[w] ? " fence" : "") << " | barrier" << (phases[p].fenceAfter[w] ? " fence" : "")
            << "\n";
      }
    return out.str();
  }
};

Program generate(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto below = [&](uint32_t n) { return uint32_t(random() % n); };
  Program p;
  p.waves = 1 + below(6);
  p.granuleLog2 = below(3);
  p.ldsBytes = 16 << below(3);
  const uint32_t phases = 1 + below(6), density = 1 + below(6), bareOneIn = below(3) == 0 ? 2 + below(6) : 0,
                 atomicOneIn = 1 + below(5), readsOf8 = 1 + below(7);
  uint32_t site = 0;
  for (uint32_t w = 0; w < p.waves; ++w)
    p.endsAfter.push_back(below(12) == 0 ? 1 + below(phases) : phases);
  for (uint32_t i = 0; i < phases; ++i) {
    Phase phase;
    for (uint32_t w = 0; w < p.waves; ++w) {
      std::vector<Op> ops;
      for (uint32_t n = below(density + 1); n > 0; --n) {
        if (below(8) == 0) {
          ops.push_back({Op::Fence, 0, 0, 0, 0, false, false});
          continue;
        }
        Op op{Op::Access, below(64), site++, 0, 0, below(8) >= readsOf8, below(atomicOneIn) == 0};
        op.size = std::max(1u << below(5), 1u << p.granuleLog2);
        if (op.atomic)
          op.size = std::max(4u, 1u << p.granuleLog2);
        op.size = std::min(op.size, p.ldsBytes);
        op.address = below((p.ldsBytes - op.size) / (1u << p.granuleLog2) + 1) << p.granuleLog2;
        ops.push_back(op);
      }
      phase.ops.push_back(ops);
      bool bare = bareOneIn && below(bareOneIn) == 0;
      phase.fenceBefore.push_back(!bare);
      phase.fenceAfter.push_back(!bare || below(2));
    }
    p.phases.push_back(phase);
  }
  return p;
}

struct Result {
  std::set<uint32_t> packedBytes, referenceBytes;
  std::set<RacePair> packedPairs, referencePairs;
  uint64_t overflow;
};

/// Runs the program under one random schedule through both detectors.
Result run(const Program &p, uint64_t scheduleSeed) {
  std::mt19937_64 random(scheduleSeed);
  WorkgroupModel packed(p.waves, p.ldsBytes, p.granuleLog2);
  reference::VectorClockDetector reference(p.waves);
  struct Cursor {
    size_t phase = 0, op = 0;
    bool waiting = false, ended = false;
  };
  std::vector<Cursor> at(p.waves);
  auto fence = [&](uint32_t w) {
    packed.complete(w);
    reference.complete(w);
  };
  for (;;) {
    std::vector<uint32_t> ready;
    for (uint32_t w = 0; w < p.waves; ++w) {
      bool allArrived = true; // at w's barrier: everybody waits at the same or a later one, or has ended
      for (uint32_t v = 0; v < p.waves; ++v)
        allArrived &= at[v].ended || at[v].phase > at[w].phase || (at[v].phase == at[w].phase && at[v].waiting);
      if (!at[w].ended && (!at[w].waiting || allArrived))
        ready.push_back(w);
    }
    if (ready.empty())
      break;
    uint32_t w = ready[random() % ready.size()];
    Cursor &c = at[w];
    const Phase &phase = p.phases[c.phase];
    if (c.waiting) {
      packed.leave(w);
      reference.leave(w);
      if (phase.fenceAfter[w])
        fence(w);
      c = {c.phase + 1, 0, false, false};
      if (c.phase >= p.endsAfter[w]) {
        packed.end(w);
        reference.end(w);
        c.ended = true;
      }
    } else if (c.op < phase.ops[w].size()) {
      const Op &op = phase.ops[w][c.op++];
      if (op.kind == Op::Fence) {
        fence(w);
      } else {
        AccessId id{w, op.lane, op.site};
        packed.access(id, op.address, op.size, op.write, op.atomic);
        reference.access(id, op.address, op.size, op.write, op.atomic);
      }
    } else {
      if (phase.fenceBefore[w])
        fence(w);
      packed.arrive(w);
      reference.arrive(w);
      c.waiting = true;
    }
  }
  return {packed.racyBytes(), reference.racyBytes(), packed.pairs(), reference.pairs(), packed.Overflow};
}

std::string difference(const std::set<uint32_t> &all, const std::set<uint32_t> &some) {
  std::string text;
  for (uint32_t b : all)
    if (!some.count(b))
      text += " " + std::to_string(b);
  return text;
}

/// Empty if the property holds, else what is wrong.
std::string violation(const Program &p, uint64_t seed) {
  std::set<uint32_t> bytes;
  for (uint64_t schedule = 0; schedule < 2; ++schedule) {
    Result r = run(p, seed * 2 + schedule);
    if (!std::includes(r.referencePairs.begin(), r.referencePairs.end(), r.packedPairs.begin(), r.packedPairs.end()))
      return "the packed detector names a pair that is no race";
    if (!std::includes(r.referenceBytes.begin(), r.referenceBytes.end(), r.packedBytes.begin(), r.packedBytes.end()))
      return "the packed detector names a byte that is not racy";
    if (r.overflow == 0 && r.packedBytes != r.referenceBytes)
      return "the packed detector misses a racy byte and counts no overflow: " + difference(r.referenceBytes, r.packedBytes);
    if (schedule == 1 && bytes != r.referenceBytes)
      return "the reference's verdict depends on the schedule";
    bytes = r.referenceBytes;
  }
  return {};
}

/// A seed near `seed` whose schedules violate the property, or 0: shrinking changes what a schedule seed means.
uint64_t violatingSeed(const Program &p, uint64_t seed) {
  for (uint64_t s = seed; s < seed + 50; ++s)
    if (!violation(p, s).empty())
      return s;
  return 0;
}

Program shrink(Program p, uint64_t seed) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (Phase &phase : p.phases)
      for (auto &ops : phase.ops)
        for (size_t i = 0; i < ops.size();) {
          Op removed = ops[i];
          ops.erase(ops.begin() + i);
          if (violatingSeed(p, seed)) {
            smaller = true;
          } else {
            ops.insert(ops.begin() + i, removed);
            ++i;
          }
        }
  }
  return p;
}

} // namespace

TEST(Property, PackedAndReferenceNameTheSameRacyBytes) {
  const char *count = std::getenv("WAVESAN_PROPERTY_PROGRAMS"), *first = std::getenv("WAVESAN_PROPERTY_SEED");
  const uint64_t programs = count ? strtoull(count, nullptr, 0) : 100000, start = first ? strtoull(first, nullptr, 0) : 1;
  uint64_t racy = 0, overflowed = 0, clean = 0;
  for (uint64_t seed = start; seed < start + programs; ++seed) {
    Program p = generate(seed);
    std::string wrong = violation(p, seed);
    ASSERT_TRUE(wrong.empty()) << wrong << "\nseed " << seed << " (WAVESAN_PROPERTY_SEED), shrunk program:\n"
                               << shrink(p, seed).text();
    Result r = run(p, seed * 2);
    racy += !r.referenceBytes.empty();
    clean += r.referenceBytes.empty();
    overflowed += r.overflow != 0;
  }
  std::printf("seeds %llu..%llu: %llu racy, %llu clean, %llu with counted overflow\n", (unsigned long long)start,
              (unsigned long long)(start + programs - 1), (unsigned long long)racy, (unsigned long long)clean,
              (unsigned long long)overflowed);
  // The generator must reach all three kinds, or the property says little.
  if (programs >= 1000) {
    EXPECT_GT(racy, programs / 20);
    EXPECT_GT(clean, programs / 20);
    EXPECT_GT(overflowed, 0u);
    EXPECT_LT(overflowed, programs / 4);
  }
}

} // namespace wavesan
