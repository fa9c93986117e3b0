// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of one workgroup whose waves synchronise through atomics on LDS, and a naive model of what they
// order: dense clocks, complete histories, explicit lists of release heads. For property tests of whoever checks
// (native hooks, device runtime).
#ifndef WAVESAN_TEST_WORKGROUP_PROGRAMS_H
#define WAVESAN_TEST_WORKGROUP_PROGRAMS_H

#include "wavesan/abi/hooks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace wavesan::test {

struct WorkgroupStep {
  enum Kind { Plain, Atomic, Fence, Wait, Barrier, End } kind;
  uint32_t wave, address, size;
  bool global; ///< of Plain: in global memory, else in LDS
  bool reads, writes, acquire, release;
  bool mayFail, failureRelaxed, wrote; ///< of Atomic: a compare-exchange, and what came of it
  abi::Scope scope;
  uint32_t spaces; ///< of Fence: FenceBits
  uint32_t site;

  uint32_t info() const {
    uint32_t bits = (reads ? abi::kAccessRead : 0u) | (writes ? abi::kAccessWrite : 0u);
    if (kind != Atomic)
      return abi::accessInfo(bits, size);
    return abi::atomicInfo(bits | abi::kAccessAtomic, size, scope, acquire, release) |
           (mayFail ? abi::kAtomicMayFail : 0u) | (acquire && failureRelaxed ? abi::kAtomicFailureRelaxed : 0u);
  }
  /// Of Fence; of Atomic: the fence that its order implies.
  uint32_t fence(bool before) const {
    if (kind == Fence)
      return abi::fenceInfo(spaces | (acquire ? abi::kFenceAcquire : 0u) | (release ? abi::kFenceRelease : 0u), scope);
    return abi::fenceInfo(abi::kFenceLds | abi::kFenceGlobal | abi::kFenceImplied |
                              (before ? abi::kFenceRelease : abi::kFenceAcquire),
                          scope);
  }
  /// Part of it: a granule with a site of its own, since the table of races keeps one place for each pair of sites.
  /// work(address, info, site)
  template <class Work> void granules(uint32_t granuleLog2, Work work) const {
    const uint32_t bytes = 1u << granuleLog2;
    for (uint32_t at = 0; at < size; at += bytes)
      work(address + at, (info() & ~(0x7fffu << 8)) | bytes << 8, site * 8 + at / bytes);
  }
  bool stores() const { return writes && (!mayFail || wrote); }
};

struct WorkgroupProgram {
  uint32_t waves, granuleLog2;
  std::vector<WorkgroupStep> steps;
  static constexpr uint32_t kLdsBytes = 64;
  std::string text() const {
    std::ostringstream o;
    o << waves << " waves, granule " << (1u << granuleLog2) << "\n";
    for (const WorkgroupStep &s : steps) {
      using Step = WorkgroupStep;
      if (s.kind == Step::Barrier) {
        o << (s.release ? "sync\n" : "bare barrier\n");
        continue;
      }
      o << "w" << s.wave << " ";
      if (s.kind == Step::End)
        o << "ends";
      else if (s.kind == Step::Wait)
        o << "wait";
      else if (s.kind == Step::Fence)
        o << "fence" << (s.acquire ? " acquire" : "") << (s.release ? " release" : "") << " scope " << int(s.scope)
          << (s.spaces & abi::kFenceLds ? " lds" : "") << (s.spaces & abi::kFenceGlobal ? " global" : "");
      else
        o << (s.kind == Step::Atomic ? "atomic" : "plain") << (s.global ? " global" : "") << (s.reads ? " read" : "")
          << (s.writes ? " write" : "") << (s.acquire ? " acquire" : "") << (s.release ? " release" : "")
          << (s.mayFail ? s.wrote ? " (exchanged)" : " (failed)" : "") << (s.failureRelaxed ? " failure relaxed" : "")
          << " [" << s.address << "+" << s.size << "]"
          << (s.kind == Step::Atomic ? " scope " + std::to_string(int(s.scope)) : "") << " s" << s.site;
      o << "\n";
    }
    return o.str();
  }
};

struct RacyBytes {
  std::set<uint32_t> lds, global;
  bool operator==(const RacyBytes &) const = default;
  bool empty() const { return lds.empty() && global.empty(); }
};

/// Time is the number of the step; a clock holds, per wave and address space, the time up to which it is known.
class WorkgroupModelOfOrder {
public:
  explicit WorkgroupModelOfOrder(const WorkgroupProgram &p) : W(p.waves) {
    for (Wave &w : W)
      w.clock.assign(2 * W.size(), 0);
    for (const WorkgroupStep &s : p.steps)
      step(s);
  }
  RacyBytes racy;

private:
  using Clock = std::vector<uint64_t>;
  struct Head {
    abi::Scope scope, readScope;
    Clock clock;
  };
  struct Wave {
    Clock clock;
    uint64_t done[2] = {0, 0};
    bool ended = false;
    std::vector<Head> fences;  ///< all release fences so far
    std::vector<Head> pending; ///< heads that relaxed atomics have read so far
  };
  struct Past {
    uint32_t wave;
    uint64_t time;
    bool write, atomic;
  };
  static constexpr uint32_t kBoth = abi::kFenceLds | abi::kFenceGlobal;
  static bool reaches(abi::Scope s) { return s >= abi::Scope::Workgroup; }
  static bool has(uint32_t spaces, size_t entry) {
    return (spaces & (entry % 2 ? abi::kFenceGlobal : abi::kFenceLds)) != 0;
  }
  void join(Clock &a, const Clock &b, uint32_t spaces = kBoth) const {
    for (size_t i = 0; i < a.size(); ++i)
      if (has(spaces, i))
        a[i] = std::max(a[i], b[i]);
  }
  /// What a wave knows and has completed, in these address spaces.
  Clock published(uint32_t n, uint32_t spaces = kBoth) const {
    Clock c = W[n].clock;
    for (uint32_t space = 0; space < 2; ++space)
      c[2 * n + space] = std::max(c[2 * n + space], W[n].done[space]);
    for (size_t i = 0; i < c.size(); ++i)
      if (!has(spaces, i))
        c[i] = 0;
    return c;
  }
  void complete(Wave &w, uint32_t spaces, uint64_t upTo) {
    for (uint32_t space = 0; space < 2; ++space)
      if (has(spaces, space))
        w.done[space] = std::max(w.done[space], upTo);
  }
  void acquireFence(Wave &w, abi::Scope scope, uint32_t spaces) {
    for (const Head &h : w.pending)
      if (reaches(std::min({h.scope, h.readScope, scope})))
        join(w.clock, h.clock, spaces);
  }
  void step(const WorkgroupStep &s) {
    using Step = WorkgroupStep;
    ++Now;
    if (s.kind == Step::Barrier)
      return barrier(s.release);
    Wave &w = W[s.wave];
    if (w.ended)
      return;
    switch (s.kind) {
    case Step::Plain:
      return access(s, false);
    case Step::Wait:
      return complete(w, kBoth, Now);
    case Step::End:
      w.ended = true;
      return complete(w, kBoth, Now);
    case Step::Fence:
      if (!reaches(s.scope))
        return;
      complete(w, s.spaces, Now);
      // What it acquires is part of what it releases.
      if (s.acquire)
        acquireFence(w, s.scope, s.spaces);
      if (s.release)
        w.fences.push_back({s.scope, abi::Scope::System, published(s.wave, s.spaces)});
      return;
    case Step::Atomic: {
      if (s.release && reaches(s.scope))
        complete(w, kBoth, Now - 1); // everything before; not the atomic itself
      access(s, reaches(s.scope));
      std::vector<Head> &heads = Heads[s.address];
      if (s.reads)
        for (Head h : heads) {
          h.readScope = s.scope;
          if (!abi::executedAtomicAcquires(s.info(), s.stores()))
            w.pending.push_back(h);
          else if (reaches(std::min(h.scope, s.scope)))
            join(w.clock, h.clock);
        }
      if (s.stores()) {
        if (!s.reads)
          heads.clear();
        if (s.release)
          heads.push_back({s.scope, abi::Scope::System, published(s.wave)});
        else
          for (const Head &f : w.fences)
            heads.push_back({std::min(s.scope, f.scope), abi::Scope::System, f.clock});
      }
      if (s.acquire && reaches(s.scope))
        complete(w, kBoth, Now);
      return;
    }
    case Step::Barrier:
      return;
    }
  }
  void barrier(bool fenced) {
    Clock all(2 * W.size(), 0);
    for (uint32_t n = 0; n < W.size(); ++n) {
      if (fenced && !W[n].ended) {
        complete(W[n], kBoth, Now);
        W[n].fences.push_back({abi::Scope::Workgroup, abi::Scope::System, published(n)});
      }
      join(all, published(n));
    }
    for (Wave &w : W)
      if (!w.ended) {
        join(w.clock, all);
        if (fenced) {
          acquireFence(w, abi::Scope::Workgroup, kBoth);
          complete(w, kBoth, Now);
        }
      }
  }
  void access(const WorkgroupStep &s, bool atomic) {
    const uint32_t space = s.global ? 1 : 0;
    for (uint32_t b = s.address; b < s.address + s.size; ++b) {
      for (const Past &p : History[space][b])
        if (p.wave != s.wave && (p.write || s.writes) && !(p.atomic && atomic) &&
            p.time > W[s.wave].clock[2 * p.wave + space])
          (s.global ? racy.global : racy.lds).insert(b);
      History[space][b].push_back({s.wave, Now, s.writes, atomic});
    }
  }
  uint64_t Now = 0;
  std::vector<Wave> W;
  std::map<uint32_t, std::vector<Past>> History[2];
  std::map<uint32_t, std::vector<Head>> Heads;
};

struct WorkgroupProgramShape {
  uint32_t mostWaves = 4, mostSteps = 32;
  bool limitedFences = false; ///< some fences order one address space only
  bool global = true;         ///< some plain accesses are to global memory
};

inline WorkgroupProgram generateWorkgroupProgram(uint64_t seed, const WorkgroupProgramShape &shape) {
  using Step = WorkgroupStep;
  std::mt19937_64 random(seed);
  auto below = [&](uint32_t n) { return uint32_t(random() % n); };
  WorkgroupProgram p;
  p.waves = 2 + below(shape.mostWaves - 1);
  p.granuleLog2 = below(3);
  const uint32_t granule = 1u << p.granuleLog2, steps = 4 + below(shape.mostSteps - 3), flags = 1 + below(3);
  const uint32_t data = 4u << below(3); // bytes of LDS that plain accesses touch
  const bool scopes = below(3) == 0, ends = below(6) == 0, waits = below(6) == 0, barriers = below(3) != 0,
             globals = shape.global && below(3) == 0, mixed = below(2);
  for (uint32_t i = 0; i < steps; ++i) {
    Step s{};
    s.site = i;
    s.wave = below(p.waves);
    s.scope = scopes ? abi::Scope(below(6)) : below(2) ? abi::Scope::Workgroup : abi::Scope::Agent;
    s.spaces = abi::kFenceLds | abi::kFenceGlobal;
    const uint32_t kind = below(20);
    if (kind < 8) {
      s.kind = Step::Plain;
      s.global = globals && below(2);
      s.size = std::min(std::max(1u << below(4), granule), data);
      s.address = below(data / s.size) * s.size;
      s.writes = below(2);
      s.reads = !s.writes;
      if (!s.global && mixed && below(3) == 0) { // a flag
        s.address = 32 + 8 * below(flags);
        s.size = 4;
      }
    } else if (kind < 16) {
      s.kind = Step::Atomic;
      s.size = below(4) ? 4 : 8;
      s.address = 32 + 8 * below(flags);
      if (mixed && below(3) == 0) {
        s.size = 4;
        s.address = 4 * below(data / 4);
      }
      const uint32_t what = below(4);
      s.reads = what != 1;
      s.writes = what != 0;
      s.acquire = s.reads && below(3);
      s.release = s.writes && below(3);
      s.mayFail = what == 3;
      s.failureRelaxed = s.mayFail && below(2);
      s.wrote = !s.mayFail || below(2);
    } else if (kind < 18) {
      s.kind = Step::Fence;
      s.acquire = below(2);
      s.release = !s.acquire || below(2);
      if (shape.limitedFences && below(3) == 0)
        s.spaces = below(2) ? abi::kFenceLds : abi::kFenceGlobal;
    } else if (waits && below(2)) {
      s.kind = Step::Wait;
    } else if (ends && below(4) == 0) {
      s.kind = Step::End;
    } else if (barriers) {
      s.kind = Step::Barrier;
      s.release = below(4); // with the fences of __syncthreads()
    } else {
      continue;
    }
    p.steps.push_back(s);
  }
  return p;
}

/// The smallest program that still `fails`, by leaving out steps.
template <class Fails> WorkgroupProgram shrinkWorkgroupProgram(WorkgroupProgram p, Fails fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t i = 0; i < p.steps.size();) {
      WorkgroupProgram q = p;
      q.steps.erase(q.steps.begin() + std::ptrdiff_t(i));
      if (fails(q))
        p = q, smaller = true;
      else
        ++i;
    }
  }
  return p;
}

inline std::string bytesText(const RacyBytes &racy) {
  std::ostringstream o;
  for (uint32_t b : racy.lds)
    o << " " << b;
  for (uint32_t b : racy.global)
    o << " g" << b;
  return o.str();
}

} // namespace wavesan::test

#endif // WAVESAN_TEST_WORKGROUP_PROGRAMS_H
